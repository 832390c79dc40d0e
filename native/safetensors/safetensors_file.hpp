// A safetensors file a part at a time: a reader that fetches the bytes asked for, a writer whose header stands first and whose tensors
// are then filled in any order. For tensors larger than memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "header.hpp"
#include "linearmem/named_tensors.hpp"
#include "linearmem/status.hpp"
#include "staged_file.hpp"

namespace linearmem {

class SafetensorsFile {
 public:
  // Reads and checks the header. Errors: those of read_safetensors.
  static Result<SafetensorsFile> open(const std::filesystem::path& file, ForeignTensors foreign = ForeignTensors::refused);

  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) = delete;
  ~SafetensorsFile();

  const std::vector<HeaderEntry>& entries() const { return header_.entries; }
  const HeaderEntry* find(const std::string& name) const;  // null where there is none

  // Fills `to` with the tensor's bytes from its byte `from` on; they lie within it.
  Status read(const HeaderEntry& entry, std::uint64_t from, std::span<std::byte> to) const;
  Result<NamedTensor> read(const HeaderEntry& entry) const;  // errors: a foreign dtype, too

 private:
  SafetensorsFile(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}
  bool read_at(std::uint64_t offset, char* to, std::uint64_t size) const;

  std::string name_;
  int descriptor_;
  SafetensorsHeader header_;
};

struct TensorShape {
  DType dtype = DType::f64;
  std::vector<std::int64_t> shape;
};

class SafetensorsOutput {
 public:
  // Writes the header and takes the room of the tensors; nothing is at `file` before commit(). Errors: those of write_safetensors.
  static Result<SafetensorsOutput> create(const std::filesystem::path& file, const std::map<std::string, TensorShape>& tensors);

  // Puts bytes at byte `at` of the tensor `name`, which was declared; they lie within it.
  Status write(const std::string& name, std::uint64_t at, std::span<const std::byte> bytes);
  Status commit() { return staged_.commit(); }

 private:
  explicit SafetensorsOutput(StagedFile staged) : staged_(std::move(staged)) {}

  StagedFile staged_;
  std::map<std::string, std::uint64_t> offsets_;  // in the file
};

}  // namespace linearmem
