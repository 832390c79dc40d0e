#include "snapshot.hpp"

#include <algorithm>
#include <cmath>

namespace linearmem::store {
namespace {

// Keys side by side, ids ascending.
struct Part {
  std::span<const std::int64_t> ids, tokens;
  std::span<const float> keys;
};

class Snapshot final : public KnnSnapshot {
 public:
  Snapshot(const KnnIdentity& identity, const State& state, std::shared_ptr<const ScanFile> scan, ScanContent rest, std::string why,
           std::shared_ptr<const Graph> graph)
      : dimension_(identity.dimension),
        metric_(identity.metric),
        state_(state),
        scan_(std::move(scan)),
        rest_(std::move(rest)),
        why_(std::move(why)),
        graph_(std::move(graph)) {
    if (scan_) parts_.push_back({scan_->ids(), scan_->tokens(), scan_->keys()});
    if (!rest_.ids.empty()) parts_.push_back({rest_.ids, rest_.tokens, rest_.keys});
  }

  std::int64_t generation() const override { return state_.generation; }
  std::int64_t count() const override { return state_.count; }
  std::string scan() const override { return why_; }

  KnnRecords records() const override {
    KnnRecords all;
    for (const Part& part : parts_) {
      all.ids.insert(all.ids.end(), part.ids.begin(), part.ids.end());
      all.tokens.insert(all.tokens.end(), part.tokens.begin(), part.tokens.end());
      all.keys.insert(all.keys.end(), part.keys.begin(), part.keys.end());
    }
    return all;
  }

  Result<KnnNeighbours> search(const KnnQuery& query) const override {
    const std::int64_t M = count(), Q = query.queries.extent(0);
    const Status status = check(query);
    if (!status.ok()) return status;
    const std::int64_t R = knn_columns(M, query.k, query.at_most_k);
    KnnNeighbours found{Tensor<std::int64_t, 2>({Q, R}), Tensor<std::int64_t, 2>({Q, R}), Tensor<double, 2>({Q, R})};
    std::vector<std::vector<Neighbour>> lists(static_cast<std::size_t>(Q));
    for (const Part& part : parts_) {
      const bool by_graph = graph_ && part.ids.data() == scan_->ids().data();
      if (Status searched = by_graph ? add_candidates(part, query, lists) : add_nearest(part, query, lists); !searched.ok())
        return searched;
    }
    for (std::int64_t q = 0; q < Q; ++q) {
      std::vector<Neighbour>& list = lists[static_cast<std::size_t>(q)];
      std::sort(list.begin(), list.end());
      if (static_cast<std::int64_t>(list.size()) < R)
        return Status::invalid("knn_search: the graph leads to " + std::to_string(list.size()) + " records only; search by scan");
      for (std::int64_t r = 0; r < R; ++r) {
        const Neighbour& one = list[static_cast<std::size_t>(r)];
        found.ids(q, r) = one.id, found.tokens(q, r) = one.token, found.distances(q, r) = one.distance;
      }
    }
    return found;
  }

 private:
  struct Neighbour {
    double distance;
    std::int64_t id, token;
    friend bool operator<(const Neighbour& a, const Neighbour& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
    }
  };

  // The door's own words for what it would refuse, on no keys where there are none of that number.
  Status check(const KnnQuery& query) const {
    const std::int64_t M = count();
    if (query.queries.extent(1) != dimension_)
      return Status::invalid("knn_search: dimension differs: the store has " + std::to_string(dimension_) + ", queries have " +
                             std::to_string(query.queries.extent(1)));
    if (query.k < 1) return Status::invalid("knn_search: k is " + std::to_string(query.k) + ", must be at least 1");
    if (query.k > M && !query.at_most_k)
      return Status::invalid("knn_search: k is " + std::to_string(query.k) + ", but there are " + std::to_string(M) +
                             " records; allow at most k to take them all");
    return {};
  }

  Status add_nearest(const Part& part, const KnnQuery& query, std::vector<std::vector<Neighbour>>& lists) const {
    const auto M = static_cast<std::int64_t>(part.ids.size());
    const std::int64_t Q = query.queries.extent(0), R = std::min(M, query.k);
    Tensor<std::int64_t, 2> rows({Q, R});
    Tensor<double, 2> distances({Q, R});
    const Status status = knn_search(KnnSearchArguments<float>{.keys = {part.keys.data(), {M, dimension_}},
                                                               .queries = query.queries,
                                                               .k = query.k,
                                                               .at_most_k = true,
                                                               .metric = metric_,
                                                               .executor = query.executor,
                                                               .ids = rows.view(),
                                                               .distances = distances.view()});
    if (!status.ok()) return status;
    for (std::int64_t q = 0; q < Q; ++q)
      for (std::int64_t r = 0; r < R; ++r) {
        const auto row = static_cast<std::size_t>(rows(q, r));
        lists[static_cast<std::size_t>(q)].push_back({distances(q, r), part.ids[row], part.tokens[row]});
      }
    return {};
  }

  // The graph's candidates of each query, measured like all other keys.
  Status add_candidates(const Part& part, const KnnQuery& query, std::vector<std::vector<Neighbour>>& lists) const {
    const auto D = static_cast<std::size_t>(dimension_);
    std::vector<float> one(D);
    for (std::int64_t q = 0; q < query.queries.extent(0); ++q) {
      for (std::size_t d = 0; d < D; ++d)
        if (!std::isfinite(one[d] = query.queries(q, static_cast<std::int64_t>(d))))
          return Status::invalid("knn_search: queries[" + std::to_string(q) + "," + std::to_string(d) + "] is not finite");
      const auto rows = graph_->candidates(one, std::min(query.k, static_cast<std::int64_t>(part.ids.size())));
      if (!rows.ok()) return rows.status();
      KnnRecords few;
      for (const std::int64_t row : rows.value()) {
        const auto at = static_cast<std::size_t>(row);
        few.ids.push_back(part.ids[at]), few.tokens.push_back(part.tokens[at]);
        few.keys.insert(few.keys.end(), part.keys.begin() + row * dimension_, part.keys.begin() + (row + 1) * dimension_);
      }
      std::vector<std::vector<Neighbour>> found(1);
      const KnnQuery alone{.queries = {one.data(), {1, dimension_}}, .k = query.k, .at_most_k = true};
      if (Status status = add_nearest({few.ids, few.tokens, few.keys}, alone, found); !status.ok()) return status;
      std::vector<Neighbour>& list = lists[static_cast<std::size_t>(q)];
      list.insert(list.end(), found[0].begin(), found[0].end());
    }
    return {};
  }

  std::int64_t dimension_;
  Metric metric_;
  State state_;
  std::shared_ptr<const ScanFile> scan_;
  ScanContent rest_;
  std::string why_;
  std::shared_ptr<const Graph> graph_;
  std::vector<Part> parts_;
};

}  // namespace

std::shared_ptr<const KnnSnapshot> make_snapshot(const KnnIdentity& identity, const State& state, std::shared_ptr<const ScanFile> scan,
                                                 ScanContent rest, std::string why, std::shared_ptr<const Graph> graph) {
  return std::make_shared<Snapshot>(identity, state, std::move(scan), std::move(rest), std::move(why), std::move(graph));
}

}  // namespace linearmem::store
