#include "text_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace linearmem::cli {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Status too_long(const std::string& file, const std::string& bytes, std::uint64_t most) {
  return Status::invalid(file + ": it has " + bytes + " bytes, at most " + std::to_string(most) + " are read");
}

}  // namespace

Result<std::string> read_text_file(const std::string& file, std::uint64_t most) {
  const auto unreadable = [&] { return Status::invalid(file + ": cannot read: " + std::strerror(errno)); };
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.c_str(), "rb"));
  if (!stream) return unreadable();
  struct stat found {};
  if (::fstat(fileno(stream.get()), &found) != 0) return unreadable();
  if (S_ISREG(found.st_mode) && static_cast<std::uint64_t>(found.st_size) > most) return too_long(file, std::to_string(found.st_size), most);
  std::string text;
  char block[1 << 14];
  for (std::size_t count = sizeof block; count == sizeof block && text.size() <= most;) {
    count = std::fread(block, 1, sizeof block, stream.get());
    text.append(block, count);
  }
  if (std::ferror(stream.get())) return unreadable();  // a folder, too
  if (text.size() > most) return too_long(file, "more", most);
  return text;
}

}  // namespace linearmem::cli
