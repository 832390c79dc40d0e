// The store in one file: a truth, its mark and its scan file, behind the interface of KnnStore.
#pragma once

#include <mutex>
#include <optional>

#include "graph.hpp"
#include "knn_store.hpp"
#include "mark.hpp"
#include "scan_file.hpp"

namespace linearmem::store {

std::int64_t size_of(const std::string& file);  // in bytes; 0 where there is none

class LocalStore final : public KnnStore {
 public:
  LocalStore(std::unique_ptr<Truth> truth, std::optional<Mark> mark) : truth_(std::move(truth)), mark_(std::move(mark)) {}

  const KnnIdentity& identity() const override { return truth_->identity(); }
  Result<std::vector<std::int64_t>> append(const KnnRecords& records) override;
  Result<KnnUpsert> upsert(const KnnRecords& records) override;
  Result<KnnRemoval> remove(std::span<const std::int64_t> ids) override;
  Result<std::int64_t> remove_where(const KnnFilter& filter) override;
  Status compact() override;
  Result<KnnStats> stats() override;
  Result<KnnStats> verify() override;
  Result<std::shared_ptr<const KnnSnapshot>> snapshot(KnnSearchBy by) override;
  Result<KnnGraphReport> make_graph(const KnnGraphOptions& options) override;
  Result<KnnRecords> read_all() override;

 private:
  // Runs change(state), which returns the state after it, in a transaction; acknowledges it when it is on disk.
  template <typename Change>
  Status write(const Change& change);
  Result<KnnRemoval> erase(std::span<const std::int64_t> ids, State& state);
  std::string scan_path() const { return truth_->path() + ".scan"; }
  std::string graph_path() const { return truth_->path() + ".graph"; }
  Result<std::shared_ptr<const KnnSnapshot>> scan_snapshot();  // what snapshot() hands out; the lock is held
  Result<std::shared_ptr<const KnnSnapshot>> snapshot_by(const std::shared_ptr<const Graph>& graph);
  Result<std::optional<ScanContent>> rest_after(const ScanFile& scan, const State& now);
  Result<KnnGraphReport> measured(const Graph& graph, const KnnGraphOptions& options) const;
  Result<State> current_state();
  Status remove_derived() const;
  std::string scan_text(const State& state, const Result<std::shared_ptr<const ScanFile>>& scan) const;
  Result<KnnStats> sizes(const State& state) const;

  std::mutex mutex_;
  std::unique_ptr<Truth> truth_;
  std::optional<Mark> mark_;              // of a writer
  std::shared_ptr<const ScanFile> scan_;  // the one last opened
};

}  // namespace linearmem::store
