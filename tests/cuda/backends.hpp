// The backends that a suite runs on: the emulator in every order of threads and blocks.
#pragma once

#include <memory>
#include <vector>

#include "cuda/emulator.hpp"
#include "host/device_backend.hpp"

namespace linearmem::test {

struct NamedBackend {
  const char* name;
  const Backend* backend;
};

const std::vector<NamedBackend>& backends();

}  // namespace linearmem::test
