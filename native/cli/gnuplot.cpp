#include "gnuplot.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace linearmem::cli {
namespace {

struct Ended {
  int code = -1;  // -1: ended by a signal
  std::string said;
};

// A scratch file without a name: the script goes in by one and gnuplot's words come out by another, so no pipe can fill up.
class Scratch {
 public:
  Scratch() {
    std::error_code ignored;
    std::string name = (std::filesystem::temp_directory_path(ignored) / "linearmem-XXXXXX").string();
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ >= 0) ::unlink(name.c_str());
  }
  ~Scratch() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  int descriptor() const { return descriptor_; }

  bool write(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
      if (count < 0) return false;
      done += static_cast<std::size_t>(count);
    }
    return ::lseek(descriptor_, 0, SEEK_SET) == 0;
  }
  std::string read() {
    std::string text(4096, '\0');
    const ssize_t count = ::pread(descriptor_, text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

 private:
  int descriptor_ = -1;
};

Result<Ended> run(const char* argument, const std::string& input) {
  Scratch in, out;
  if (in.descriptor() < 0 || out.descriptor() < 0 || !in.write(input))
    return Status::unavailable("cannot write a temporary file for gnuplot");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDERR_FILENO);
  std::string name = "gnuplot", word = argument;
  char* words[] = {name.data(), word.data(), nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, "gnuplot", &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return Status::unavailable(std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return Status::unavailable(std::strerror(errno));
  return Ended{WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.read()};
}

}  // namespace

Status find_gnuplot(const char* otherwise) {
  const auto ended = run("--version", "");
  if (ended.ok() && ended.value().code == 0) return {};
  const std::string why = ended.ok() ? "it ends with code " + std::to_string(ended.value().code) : ended.status().message();
  return Status::unavailable("gnuplot is needed for the figure and cannot be started (" + why +
                             "); install gnuplot-nox, or " + otherwise);
}

Status run_gnuplot(const std::string& script) {
  const auto ended = run("-", script);
  if (!ended.ok()) return Status::unavailable("gnuplot: " + ended.status().message());
  if (ended.value().code != 0)
    return Status::unavailable("gnuplot ended with code " + std::to_string(ended.value().code) + ": " + ended.value().said);
  return {};
}

}  // namespace linearmem::cli
