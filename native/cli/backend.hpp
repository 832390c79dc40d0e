// --backend: where run, sweep and bench compute.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "linearmem/backend.hpp"
#include "linearmem/status.hpp"

namespace linearmem::cli {

inline constexpr const char* kProcessor = "processor";

inline void add_backend(CLI::App& app, std::string& backend) {
  app.add_option("--backend", backend, "Where to compute: processor, cuda (an NVIDIA GPU, in f32), or cuda:N for device N")->capture_default_str();
}

// The number of the CUDA device that is meant; none: this processor. Errors: another word.
Result<std::optional<int>> cuda_device_of(const std::string& backend);

// The backend itself; null: this processor. Errors: another word, a backend that is not there, with the reason.
Result<std::unique_ptr<Backend>> backend_of(const std::string& backend);

}  // namespace linearmem::cli
