// What searches read: ids, tokens and keys of a store side by side, as one file mapped into memory. Derived from the truth and disposable:
// whoever finds it missing, stale or damaged makes it anew.
//
//   header, 4096 bytes: what it holds and of which generation, and its own checksum
//   one checksum for every 64 KiB of what follows, padded to 4096 bytes
//   ids [M] int64, tokens [M] int64, keys [M,D] float32, each padded to 4096 bytes
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "linearmem/status.hpp"
#include "truth.hpp"

namespace linearmem::store {

// Records of one generation.
struct ScanContent {
  State state;
  std::uint32_t salt = 0;  // of the store's identity
  std::int64_t dimension = 0;
  std::vector<std::int64_t> ids, tokens;
  std::vector<float> keys;
};

// Reads all records, each checked, and holds their sum against the state; within a transaction of the caller's.
Result<ScanContent> read_content(Truth& truth, const State& state);

class ScanFile {
 public:
  // Every byte is checked. Errors: none there, another store's, another format, damage.
  static Result<std::shared_ptr<const ScanFile>> open(const std::filesystem::path& file, std::uint32_t salt, std::int64_t dimension);
  static Status write(const std::filesystem::path& file, const ScanContent& content);

  ~ScanFile();
  ScanFile(const ScanFile&) = delete;
  ScanFile& operator=(const ScanFile&) = delete;

  const State& state() const { return state_; }  // of the truth when it was read
  std::span<const std::int64_t> ids() const { return ids_; }
  std::span<const std::int64_t> tokens() const { return tokens_; }
  std::span<const float> keys() const { return keys_; }

 private:
  ScanFile(void* memory, std::size_t size) : memory_(memory), size_(size) {}
  Status check(const std::filesystem::path& file, std::uint32_t salt, std::int64_t dimension);

  void* memory_;
  std::size_t size_;
  State state_;
  std::span<const std::int64_t> ids_, tokens_;
  std::span<const float> keys_;
};

}  // namespace linearmem::store
