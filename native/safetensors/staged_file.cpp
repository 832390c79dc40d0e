#include "staged_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace linearmem {
namespace {

Status system_failure(const std::filesystem::path& path, const char* action) {
  return Status::invalid(path.string() + ": cannot " + action + ": " + std::strerror(errno));
}

// Follows links, so that renaming replaces the file they lead to and not the link.
Result<std::filesystem::path> resolve_target(const std::filesystem::path& target) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(target, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(target, error)))
      return Status::invalid(target.string() + ": is a link that leads nowhere");
    return target;
  }
  if (error) return Status::invalid(target.string() + ": cannot look at it: " + error.message());
  if (status.type() != std::filesystem::file_type::regular) return Status::invalid(target.string() + ": exists and is not a regular file");
  std::filesystem::path resolved = std::filesystem::canonical(target, error);
  if (error) return Status::invalid(target.string() + ": cannot resolve it: " + error.message());
  return resolved;
}

std::filesystem::path folder_of(const std::filesystem::path& file) { return file.has_parent_path() ? file.parent_path() : "."; }

}  // namespace

StagedFile::StagedFile(std::filesystem::path target, std::filesystem::path temporary, int descriptor)
    : target_(std::move(target)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : target_(std::move(other.target_)), temporary_(std::move(other.temporary_)), descriptor_(std::exchange(other.descriptor_, -1)) {
  other.temporary_.clear();
}

StagedFile::~StagedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<StagedFile> StagedFile::create(const std::filesystem::path& target) {
  auto resolved = resolve_target(target);
  if (!resolved.ok()) return resolved.status();
  if (!resolved.value().has_filename()) return Status::invalid(target.string() + ": names a folder, not a file");
  for (int attempt = 0;; ++attempt) {
    const std::string name =
        "." + resolved.value().filename().string() + "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".part";
    const std::filesystem::path temporary = folder_of(resolved.value()) / name;
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return StagedFile(resolved.value(), temporary, descriptor);
    if (errno != EEXIST) return system_failure(target, "create it");
  }
}

Status StagedFile::failure(const char* action) const { return system_failure(target_, action); }

Status StagedFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure("write it");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Status StagedFile::append(std::string_view text) { return append(std::as_bytes(std::span(text.data(), text.size()))); }

Status StagedFile::resize(std::uint64_t size) {
  return ::ftruncate(descriptor_, static_cast<off_t>(size)) == 0 ? Status() : failure("make room in it");
}

Status StagedFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure("write it");
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Status StagedFile::sync() {
  if (descriptor_ < 0) return {};
  if (::fsync(descriptor_) != 0) return failure("sync it");
  if (::close(std::exchange(descriptor_, -1)) != 0) return failure("close it");
  return {};
}

Status StagedFile::commit() {
  if (Status status = sync(); !status.ok()) return status;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return failure("rename the finished file onto it");
  temporary_.clear();
  // The rename itself becomes durable with the folder; a file system that cannot sync folders has done what it can.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return {};
}

Status commit_all(std::vector<StagedFile>& files) {
  for (StagedFile& file : files)
    if (Status status = file.sync(); !status.ok()) return status;
  for (StagedFile& file : files)
    if (Status status = file.commit(); !status.ok()) return status;
  return {};
}

}  // namespace linearmem
