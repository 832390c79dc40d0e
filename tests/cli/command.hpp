// Starts the command line as a user would, and gives tests a folder of their own.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace linearmem::test {

// A new empty folder, gone with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::vector<std::string> files() const;  // names, sorted, hidden ones too

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, const std::string& content);

struct Outcome {
  int code = -1;  // -1 when the program died of a signal
  std::string out, err;
};

// before_exec runs in the child: to limit or change what the program finds.
Outcome linearmem(const std::vector<std::string>& words, const std::function<void()>& before_exec = {});

// Refused the way every refusal looks: code 2, nothing on standard output, one line "linearmem: ..." on standard error.
// Returns that line without the prefix and the newline; records a test failure otherwise.
std::string refused(const std::vector<std::string>& words, const std::function<void()>& before_exec = {});

}  // namespace linearmem::test
