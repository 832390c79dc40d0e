#include "backend.hpp"

#include <charconv>
#include <string_view>

#include "linearmem/cuda.hpp"

namespace linearmem::cli {

Result<std::optional<int>> cuda_device_of(const std::string& backend) {
  if (backend == kProcessor) return std::optional<int>();
  if (backend == "cuda") return std::optional<int>(0);
  constexpr std::string_view kNumbered = "cuda:";
  int device = 0;
  if (backend.starts_with(kNumbered)) {
    const char* end = backend.data() + backend.size();
    const auto read = std::from_chars(backend.data() + kNumbered.size(), end, device);
    if (read.ec == std::errc() && read.ptr == end && device >= 0) return std::optional<int>(device);
  }
  return Status::invalid("--backend is \"" + backend + "\", must be processor, cuda or cuda:N, N from 0");
}

Result<std::unique_ptr<Backend>> backend_of(const std::string& backend, const std::string& precision, Form form) {
  if (precision == "f32") return backend_of(backend);
  if (precision != "bf16") return Status::invalid("--precision is \"" + precision + "\", must be f32 or bf16");
  const auto device = cuda_device_of(backend);
  if (!device.ok()) return device.status();
  if (!device.value() || form != Form::chunked)
    return Status::invalid("--precision bf16 is of --form chunked on --backend cuda; --form is " + std::string(form_name(form)) + ", --backend is " +
                           backend);
  return cuda_backend(*device.value(), MatrixPrecision::bfloat16);
}

Result<std::unique_ptr<Backend>> backend_of(const std::string& backend) {
  const auto device = cuda_device_of(backend);
  if (!device.ok()) return device.status();
  return device.value() ? cuda_backend(*device.value()) : std::unique_ptr<Backend>();
}

}  // namespace linearmem::cli
