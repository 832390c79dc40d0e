#include "runtime/cublas.hpp"

#include <dlfcn.h>
#include <library_types.h>

#include <string>

namespace linearmem::cuda {
namespace {

constexpr const char* kNames[] = {"libcublas.so.13", "libcublas.so.12"};

// What cublas_api.h declares, as far as it is used here; it is no part of the toolkit's runtime.
using CublasStatus = int;  // 0: success
constexpr int kNoTranspose = 0, kCompute32F = 68, kCompute32FPedantic = 69, kDefaultAlgorithm = -1;
using Create = CublasStatus (*)(void** handle);
using Destroy = CublasStatus (*)(void* handle);
using SetStream = CublasStatus (*)(void* handle, cudaStream_t stream);
using GemmEx = CublasStatus (*)(void* handle, int transa, int transb, int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                int lda, const void* B, cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                                int compute, int algorithm);

Status failed(const std::string& what, CublasStatus status) {
  return Status::unavailable("backend cuda: " + what + " failed with status " + std::to_string(status));
}

template <typename Function>
Function function_of(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

Result<std::unique_ptr<Cublas>> Cublas::load(cudaStream_t stream) {
  std::unique_ptr<Cublas> cublas(new Cublas);
  std::string tried;
  for (const char* name : kNames) {
    // It stays in the process: its kernels are the context's, which outlives this object.
    if (!cublas->library_) cublas->library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    tried += (tried.empty() ? "" : " nor ") + std::string(name);
  }
  if (!cublas->library_) return Status::unavailable("backend cuda: neither " + tried + " can be loaded");
  const auto create = function_of<Create>(cublas->library_, "cublasCreate_v2");
  const auto set_stream = function_of<SetStream>(cublas->library_, "cublasSetStream_v2");
  if (!create || !set_stream || !::dlsym(cublas->library_, "cublasGemmEx") || !::dlsym(cublas->library_, "cublasDestroy_v2"))
    return Status::unavailable("backend cuda: the libcublas that was loaded lacks cublasCreate_v2, cublasSetStream_v2, cublasGemmEx or cublasDestroy_v2");
  if (const CublasStatus status = create(&cublas->handle_); status != 0) return failed("cublasCreate", status);
  if (const CublasStatus status = set_stream(cublas->handle_, stream); status != 0) return failed("cublasSetStream", status);
  return cublas;
}

Cublas::~Cublas() {
  if (handle_) function_of<Destroy>(library_, "cublasDestroy_v2")(handle_);
  if (library_) ::dlclose(library_);
}

Status Cublas::multiply(const MatrixProduct& product) const {
  const bool wide = product.type == MatrixType::float32;
  const cudaDataType type = wide ? CUDA_R_32F : CUDA_R_16BF;
  const int n = static_cast<int>(product.n);
  const float one = 1, zero = 0;
  // Pedantic: float32 as such, no TF32.
  const CublasStatus status =
      function_of<GemmEx>(library_, "cublasGemmEx")(handle_, kNoTranspose, kNoTranspose, n, n, n, &one, product.a, type, n, product.b, type, n, &zero,
                                                    product.c, CUDA_R_32F, n, wide ? kCompute32FPedantic : kCompute32F, kDefaultAlgorithm);
  return status == 0 ? Status() : failed(std::string("cublasGemmEx in ") + (wide ? "float32" : "bfloat16"), status);
}

}  // namespace linearmem::cuda
