// Records of one generation, ready to be searched: a scan file, and those added after it was made.
#pragma once

#include "graph.hpp"
#include "knn_store.hpp"
#include "scan_file.hpp"

namespace linearmem::store {

// scan may be null: then all records are in `rest`, and `why` says so. With a graph the scan file is searched by it.
std::shared_ptr<const KnnSnapshot> make_snapshot(const KnnIdentity& identity, const State& state, std::shared_ptr<const ScanFile> scan,
                                                 ScanContent rest, std::string why, std::shared_ptr<const Graph> graph = nullptr);

}  // namespace linearmem::store
