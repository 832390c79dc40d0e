// A libFuzzer entry: whatever the bytes, the reader refuses them or hands over tensors whose bytes fit their shapes and
// together are the file's data.
//   CXX=clang++ cmake -S . -B build/fuzz -G Ninja -DLINEARMEM_FUZZ=ON && cmake --build build/fuzz --target linearmem_safetensors_fuzz
//   mkdir -p build/corpus && cp tests/data/conformance/*.safetensors build/corpus
//   build/fuzz/native/safetensors/linearmem_safetensors_fuzz -max_total_time=60 build/corpus
#include <cstdint>
#include <cstdlib>

#include "safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto tensors = linearmem::parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz");
  if (!tensors.ok()) {
    if (tensors.status().message().rfind("fuzz: offset ", 0) != 0) std::abort();
    return 0;
  }
  std::size_t total = 0;
  for (const auto& [name, tensor] : tensors.value()) {
    const auto wanted = static_cast<std::size_t>(tensor.size() * linearmem::dtype_bytes(tensor.dtype));
    if (name == "__metadata__" || tensor.bytes.size() != wanted) std::abort();
    total += wanted;
  }
  if (total > size) std::abort();
  return 0;
}
