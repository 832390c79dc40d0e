#include "scan_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "header_page.hpp"
#include "staged_file.hpp"

namespace linearmem::store {
namespace {

constexpr std::uint64_t kBlock = 65536;
constexpr char kMagic[8] = {'L', 'M', 'K', 'N', 'N', 'S', 'C', '1'};

struct Header {
  char magic[8];
  std::int64_t generation, rewritten, count, next_id;
  std::uint64_t digest;
  std::int64_t dimension;
  std::uint32_t salt, table_checksum;
};

// Where things are, in bytes.
struct Layout {
  std::uint64_t blocks, table, ids, tokens, keys, end;
};

constexpr std::uint64_t padded(std::uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

// Of counts that the file's size has been held against, or that come from memory.
Layout layout_of(std::uint64_t count, std::uint64_t dimension) {
  const std::uint64_t data = 2 * padded(count * 8) + padded(count * dimension * 4);
  Layout layout{.blocks = (data + kBlock - 1) / kBlock, .table = kPage, .ids = 0, .tokens = 0, .keys = 0, .end = 0};
  layout.ids = layout.table + padded(layout.blocks * 4);
  layout.tokens = layout.ids + padded(count * 8);
  layout.keys = layout.tokens + padded(count * 8);
  layout.end = layout.ids + data;
  return layout;
}

std::span<const std::byte> bytes_at(const void* memory, std::uint64_t at, std::uint64_t size) {
  return {static_cast<const std::byte*>(memory) + at, static_cast<std::size_t>(size)};
}

Status system_failure(const std::filesystem::path& file, const char* action) {
  return refuse(file, std::string("cannot ") + action + ": " + std::strerror(errno));
}

// Appends to a file and keeps the checksums of its blocks.
class CheckedOutput {
 public:
  explicit CheckedOutput(StagedFile& file) : file_(file) {}

  Status append(std::span<const std::byte> bytes) {
    for (std::span<const std::byte> rest = bytes; !rest.empty();) {
      const std::size_t taken = std::min<std::size_t>(rest.size(), kBlock - filled_);
      sum_ = crc32c(rest.first(taken), sum_);
      rest = rest.subspan(taken);
      if ((filled_ += taken) == kBlock) finish();
    }
    return file_.append(bytes);
  }
  Status pad(std::uint64_t written) {
    static constexpr std::byte kZeros[kPage] = {};
    return append(std::span(kZeros).first(padded(written) - written));
  }
  const std::vector<std::uint32_t>& sums() {
    if (filled_ > 0) finish();
    return sums_;
  }

 private:
  void finish() {
    sums_.push_back(sum_);
    sum_ = 0, filled_ = 0;
  }
  StagedFile& file_;
  std::vector<std::uint32_t> sums_;
  std::uint32_t sum_ = 0;
  std::size_t filled_ = 0;
};

template <typename T>
Status append_padded(CheckedOutput& output, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  if (Status status = output.append(bytes); !status.ok()) return status;
  return output.pad(bytes.size());
}

}  // namespace

Result<ScanContent> read_content(Truth& truth, const State& state) {
  ScanContent content{.state = state, .salt = truth.salt(), .dimension = truth.identity().dimension, .ids = {}, .tokens = {}, .keys = {}};
  std::uint64_t digest = 0;
  const Status status = truth.each(0, [&](const Record& record, std::uint32_t sum) {
    content.ids.push_back(record.id);
    content.tokens.push_back(record.token);
    content.keys.insert(content.keys.end(), record.key.begin(), record.key.end());
    digest += digest_of(sum, record.id);
    return Status();
  });
  if (!status.ok()) return status;
  const auto count = static_cast<std::int64_t>(content.ids.size());
  if (count == state.count && digest == state.digest) return content;
  return Status::invalid(truth.path() + ": holds " + std::to_string(count) + " sound records, but " + std::to_string(state.count) +
                         " were acknowledged" + (count == state.count ? ", and not the same" : "") +
                         "; restore the store from a copy or an export");
}

Status ScanFile::write(const std::filesystem::path& file, const ScanContent& content) {
  auto staged = StagedFile::create(file);
  if (!staged.ok()) return staged.status();
  const Layout layout = layout_of(content.ids.size(), static_cast<std::uint64_t>(content.dimension));
  // Header and table come last, over the zeros that keep their place.
  const std::vector<std::byte> front(layout.ids);
  if (Status status = staged.value().append(front); !status.ok()) return status;
  CheckedOutput output(staged.value());
  for (const auto* numbers : {&content.ids, &content.tokens})
    if (Status status = append_padded(output, *numbers); !status.ok()) return status;
  if (Status status = append_padded(output, content.keys); !status.ok()) return status;
  std::vector<std::uint32_t> table = output.sums();
  table.resize(padded(table.size() * 4) / 4);
  Header header{.magic = {},
                .generation = content.state.generation,
                .rewritten = content.state.rewritten,
                .count = content.state.count,
                .next_id = content.state.next_id,
                .digest = content.state.digest,
                .dimension = content.dimension,
                .salt = content.salt,
                .table_checksum = crc32c(std::as_bytes(std::span(table)))};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  if (Status status = staged.value().write_at(0, header_page(header)); !status.ok()) return status;
  if (Status status = staged.value().write_at(layout.table, std::as_bytes(std::span(table))); !status.ok()) return status;
  return staged.value().commit();
}

ScanFile::~ScanFile() { ::munmap(memory_, size_); }

Result<std::shared_ptr<const ScanFile>> ScanFile::open(const std::filesystem::path& file, std::uint32_t salt, std::int64_t dimension) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_failure(file, "open it");
  struct stat about {};
  const bool known = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  const auto size = known ? static_cast<std::size_t>(about.st_size) : 0;
  void* memory = size >= kPage ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  const Status failed =
      size < kPage ? refuse(file, "is no scan file: it has " + std::to_string(size) + " bytes") : system_failure(file, "map it");
  ::close(descriptor);
  if (memory == MAP_FAILED) return failed;
  std::shared_ptr<ScanFile> made(new ScanFile(memory, size));
  if (Status status = made->check(file, salt, dimension); !status.ok()) return status;
  return std::shared_ptr<const ScanFile>(std::move(made));
}

Status ScanFile::check(const std::filesystem::path& file, std::uint32_t salt, std::int64_t dimension) {
  const auto page = bytes_at(memory_, 0, kPage);
  const auto header = header_of<Header>(page);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return refuse(file, "is no scan file");
  if (!header_is_sound(page)) return refuse(file, "its header is damaged");
  if (header.salt != salt || header.dimension != dimension) return refuse(file, "belongs to another store");
  const auto count = static_cast<std::uint64_t>(header.count), width = static_cast<std::uint64_t>(dimension);
  if (header.count < 0 || count > size_ / (16 + 4 * width)) return refuse(file, "is shorter than its header says");
  const Layout layout = layout_of(count, width);
  if (layout.end != size_) return refuse(file, "has " + std::to_string(size_) + " bytes, its header says " + std::to_string(layout.end));
  if (crc32c(bytes_at(memory_, layout.table, layout.ids - layout.table)) != header.table_checksum)
    return refuse(file, "its table of checksums is damaged");
  for (std::uint64_t block = 0; block < layout.blocks; ++block) {
    const std::uint64_t at = layout.ids + block * kBlock;
    std::uint32_t expected;
    std::memcpy(&expected, static_cast<const std::byte*>(memory_) + layout.table + block * 4, 4);
    if (crc32c(bytes_at(memory_, at, std::min(kBlock, layout.end - at))) != expected)
      return refuse(file, "bytes from offset " + std::to_string(at) + " on are damaged");
  }
  state_ = {.generation = header.generation,
            .rewritten = header.rewritten,
            .count = header.count,
            .next_id = header.next_id,
            .digest = header.digest};
  const auto* base = static_cast<const std::byte*>(memory_);
  ids_ = {reinterpret_cast<const std::int64_t*>(base + layout.ids), static_cast<std::size_t>(count)};
  tokens_ = {reinterpret_cast<const std::int64_t*>(base + layout.tokens), static_cast<std::size_t>(count)};
  keys_ = {reinterpret_cast<const float*>(base + layout.keys), static_cast<std::size_t>(count * width)};
  return {};
}

}  // namespace linearmem::store
