// A kNN memory that outlives its process: records of one permission domain in one file, which survives crashes and refuses what does not
// belong to it. PATH is an SQLite file and the only truth. Beside it, derived and disposable: PATH.scan, which searches read, and
// PATH.mark, which the writer holds locked and where the last acknowledged change is noted; and, when asked for, PATH.graph.
//
// A PATH of the form postgresql://... is a store on a server instead (postgres_store.hpp).
//
// A change is acknowledged when its call returns; by then it is on disk (synchronous=FULL). Readers are many, in any processes, and
// see whole changes only; a second writer is refused. Calls on one object may come from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linearmem/executor.hpp"
#include "linearmem/knn_identity.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {

// n records side by side.
struct KnnRecords {
  std::vector<std::int64_t> ids = {};     // [n], at least 0; empty where the store gives them
  std::vector<std::int64_t> tokens = {};  // [n], at least 0
  std::vector<std::string> sources = {};  // [n], what a record was taken from, a document say; empty: none for all
  std::vector<float> keys = {};           // [n,D]
  std::int64_t count() const { return static_cast<std::int64_t>(tokens.size()); }
};

struct KnnUpsert {
  std::int64_t added = 0, replaced = 0;
};

struct KnnRemoval {
  std::int64_t removed = 0;
  std::vector<std::int64_t> unknown = {};  // ids that no record has; they change nothing
};

// Which records to remove: those that meet all that is set. At least one is.
struct KnnFilter {
  std::optional<std::int64_t> token = {};
  std::optional<std::string> source = {};
  std::optional<std::int64_t> first_id = {}, last_id = {};  // both included
};

struct KnnStats {
  std::int64_t records = 0, generation = 0, next_id = 0;
  std::int64_t truth_bytes = 0, log_bytes = 0, scan_bytes = 0;
  std::int64_t graph_bytes = 0;
  double graph_recall = 0;  // as measured when the graph was made; 0 where there is none of this generation
  std::string scan;         // "fresh", "missing", "stale by 3 changes", or why it cannot be used
};

// Neighbours of Q queries, nearest first, ties by the smaller id.
struct KnnNeighbours {
  Tensor<std::int64_t, 2> ids, tokens;  // [Q,R]
  Tensor<double, 2> distances;
};

struct KnnQuery {
  View<const float, 2> queries = {};  // [Q,D]
  std::int64_t k = 1;
  bool at_most_k = false;
  const Executor* executor = nullptr;
};

enum class KnnSearchBy {
  scan,   // every key: exact
  graph,  // most near keys by PATH.graph, their distances exact
};

struct KnnGraphOptions {
  std::int64_t links = 16, build_effort = 200, search_effort = 64;  // of hnswlib: M, ef_construction, ef
  std::int64_t least_records = 10000;                               // below, reading every key is as fast
  double least_recall = 0.95;                                       // a graph that finds less is not kept
  View<const float, 2> queries = {};  // to measure recall with; not given: 200 of the store's own keys, spread over it
  std::int64_t k = 16;                // neighbours of which it must find that share
};

struct KnnGraphReport {
  double recall = 0;  // neighbours found over neighbours there are, with the exact search as the judge
  std::int64_t queries = 0;
};

// The records of one generation, as long as it is held; whatever is written meanwhile. Any number of threads may search it. (On a server a
// change ends the generation: searching it then is an error.)
class KnnSnapshot {
 public:
  virtual ~KnnSnapshot() = default;
  virtual std::int64_t generation() const = 0;
  virtual std::int64_t count() const = 0;
  virtual std::string scan() const = 0;  // "mapped", or why the keys are held in memory instead
  // By scan exact: the same answers, to the bit, as knn_search on all keys. By graph the same distances, but a near key may be missing.
  // Errors: knn_search's, keys in the order of ids.
  virtual Result<KnnNeighbours> search(const KnnQuery& query) const = 0;
  virtual KnnRecords records() const = 0;  // all, ascending ids; sources are left empty
};

enum class KnnAccess { read, write };

struct KnnStoreOptions {
  const char* vfs = nullptr;      // the SQLite file layer by name; SQLite's own when null
  bool synced = true;             // false: synchronous=NORMAL, where the last changes may be lost with the power
  std::int64_t log_pages = 1000;  // of the log, after which a change folds it into the file
};

class KnnStore {
 public:
  // Errors: PATH exists, a field that check_identity refuses, a folder that cannot be written.
  static Status create(const std::string& path, const KnnIdentity& identity, const KnnStoreOptions& options = {});
  // Errors: no store, damage, an identity that is not the expected one (by field), another writer (by process), a store older than
  // PATH.mark.
  static Result<std::unique_ptr<KnnStore>> open(const std::string& path, const KnnExpectation& expected, KnnAccess access,
                                                const KnnStoreOptions& options = {});
  virtual ~KnnStore() = default;

  virtual const KnnIdentity& identity() const = 0;

  // All of a batch or nothing. Errors: a key or width that does not fit (named), a disk that refuses.
  virtual Result<std::vector<std::int64_t>> append(const KnnRecords& records) = 0;  // the ids given
  virtual Result<KnnUpsert> upsert(const KnnRecords& records) = 0;                  // with ids: a record of the same id is replaced
  virtual Result<KnnRemoval> remove(std::span<const std::int64_t> ids) = 0;
  virtual Result<std::int64_t> remove_where(const KnnFilter& filter) = 0;  // how many
  virtual Status compact() = 0;  // afterwards no byte of what was removed is left in the store's files

  virtual Result<KnnStats> stats() = 0;
  virtual Result<KnnStats> verify() = 0;  // reads and checks every byte of truth and scan file
  virtual Result<std::shared_ptr<const KnnSnapshot>> snapshot(
      KnnSearchBy by = KnnSearchBy::scan) = 0;                                         // of now; makes the scan file anew where
                                                                                       // it is too old. By graph: error where none fits
  virtual Result<KnnGraphReport> make_graph(const KnnGraphOptions& options = {}) = 0;  // errors: too few records, recall below the least
  virtual Result<KnnRecords> read_all() = 0;                                           // sources included
};

}  // namespace linearmem
