#include "server_snapshot.hpp"

#ifdef LINEARMEM_POSTGRES

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace linearmem::store {
namespace {

// Searches on the server; its rows are those of one generation, or there is an error.
class ServerSnapshot final : public KnnSnapshot {
 public:
  ServerSnapshot(std::shared_ptr<ServerSession> shared, const State& state) : session_(std::move(shared)), state_(state) {}
  std::int64_t generation() const override { return state_.generation; }
  std::int64_t count() const override { return state_.count; }
  std::string scan() const override { return "on the server"; }

  KnnRecords records() const override {
    const std::lock_guard lock(session_->mutex);
    KnnRecords all;
    static_cast<void>(session_->truth.each(0, [&](const Record& record, std::uint32_t) {
      all.ids.push_back(record.id), all.tokens.push_back(record.token);
      all.keys.insert(all.keys.end(), record.key.begin(), record.key.end());
      return Status();
    }));
    return all;
  }

  Result<KnnNeighbours> search(const KnnQuery& query) const override {
    const std::lock_guard lock(session_->mutex);
    const KnnIdentity& is = session_->truth.identity();
    const std::int64_t Q = query.queries.extent(0);
    if (query.queries.extent(1) != is.dimension)
      return Status::invalid("knn_search: dimension differs: the store has " + std::to_string(is.dimension) + ", queries have " +
                             std::to_string(query.queries.extent(1)));
    if (query.k < 1) return Status::invalid("knn_search: k is " + std::to_string(query.k) + ", must be at least 1");
    if (query.k > count() && !query.at_most_k)
      return Status::invalid("knn_search: k is " + std::to_string(query.k) + ", but there are " + std::to_string(count()) +
                             " records; allow at most k to take them all");
    auto reading = Change::begin(session_->truth.connection(), "READ ONLY");
    if (!reading.ok()) return reading.status();
    const auto now = session_->truth.state(false);
    if (!now.ok()) return now.status();
    if (now.value() != state_)
      return Status::invalid(session_->truth.connection().name() + ": generation " + std::to_string(state_.generation) +
                             " is gone; take a snapshot of now");
    const std::int64_t R = knn_columns(count(), query.k, query.at_most_k);
    KnnNeighbours found{Tensor<std::int64_t, 2>({Q, R}), Tensor<std::int64_t, 2>({Q, R}), Tensor<double, 2>({Q, R})};
    for (std::int64_t q = 0; q < Q && R > 0; ++q)
      if (Status status = search_one(query.queries, q, R, found); !status.ok()) return status;
    return found;
  }

 private:
  // pgvector's distance of the R-th row bounds who may be near; whoever is within it, widened by its rounding, is measured again.
  Status search_one(const View<const float, 2>& queries, std::int64_t q, std::int64_t R, KnnNeighbours& found) const {
    ServerTruth& truth = session_->truth;
    const std::int64_t D = truth.identity().dimension;
    std::vector<float> one(static_cast<std::size_t>(D));
    double square = 0;
    for (std::int64_t d = 0; d < D; ++d) {
      const float value = one[static_cast<std::size_t>(d)] = queries(q, d);
      if (!std::isfinite(value))
        return Status::invalid("knn_search: queries[" + std::to_string(q) + "," + std::to_string(d) + "] is not finite");
      square += static_cast<double>(value) * static_cast<double>(value);
    }
    const bool inner = truth.identity().metric == Metric::inner_product;
    const std::string distance = inner ? "(key <#> $2::vector)" : "(key <-> $2::vector)", text = vector_text(one);
    const auto nearest = truth.connection().run("SELECT max(d), max(n) FROM (SELECT " + distance +
                                                    " AS d, vector_norm(key) AS n FROM linearmem.records WHERE domain = $1 "
                                                    "ORDER BY d LIMIT " +
                                                    std::to_string(R) + ") AS near",
                                                {truth.identity().domain, text});
    if (!nearest.ok()) return nearest.status();
    const double reach = std::strtod(nearest.value().text(0, 0).c_str(), nullptr), rounding = static_cast<double>(D + 8) * 0x1p-22;
    double margin = reach * rounding;
    if (inner) {
      const auto longest =
          truth.connection().run("SELECT max(vector_norm(key)) FROM linearmem.records WHERE domain = $1", {truth.identity().domain});
      if (!longest.ok()) return longest.status();
      margin = 2 * rounding * std::sqrt(square) * std::strtod(longest.value().text(0, 0).c_str(), nullptr);
    }
    char bound[40];
    const auto end = std::to_chars(bound, bound + sizeof bound, reach + margin + 1e-30).ptr;
    const auto rows = truth.connection().run("SELECT id, token, source, key::text, checksum FROM linearmem.records WHERE domain = $1 AND " +
                                                 distance + " <= $3::float8 ORDER BY id",
                                             {truth.identity().domain, text, std::string(bound, end)});
    if (!rows.ok()) return rows.status();
    return measure(rows.value(), one, q, R, found);
  }

  Status measure(const Rows& rows, const std::vector<float>& query, std::int64_t q, std::int64_t R, KnnNeighbours& found) const {
    KnnRecords few;
    const Status read = session_->truth.each_row(rows, [&](const Record& record, std::uint32_t) {
      few.ids.push_back(record.id), few.tokens.push_back(record.token);
      few.keys.insert(few.keys.end(), record.key.begin(), record.key.end());
      return Status();
    });
    if (!read.ok()) return read;
    const std::int64_t M = few.count(), D = session_->truth.identity().dimension;
    Tensor<std::int64_t, 2> at({1, R});
    Tensor<double, 2> distances({1, R});
    const Status status = knn_search(KnnSearchArguments<float>{.keys = {few.keys.data(), {M, D}},
                                                               .queries = {query.data(), {1, D}},
                                                               .k = R,
                                                               .metric = session_->truth.identity().metric,
                                                               .ids = at.view(),
                                                               .distances = distances.view()});
    if (!status.ok()) return status;
    for (std::int64_t r = 0; r < R; ++r) {
      const auto row = static_cast<std::size_t>(at(0, r));
      found.ids(q, r) = few.ids[row], found.tokens(q, r) = few.tokens[row], found.distances(q, r) = distances(0, r);
    }
    return {};
  }

  std::shared_ptr<ServerSession> session_;
  State state_;
};

}  // namespace

std::shared_ptr<const KnnSnapshot> server_snapshot(std::shared_ptr<ServerSession> session, const State& state) {
  return std::make_shared<ServerSnapshot>(std::move(session), state);
}

}  // namespace linearmem::store

#endif
