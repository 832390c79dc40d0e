#include "cli/command.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace linearmem::test {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "linearmem-test-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

std::vector<std::string> Folder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

void write_file(const std::filesystem::path& file, const std::string& content) {
  std::ofstream stream(file, std::ios::binary);
  if (!stream.write(content.data(), static_cast<std::streamsize>(content.size())))
    throw std::runtime_error("cannot write " + file.string());
}

Outcome linearmem(const std::vector<std::string>& words, const std::function<void()>& before_exec) {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err";
  std::vector<char*> pointers = {const_cast<char*>(LINEARMEM_COMMAND)};
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    if (before_exec) before_exec();
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) throw std::runtime_error("cannot start " LINEARMEM_COMMAND);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

std::string refused(const std::vector<std::string>& words, const std::function<void()>& before_exec) {
  const std::string prefix = "linearmem: ";
  const Outcome outcome = linearmem(words, before_exec);
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.substr(0, prefix.size()), prefix);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  if (outcome.err.size() <= prefix.size()) return outcome.err;
  return outcome.err.substr(prefix.size(), outcome.err.size() - prefix.size() - 1);
}

}  // namespace linearmem::test
