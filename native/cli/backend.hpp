// --backend: where run, sweep and bench compute.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "linearmem/backend.hpp"
#include "linearmem/form.hpp"
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

// --precision: what matrices are rounded to. bf16 is asked for together with what it changes: the chunked form on a CUDA device.
inline void add_precision(CLI::App& app, std::string& precision) {
  app.add_option("--precision", precision, "f32, or bf16 for --form chunked on --backend cuda: matrices rounded to bfloat16, sums in float32")
      ->capture_default_str();
}

// Errors: those of backend_of; another word, bf16 with another form or on this processor.
Result<std::unique_ptr<Backend>> backend_of(const std::string& backend, const std::string& precision, Form form);

}  // namespace linearmem::cli
