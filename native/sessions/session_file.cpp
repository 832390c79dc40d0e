#include "session_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace linearmem {
namespace {

class FileSink final : public SessionSink {
 public:
  explicit FileSink(StagedFile& file) : file_(file) {}
  Status write(std::span<const std::byte> bytes) override { return file_.append(bytes); }

 private:
  StagedFile& file_;
};

class FileSource final : public SessionSource {
 public:
  static Result<FileSource> open(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe does not keep us waiting
    if (descriptor < 0) return Status::invalid(file.string() + ": cannot open it: " + std::strerror(errno));
    FileSource source(file.string(), descriptor);
    struct stat about;
    if (::fstat(descriptor, &about) != 0) return Status::invalid(file.string() + ": cannot look at it: " + std::strerror(errno));
    if (!S_ISREG(about.st_mode)) return Status::invalid(file.string() + ": is not a regular file");
    source.size_ = about.st_size;
    return source;
  }
  FileSource(FileSource&& other) noexcept : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
  FileSource& operator=(FileSource&&) = delete;
  ~FileSource() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  const std::string& name() const override { return name_; }
  std::int64_t size() const override { return size_; }
  Status read(std::int64_t offset, std::span<std::byte> to) const override {
    while (!to.empty()) {
      const ssize_t count = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failure(offset, std::string("cannot be read: ") + std::strerror(errno));
      if (count == 0) return failure(offset, "ends here, and was longer when it was opened");
      offset += count;
      to = to.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }

 private:
  FileSource(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}
  Status failure(std::int64_t offset, const std::string& reason) const {
    return Status::invalid(name_ + ": offset " + std::to_string(offset) + ": " + reason);
  }

  std::string name_;
  int descriptor_;
  std::int64_t size_ = 0;
};

}  // namespace

template <typename T>
Result<StagedFile> stage_session(const Sessions<T>& sessions, std::span<const SavedRequest> requests, const std::filesystem::path& file) {
  auto staged = StagedFile::create(file);
  if (!staged.ok()) return staged;
  FileSink sink(staged.value());
  if (Status status = sessions.save(requests, sink); !status.ok()) return status;
  if (Status status = staged.value().sync(); !status.ok()) return status;
  return staged;
}

template <typename T>
Status save_session(const Sessions<T>& sessions, std::span<const SavedRequest> requests, const std::filesystem::path& file) {
  auto staged = stage_session(sessions, requests, file);
  return staged.ok() ? staged.value().commit() : staged.status();
}

template <typename T>
Result<std::vector<std::int64_t>> session_ids(const Sessions<T>& sessions, const std::filesystem::path& file) {
  const auto source = FileSource::open(file);
  if (!source.ok()) return source.status();
  return sessions.saved_ids(source.value());
}

template <typename T>
Result<std::vector<SavedRequest>> load_session(Sessions<T>& sessions, const std::filesystem::path& file, std::optional<std::int64_t> only) {
  const auto source = FileSource::open(file);
  if (!source.ok()) return source.status();
  return sessions.load(source.value(), only);
}

template Status save_session(const Sessions<float>&, std::span<const SavedRequest>, const std::filesystem::path&);
template Result<StagedFile> stage_session(const Sessions<float>&, std::span<const SavedRequest>, const std::filesystem::path&);
template Result<std::vector<std::int64_t>> session_ids(const Sessions<float>&, const std::filesystem::path&);
template Result<std::vector<SavedRequest>> load_session(Sessions<float>&, const std::filesystem::path&, std::optional<std::int64_t>);
template Status save_session(const Sessions<double>&, std::span<const SavedRequest>, const std::filesystem::path&);
template Result<StagedFile> stage_session(const Sessions<double>&, std::span<const SavedRequest>, const std::filesystem::path&);
template Result<std::vector<std::int64_t>> session_ids(const Sessions<double>&, const std::filesystem::path&);
template Result<std::vector<SavedRequest>> load_session(Sessions<double>&, const std::filesystem::path&, std::optional<std::int64_t>);

}  // namespace linearmem
