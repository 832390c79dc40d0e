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

// Those of MatrixPrecision::bfloat16; none on a device without tensor cores for it.
const std::vector<NamedBackend>& bfloat_backends();

}  // namespace linearmem::test
