// A place that a safetensors file is read from: its size, and size bytes at an offset that lies within it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "header.hpp"

namespace linearmem {

struct Source {
  std::string name;
  std::uint64_t size = 0;
  std::function<bool(std::uint64_t offset, char* to, std::uint64_t size)> read;
};

Status unreadable(const std::string& file, std::uint64_t offset);

Result<SafetensorsHeader> read_header(const Source& source, ForeignTensors foreign = ForeignTensors::refused);

}  // namespace linearmem
