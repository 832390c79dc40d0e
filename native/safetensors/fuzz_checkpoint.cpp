// A libFuzzer entry: whatever the bytes, the index of a checkpoint is refused at an offset within it, or every file it names lies beside it.
//   CXX=clang++ cmake -S . -B build/fuzz -G Ninja -DLINEARMEM_FUZZ=ON && cmake --build build/fuzz --target linearmem_checkpoint_fuzz
//   mkdir -p build/indexes && echo '{"metadata": {"total_size": 8}, "weight_map": {"a.b": "model-1.safetensors"}}' > build/indexes/one
//   build/fuzz/native/safetensors/linearmem_checkpoint_fuzz -max_total_time=60 -max_len=400 build/indexes
#include <cstdint>
#include <cstdlib>
#include <string>

#include "checkpoint.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto files = linearmem::parse_checkpoint_index({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!files.ok()) {
    const std::string start = "fuzz: offset ", message = files.status().message();
    if (message.rfind(start, 0) != 0 || std::stoull(message.substr(start.size())) > size) std::abort();
    return 0;
  }
  for (const auto& [tensor, file] : files.value())
    if (file.empty() || file == ".." || file.find('/') != std::string::npos) std::abort();
  return 0;
}
