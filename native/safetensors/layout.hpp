// Where the tensors of a file to be written go: what stands in front of them, and each one's bytes after that.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "safetensors_file.hpp"

namespace linearmem {

struct TensorPlace {
  std::string name;
  std::uint64_t begin, end;  // bytes, from the end of the head
};

struct SafetensorsLayout {
  std::string head;                 // the length and the header
  std::vector<TensorPlace> places;  // widest elements first, then by name
};

Result<SafetensorsLayout> safetensors_layout(const std::filesystem::path& file, const std::map<std::string, TensorShape>& tensors);

}  // namespace linearmem
