// The first CUDA device of this machine.
#include "cuda/backends.hpp"

#include <gtest/gtest.h>

#include "linearmem/cuda.hpp"

namespace linearmem::test {

const std::vector<NamedBackend>& backends() {
  static const auto opened = cuda_backend();
  if (!opened.ok()) ADD_FAILURE() << opened.status().message();
  static const std::vector<NamedBackend> all = opened.ok() ? std::vector<NamedBackend>{{"device", opened.value().get()}} : std::vector<NamedBackend>{};
  return all;
}

}  // namespace linearmem::test
