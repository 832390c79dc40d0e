// The search of the kNN memory: how fast keys are read for one query, and how fast distances are had for a block of 64.
#include <cmath>
#include <cstdio>
#include <limits>

#include "case_shape.hpp"
#include "door_workload.hpp"
#include "linearmem/knn_memory.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::bench {
namespace {

constexpr std::int64_t kNeighbours = 16, kBatch = 64;
constexpr std::int64_t kProvenQueries = 2;  // the definition measures every key for each

template <typename T>
class KnnWorkload final : public Workload {
 public:
  KnnWorkload(std::int64_t keys, std::int64_t width, std::int64_t queries)
      : keys_(arrays_.make(Extents<2>{keys, width})),
        queries_(arrays_.make(Extents<2>{queries, width})),
        got_(queries, keys),
        first_(queries, keys) {
    Generator generator(1);
    fill_uniform(keys_, generator, -1, 1), fill_uniform(queries_, generator, -1, 1);
  }

  void use(const Executor* executor) override { executor_ = executor; }
  Status run() override { return search(queries_, Form::automatic, got_); }
  std::span<const float> streamed() const override {
    if constexpr (std::is_same_v<T, float>) return {keys_.data(), static_cast<std::size_t>(keys_.size())};
    else return {};  // as single floats its bits may be denormal, which are slow to add
  }
  bool unchanged() const override {
    return got_.ids.values() == first_.ids.values() && got_.distances.values() == first_.distances.values();
  }

  Result<Proof> prove() override {
    Proof proof;
    const double begin = seconds(Clock::wall);
    if (Status status = run(); !status.ok()) return status;
    proof.first_seconds = seconds(Clock::wall) - begin;
    first_ = got_;
    const std::int64_t Q = queries_.extent(0), count = std::min(kProvenQueries, Q);
    for (const std::int64_t first : {std::int64_t{0}, Q - count}) {
      Found expected(count, keys_.extent(0));
      if (Status status = search(part_of(queries_, 0, first, count), Form::reference, expected); !status.ok()) return status;
      for (std::int64_t q = 0; q < count; ++q)
        for (std::int64_t r = 0; r < expected.ids.extents()[1]; ++r) {
          const double want = expected.distances(q, r), gap = std::abs(got_.distances(first + q, r) - want) / std::max(1.0, want);
          const bool same = got_.ids(first + q, r) == expected.ids(q, r);
          if (!(gap <= proof.error) || !same) proof.error = same ? gap : std::numeric_limits<double>::infinity();
        }
    }
    return proof;
  }

 private:
  struct Found {
    Found(std::int64_t queries, std::int64_t keys)
        : ids({queries, knn_columns(keys, kNeighbours, true)}, -1), distances(ids.extents(), std::numeric_limits<double>::quiet_NaN()) {}
    Tensor<std::int64_t, 2> ids;
    Tensor<double, 2> distances;
  };

  Status search(const View<T, 2>& queries, Form form, Found& to) const {
    return knn_search(KnnSearchArguments<T>{.keys = keys_,
                                            .queries = queries,
                                            .k = kNeighbours,
                                            .at_most_k = true,
                                            .form = form,
                                            .executor = executor_,
                                            .ids = to.ids.view(),
                                            .distances = to.distances.view()});
  }

  Arrays<T> arrays_;
  View<T, 2> keys_, queries_;
  Found got_, first_;
  const Executor* executor_ = nullptr;
};

}  // namespace

void add_knn_cases(const CaseOptions& options, const std::string& setting, std::vector<Case>& to) {
  if (setting != "search" && setting != "batch") return;
  const std::int64_t value_bytes = options.wide ? 8 : 4, queries = setting == "search" ? 1 : kBatch;
  for (const std::int64_t width : options.widths) {
    const std::int64_t keys = std::max<std::int64_t>(options.state_bytes / (width * value_bytes), 1);
    Case made{.mechanism = "knn",
              .setting = setting,
              .shape = "M " + std::to_string(keys) + ", D " + std::to_string(width) + ", Q " + std::to_string(queries)};
    made.wide = options.wide;
    made.tolerance = 0;                                                   // the definition's bits
    made.work.flops = 3.0 * static_cast<double>(keys * width * queries);  // a difference, a product, a sum
    made.limit = queries == 1 ? Limit::read : Limit::multiply_add;
    made.limit_bytes = keys * width * value_bytes;
    if (queries == 1) made.work.bytes = static_cast<double>(made.limit_bytes);
    made.make = [=, wide = options.wide]() -> std::unique_ptr<Workload> {
      if (wide) return std::make_unique<KnnWorkload<double>>(keys, width, queries);
      return std::make_unique<KnnWorkload<float>>(keys, width, queries);
    };
    to.push_back(std::move(made));
  }
}

}  // namespace linearmem::bench
