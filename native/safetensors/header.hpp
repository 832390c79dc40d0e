// The header of a safetensors file, read and checked; and written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/named_tensors.hpp"
#include "linearmem/status.hpp"

namespace linearmem {

struct HeaderEntry {
  std::string name;
  DType dtype = DType::f64;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes, from the end of the header
  std::uint64_t at = 0;              // offset of this entry in the file, for errors
  std::string foreign = {};          // a dtype of the format that tensors here cannot have, such as "F8_E4M3"; empty: dtype is its own
  std::int64_t bytes = 8;            // of one element
};

// A model's checkpoint may hold tensors in dtypes that nothing here computes with, beside those that are asked for.
enum class ForeignTensors { refused, kept };

struct SafetensorsHeader {
  std::vector<HeaderEntry> entries;  // ascending begin
  std::uint64_t data_at = 0;         // offset in the file where the tensors' bytes start
};

// "FILE: offset 17: reason"
Status safetensors_error(const std::string& file, std::uint64_t offset, const std::string& reason);

// Text from a file as it may be shown on a terminal: quoted, control characters escaped, cut to `most` bytes.
std::string shown(const std::string& text, std::size_t most = 80);

// text: the JSON that follows the first 8 bytes; file_size: of the whole file. The entries that come back have known
// dtypes, or foreign ones where those are kept, addressable sizes and fill the file's data exactly: no overlap, no hole, no trailing byte.
Result<SafetensorsHeader> parse_header(std::string_view text, std::uint64_t file_size, const std::string& file,
                                       ForeignTensors foreign = ForeignTensors::refused);

// Refuses an entry in a foreign dtype.
Status check_dtype(const HeaderEntry& entry, const std::string& file);

}  // namespace linearmem
