// The parts of a sweep that are finished, beside the file it will become: FILE.partial, one line of JSON for each. A run that ends early
// leaves it, and the next one of the same settings and build goes on from there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem::cli {

class PartialFile {
 public:
  // header: what makes two runs the same, one line. Errors: a file of another run, a damaged line, parts out of range, a file that
  // cannot be read or written. A last line that was cut off is dropped.
  static Result<PartialFile> open(const std::filesystem::path& path, const std::string& header, std::int64_t parts);

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  const std::vector<std::vector<double>>& values() const { return values_; }  // of each part; empty: not finished
  Status add(std::int64_t part, const std::vector<double>& values);
  void remove();  // the sweep is whole

 private:
  PartialFile(std::filesystem::path path, int descriptor, std::vector<std::vector<double>> values);
  Status write(const std::string& text);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::vector<std::vector<double>> values_;
};

}  // namespace linearmem::cli
