// The first CUDA device of this machine.
#include "cuda/backends.hpp"

#include <gtest/gtest.h>

#include "cuda/chunked_cases.hpp"
#include "linearmem/cuda.hpp"

namespace linearmem::test {
namespace {

// Whether one call is taken; any other refusal than that of an old device is left to the tests.
bool has_tensor_cores(const Backend& backend) {
  DeltaCall call({1, 1, 1, 1, 1}, 1);
  const Status status = delta_rule(call.arguments(&backend));
  return status.ok() || status.message().find("needs tensor cores for bf16") == std::string::npos;
}

}  // namespace

const std::vector<NamedBackend>& backends() {
  static const auto opened = cuda_backend();
  if (!opened.ok()) ADD_FAILURE() << opened.status().message();
  static const std::vector<NamedBackend> none, one = {{"device", opened.ok() ? opened.value().get() : nullptr}};
  return opened.ok() ? one : none;
}

const std::vector<NamedBackend>& bfloat_backends() {
  static const auto opened = cuda_backend(0, MatrixPrecision::bfloat16);
  if (!opened.ok()) ADD_FAILURE() << opened.status().message();
  static const std::vector<NamedBackend> none, one = {{"device", opened.ok() ? opened.value().get() : nullptr}};
  static const bool able = opened.ok() && has_tensor_cores(*opened.value());
  return able ? one : none;
}

}  // namespace linearmem::test
