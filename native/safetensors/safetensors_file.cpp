#include "safetensors_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "layout.hpp"
#include "source.hpp"

namespace linearmem {

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)), header_(std::move(other.header_)) {}

SafetensorsFile::~SafetensorsFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& file, ForeignTensors foreign) {
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  if (kind == std::filesystem::file_type::not_found) return Status::invalid(file.string() + ": no such file");
  if (kind != std::filesystem::file_type::regular) return Status::invalid(file.string() + ": is not a regular file");
  SafetensorsFile opened(file.string(), ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (opened.descriptor_ < 0 || ::fstat(opened.descriptor_, &about) != 0)
    return Status::invalid(file.string() + ": cannot be opened: " + std::strerror(errno));
  auto header = read_header({opened.name_, static_cast<std::uint64_t>(about.st_size),
                             [&opened](std::uint64_t offset, char* to, std::uint64_t size) { return opened.read_at(offset, to, size); }},
                            foreign);
  if (!header.ok()) return header.status();
  opened.header_ = std::move(header).value();
  return opened;
}

const HeaderEntry* SafetensorsFile::find(const std::string& name) const {
  for (const HeaderEntry& entry : header_.entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

bool SafetensorsFile::read_at(std::uint64_t offset, char* to, std::uint64_t size) const {
  while (size > 0) {
    const ssize_t got = ::pread(descriptor_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += static_cast<std::uint64_t>(got);
    to += got;
    size -= static_cast<std::uint64_t>(got);
  }
  return true;
}

Status SafetensorsFile::read(const HeaderEntry& entry, std::uint64_t from, std::span<std::byte> to) const {
  const std::uint64_t at = header_.data_at + entry.begin + from;
  return read_at(at, reinterpret_cast<char*>(to.data()), to.size()) ? Status() : unreadable(name_, at);
}

Result<NamedTensor> SafetensorsFile::read(const HeaderEntry& entry) const {
  if (Status status = check_dtype(entry, name_); !status.ok()) return status;
  NamedTensor tensor{.dtype = entry.dtype, .shape = entry.shape, .bytes = std::vector<std::byte>(entry.end - entry.begin)};
  if (Status status = read(entry, 0, tensor.bytes); !status.ok()) return status;
  return tensor;
}

Result<SafetensorsOutput> SafetensorsOutput::create(const std::filesystem::path& file, const std::map<std::string, TensorShape>& tensors) {
  const auto layout = safetensors_layout(file, tensors);
  if (!layout.ok()) return layout.status();
  auto staged = StagedFile::create(file);
  if (!staged.ok()) return staged.status();
  SafetensorsOutput output(std::move(staged).value());
  const std::string& head = layout.value().head;
  if (Status status = output.staged_.append(head); !status.ok()) return status;
  std::uint64_t end = head.size();
  for (const TensorPlace& place : layout.value().places) {
    output.offsets_[place.name] = head.size() + place.begin;
    end = head.size() + place.end;
  }
  if (Status status = output.staged_.resize(end); !status.ok()) return status;
  return output;
}

Status SafetensorsOutput::write(const std::string& name, std::uint64_t at, std::span<const std::byte> bytes) {
  return staged_.write_at(offsets_.at(name) + at, bytes);
}

}  // namespace linearmem
