#include <cstring>

#include "safetensors.hpp"
#include "safetensors_file.hpp"
#include "source.hpp"

namespace linearmem {

Status unreadable(const std::string& file, std::uint64_t offset) {
  return safetensors_error(file, offset, "cannot be read; did it change meanwhile?");
}

Result<SafetensorsHeader> read_header(const Source& source, ForeignTensors foreign) {
  if (source.size < 8)
    return safetensors_error(source.name, source.size,
                             "truncated: a file starts with 8 bytes of header length, this one has " + std::to_string(source.size));
  unsigned char prefix[8];
  if (!source.read(0, reinterpret_cast<char*>(prefix), 8)) return unreadable(source.name, 0);
  std::uint64_t length = 0;
  for (int byte = 7; byte >= 0; --byte) length = length << 8 | prefix[byte];
  if (length > kLongestSafetensorsHeader)
    return safetensors_error(
        source.name, 0, "header length " + std::to_string(length) + " is above the limit of " + std::to_string(kLongestSafetensorsHeader));
  if (length > source.size - 8)
    return safetensors_error(
        source.name, 0,
        "truncated: header length " + std::to_string(length) + ", but only " + std::to_string(source.size - 8) + " bytes follow");
  std::string text(length, '\0');
  if (!source.read(8, text.data(), length)) return unreadable(source.name, 8);
  return parse_header(text, source.size, source.name, foreign);
}

Result<NamedTensors> read_safetensors(const std::filesystem::path& file) {
  const auto opened = SafetensorsFile::open(file);
  if (!opened.ok()) return opened.status();
  NamedTensors tensors;
  for (const HeaderEntry& entry : opened.value().entries()) {
    auto tensor = opened.value().read(entry);
    if (!tensor.ok()) return tensor.status();
    tensors.emplace(entry.name, std::move(tensor).value());
  }
  return tensors;
}

Result<NamedTensors> parse_safetensors(std::span<const std::byte> bytes, const std::string& file) {
  const auto header = read_header({file, bytes.size(), [bytes](std::uint64_t offset, char* to, std::uint64_t count) {
                                     if (count > 0) std::memcpy(to, bytes.data() + offset, count);
                                     return true;
                                   }});
  if (!header.ok()) return header.status();
  NamedTensors tensors;
  for (const HeaderEntry& entry : header.value().entries) {
    const auto part = bytes.subspan(header.value().data_at + entry.begin, entry.end - entry.begin);
    tensors.emplace(entry.name, NamedTensor{.dtype = entry.dtype, .shape = entry.shape, .bytes = {part.begin(), part.end()}});
  }
  return tensors;
}

}  // namespace linearmem
