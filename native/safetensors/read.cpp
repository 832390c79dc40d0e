#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "header.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

// A place to read from: its size, and size bytes at an offset that lies within it.
struct Source {
  std::string name;
  std::uint64_t size = 0;
  std::function<bool(std::uint64_t offset, char* to, std::uint64_t size)> read;
};

Result<NamedTensors> read_tensors(const Source& source) {
  if (source.size < 8)
    return safetensors_error(source.name, source.size,
                             "truncated: a file starts with 8 bytes of header length, this one has " + std::to_string(source.size));
  unsigned char prefix[8];
  const auto unreadable = [&](std::uint64_t offset) {
    return safetensors_error(source.name, offset, "cannot be read; did it change meanwhile?");
  };
  if (!source.read(0, reinterpret_cast<char*>(prefix), 8)) return unreadable(0);
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
  if (!source.read(8, text.data(), length)) return unreadable(8);
  const auto header = parse_header(text, source.size, source.name);
  if (!header.ok()) return header.status();

  NamedTensors tensors;
  for (const HeaderEntry& entry : header.value().entries) {
    NamedTensor tensor{.dtype = entry.dtype, .shape = entry.shape, .bytes = std::vector<std::byte>(entry.end - entry.begin)};
    const std::uint64_t at = header.value().data_at + entry.begin;
    if (!source.read(at, reinterpret_cast<char*>(tensor.bytes.data()), tensor.bytes.size())) return unreadable(at);
    tensors.emplace(entry.name, std::move(tensor));
  }
  return tensors;
}

}  // namespace

Result<NamedTensors> read_safetensors(const std::filesystem::path& file) {
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  if (kind == std::filesystem::file_type::not_found) return Status::invalid(file.string() + ": no such file");
  if (kind != std::filesystem::file_type::regular) return Status::invalid(file.string() + ": is not a regular file");
  const std::uint64_t size = std::filesystem::file_size(file, error);
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (error || !stream) return Status::invalid(file.string() + ": cannot be opened: " + (error ? error.message() : std::strerror(errno)));
  return read_tensors({file.string(), size, [&stream](std::uint64_t offset, char* to, std::uint64_t count) {
                         stream.seekg(static_cast<std::streamoff>(offset));
                         return count == 0 || static_cast<bool>(stream.read(to, static_cast<std::streamsize>(count)));
                       }});
}

Result<NamedTensors> parse_safetensors(std::span<const std::byte> bytes, const std::string& file) {
  return read_tensors({file, bytes.size(), [bytes](std::uint64_t offset, char* to, std::uint64_t count) {
                         if (count > 0) std::memcpy(to, bytes.data() + offset, count);
                         return true;
                       }});
}

}  // namespace linearmem
