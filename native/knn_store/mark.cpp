#include "mark.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "foundation/crc32c.hpp"

namespace linearmem::store {
namespace {

struct Content {
  char magic[8];
  std::int64_t generation, writer;
  std::uint64_t digest;
  std::uint32_t zero, checksum;
};

constexpr char kMagic[8] = {'L', 'M', 'K', 'N', 'N', 'M', 'K', '1'};

std::uint32_t checksum_of(const Content& content) {
  return crc32c(std::as_bytes(std::span(&content, 1)).first(sizeof content - sizeof content.checksum));
}

std::string mark_of(const std::string& path) { return path + ".mark"; }

std::optional<Content> read_mark(int descriptor) {
  Content content;
  const bool whole = ::pread(descriptor, &content, sizeof content, 0) == static_cast<ssize_t>(sizeof content);
  if (!whole || std::memcmp(content.magic, kMagic, sizeof kMagic) != 0 || checksum_of(content) != content.checksum) return {};
  return content;
}

}  // namespace

Result<Mark> Mark::lock(const std::string& path) {
  const int descriptor = ::open(mark_of(path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return Status::invalid(mark_of(path) + ": cannot open it: " + std::strerror(errno));
  Mark mark(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return mark;
  if (errno != EWOULDBLOCK) return Status::invalid(mark_of(path) + ": cannot lock it: " + std::strerror(errno));
  const auto content = read_mark(descriptor);
  return Status::invalid(path + ": is being written by another" +
                         (content ? ", process " + std::to_string(content->writer) : std::string()) + "; a store has one writer at a time");
}

Mark::Mark(Mark&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
Mark::~Mark() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Mark::note(const State& state) const {
  Content content{.magic = {}, .generation = state.generation, .writer = ::getpid(), .digest = state.digest, .zero = 0, .checksum = 0};
  std::memcpy(content.magic, kMagic, sizeof kMagic);
  content.checksum = checksum_of(content);
  static_cast<void>(!::pwrite(descriptor_, &content, sizeof content, 0));
}

std::optional<Mark::Acknowledged> Mark::read(const std::string& path) {
  const int descriptor = ::open(mark_of(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const auto content = read_mark(descriptor);
  ::close(descriptor);
  if (!content) return {};
  return Acknowledged{content->generation, content->digest};
}

Status Mark::check(const std::string& path, const std::optional<Acknowledged>& acknowledged, const State& state) {
  if (!acknowledged || acknowledged->generation < state.generation) return {};
  const bool same_generation = acknowledged->generation == state.generation;
  if (same_generation && acknowledged->digest == state.digest) return {};
  return Status::invalid(path + ": holds generation " + std::to_string(state.generation) + ", but " + (same_generation ? "another " : "") +
                         std::to_string(acknowledged->generation) +
                         " was acknowledged: its log was cut or an older copy was put in its place; restore it, or remove " +
                         mark_of(path) + " to take it as it is");
}

}  // namespace linearmem::store
