// A file that appears whole or not at all: written beside its target under a temporary name, synced, then renamed.
// POSIX. A process that is killed in between leaves at most the temporary file, never a partial target.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

class StagedFile {
 public:
  // Errors: the folder is missing or not writable; target exists and is not a regular file.
  static Result<StagedFile> create(const std::filesystem::path& target);

  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile();  // removes the temporary file when it was not committed

  // Where another program may write the content instead of append().
  const std::filesystem::path& temporary() const { return temporary_; }

  Status append(std::span<const std::byte> bytes);
  Status append(std::string_view text);
  Status resize(std::uint64_t size);  // zeros where nothing was written yet
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  Status sync();    // content on disk; nothing may be appended afterwards
  Status commit();  // sync, then rename onto the target

 private:
  StagedFile(std::filesystem::path target, std::filesystem::path temporary, int descriptor);
  Status failure(const char* action) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

// Syncs every file before it renames the first, so that a full disk leaves all targets as they were.
Status commit_all(std::vector<StagedFile>& files);

}  // namespace linearmem
