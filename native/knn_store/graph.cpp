#include "graph.hpp"

#ifndef LINEARMEM_HNSWLIB

namespace linearmem::store {
namespace {
Status absent() { return Status::unavailable("graph: this program was built without hnswlib (Debian package libhnswlib-dev)"); }
}  // namespace
Result<std::shared_ptr<const Graph>> Graph::make(const ScanFile&, std::int64_t, Metric, const GraphSettings&) { return absent(); }
Result<std::shared_ptr<const Graph>> Graph::open(const std::filesystem::path&, const ScanFile&, std::uint32_t, std::int64_t, Metric) {
  return absent();
}
}  // namespace linearmem::store

#else

#include <hnswlib/hnswlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>

#include "header_page.hpp"
#include "staged_file.hpp"

namespace linearmem::store {
namespace {

constexpr char kMagic[8] = {'L', 'M', 'K', 'N', 'N', 'G', 'R', '1'};

struct Header {
  char magic[8];
  std::int64_t generation, count, dimension, search_effort, bytes;
  std::uint64_t digest;
  double recall;
  std::uint32_t salt, rest_checksum;
};

// A file that only this process has, under a name for hnswlib to open.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("linearmem-graph", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  bool fill(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return descriptor_ >= 0;
  }

 private:
  int descriptor_;
};

std::vector<std::byte> content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) return {};
  std::vector<std::byte> bytes(static_cast<std::size_t>(stream.tellg()));
  stream.seekg(0);
  if (!stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) return {};
  return bytes;
}

std::unique_ptr<hnswlib::SpaceInterface<float>> space_of(std::int64_t dimension, Metric metric) {
  const auto D = static_cast<std::size_t>(dimension);
  if (metric == Metric::squared_l2) return std::make_unique<hnswlib::L2Space>(D);
  return std::make_unique<hnswlib::InnerProductSpace>(D);
}

// hnswlib throws; whatever it throws becomes a sentence.
template <typename Run>
Status guarded(const char* what, const Run& run) {
  try {
    run();
    return {};
  } catch (const std::exception& problem) {
    return Status::invalid(std::string("graph: cannot ") + what + ": " + problem.what());
  }
}

class HnswGraph final : public Graph {
 public:
  HnswGraph(std::int64_t dimension, Metric metric, std::int64_t search_effort, double recall)
      : space_(space_of(dimension, metric)), search_effort_(search_effort), recall_(recall) {}

  Status fill(const ScanFile& scan, std::int64_t dimension, const GraphSettings& settings) {
    return guarded("make it", [&] {
      graph_ = std::make_unique<hnswlib::HierarchicalNSW<float>>(space_.get(), scan.ids().size(), static_cast<std::size_t>(settings.links),
                                                                 static_cast<std::size_t>(settings.build_effort));
      for (std::size_t row = 0; row < scan.ids().size(); ++row)
        graph_->addPoint(scan.keys().data() + row * static_cast<std::size_t>(dimension), row);
    });
  }
  Status load(std::span<const std::byte> bytes) {
    const MemoryFile memory;
    if (!memory.fill(bytes)) return Status(StatusCode::out_of_memory, "graph: no memory to load it");
    return guarded("load it", [&] { graph_ = std::make_unique<hnswlib::HierarchicalNSW<float>>(space_.get(), memory.name()); });
  }

  Status write(const std::filesystem::path& file, const ScanFile& scan, std::uint32_t salt, double recall) const override {
    const MemoryFile memory;
    if (Status status = guarded("save it", [&] { graph_->saveIndex(memory.name()); }); !status.ok()) return status;
    const std::vector<std::byte> rest = content_of(memory.name());
    Header header{.magic = {},
                  .generation = scan.state().generation,
                  .count = scan.state().count,
                  .dimension = static_cast<std::int64_t>(space_->get_data_size() / 4),
                  .search_effort = search_effort_,
                  .bytes = static_cast<std::int64_t>(rest.size()),
                  .digest = scan.state().digest,
                  .recall = recall,
                  .salt = salt,
                  .rest_checksum = crc32c(rest)};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    const std::vector<std::byte> page = header_page(header);
    auto staged = StagedFile::create(file);
    if (!staged.ok()) return staged.status();
    for (const std::span<const std::byte> part : {std::span<const std::byte>(page), std::span<const std::byte>(rest)})
      if (Status status = staged.value().append(part); !status.ok()) return status;
    return staged.value().commit();
  }

  Result<std::vector<std::int64_t>> candidates(std::span<const float> query, std::int64_t least) const override {
    std::vector<std::int64_t> rows;
    // searchKnn keeps max(its own effort, k) candidates and hands out k: asking for all of them needs no setting that threads would share.
    const Status status = guarded("search it", [&] {
      auto found = graph_->searchKnn(query.data(), static_cast<std::size_t>(std::max(search_effort_, least)));
      for (; !found.empty(); found.pop()) rows.push_back(static_cast<std::int64_t>(found.top().second));
    });
    if (!status.ok()) return status;
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  double recall() const override { return recall_; }
  std::int64_t search_effort() const override { return search_effort_; }

 private:
  std::unique_ptr<hnswlib::SpaceInterface<float>> space_;
  std::unique_ptr<hnswlib::HierarchicalNSW<float>> graph_;
  std::int64_t search_effort_;
  double recall_;
};

}  // namespace

Result<std::shared_ptr<const Graph>> Graph::make(const ScanFile& scan, std::int64_t dimension, Metric metric,
                                                 const GraphSettings& settings) {
  const auto graph = std::make_shared<HnswGraph>(dimension, metric, settings.search_effort, 0.0);
  if (Status status = graph->fill(scan, dimension, settings); !status.ok()) return status;
  return std::shared_ptr<const Graph>(graph);
}

Result<std::shared_ptr<const Graph>> Graph::open(const std::filesystem::path& file, const ScanFile& scan, std::uint32_t salt,
                                                 std::int64_t dimension, Metric metric) {
  const std::vector<std::byte> bytes = content_of(file);
  if (bytes.size() < kPage) return refuse(file, "is no graph; knn graph makes one");
  const auto header = header_of<Header>(bytes);
  const auto rest = std::span(bytes).subspan(kPage);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return refuse(file, "is no graph; knn graph makes one");
  if (!header_is_sound(bytes) || static_cast<std::size_t>(header.bytes) != rest.size() || crc32c(rest) != header.rest_checksum)
    return refuse(file, "is damaged; knn graph makes it anew");
  if (header.salt != salt || header.dimension != dimension) return refuse(file, "belongs to another store");
  if (header.generation != scan.state().generation || header.digest != scan.state().digest || header.count != scan.state().count)
    return refuse(file, "is of generation " + std::to_string(header.generation) + ", the scan file of " +
                            std::to_string(scan.state().generation) + "; knn graph makes it anew");
  const auto graph = std::make_shared<HnswGraph>(dimension, metric, header.search_effort, header.recall);
  if (Status status = graph->load(rest); !status.ok()) return status;
  return std::shared_ptr<const Graph>(graph);
}

}  // namespace linearmem::store

#endif
