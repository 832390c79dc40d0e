// The first CUDA device of this machine.
#include "cuda/backends.hpp"

#include <gtest/gtest.h>

#include "linearmem/cuda.hpp"

namespace linearmem::test {

const std::vector<NamedBackend>& backends() {
  static const auto opened = cuda_backend();
  if (!opened.ok()) ADD_FAILURE() << opened.status().message();
  static const std::vector<NamedBackend> none, one = {{"device", opened.ok() ? opened.value().get() : nullptr}};
  return opened.ok() ? one : none;
}

}  // namespace linearmem::test
