// PATH.graph: a graph over the keys of a scan file (Malkov & Yashunin 2018, by hnswlib) that finds most near keys without reading all.
// Derived and disposable. Its candidates are measured again exactly by the caller; how many of the true neighbours it finds is measured
// when it is made and kept with it. Built only where hnswlib is there.
//
//   header, 4096 bytes: of which generation, its search effort, the recall measured, and checksums of itself and of the rest
//   what hnswlib saved; labels are rows of the scan file
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "linearmem/knn_memory.hpp"
#include "scan_file.hpp"

namespace linearmem::store {

struct GraphSettings {
  std::int64_t links = 16;          // of a node on each level, twice as many on the lowest
  std::int64_t build_effort = 200;  // candidates kept while a node is linked
  std::int64_t search_effort = 64;  // candidates of a search
};

class Graph {
 public:
  // The graph of one scan file. Errors: hnswlib is not built in, no memory.
  static Result<std::shared_ptr<const Graph>> make(const ScanFile& scan, std::int64_t dimension, Metric metric,
                                                   const GraphSettings& settings);
  // Every byte is checked. Errors: none there, another store's or generation's, damage.
  static Result<std::shared_ptr<const Graph>> open(const std::filesystem::path& file, const ScanFile& scan, std::uint32_t salt,
                                                   std::int64_t dimension, Metric metric);
  virtual ~Graph() = default;

  virtual Status write(const std::filesystem::path& file, const ScanFile& scan, std::uint32_t salt, double recall) const = 0;
  // Rows that are probably near, ascending, at most search_effort of them or `least` where that is more.
  virtual Result<std::vector<std::int64_t>> candidates(std::span<const float> query, std::int64_t least) const = 0;
  virtual double recall() const = 0;  // as measured when it was made; 0 for one that was just made
  virtual std::int64_t search_effort() const = 0;
};

}  // namespace linearmem::store
