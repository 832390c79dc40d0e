// The streaming form: the kernel's rounded scores say which keys may be near; only those are measured exactly. A score of D columns is
// off by at most (D + 4) roundings, so a key whose score is above the bound below is farther than the k-th found so far.
#include "foundation/sequences.hpp"
#include "foundation/work_split.hpp"
#include "knn_memory/forms.hpp"
#include "knn_memory/kernel.hpp"

namespace linearmem::knn {
namespace {

constexpr std::int64_t kBlockQueries = 64;  // that share one reading of the keys
constexpr std::int64_t kFewQueries = 6;     // below, turning keys into panels costs more than it brings

// Queries [first, first + count) in the kernel's order.
template <typename T>
class PackedQueries {
 public:
  PackedQueries(const Search<T>& search, std::int64_t first, std::int64_t count)
      : first_(first), count_(count), by_panel_(count >= kFewQueries), Q_(by_panel_ ? padded_queries(count) : count),
        values_(Q_ * search.queries.extent(1)), bounds_(Q_), scores_(Q_ * kBlockKeys), passed_(Q_),
        panel_(by_panel_ ? kBlockKeys * search.queries.extent(1) : 0), lengths_(static_cast<std::size_t>(count)) {
    const std::int64_t D = search.queries.extent(1);
    for (std::int64_t q = 0; q < count; ++q) {
      double square = 0;
      for (std::int64_t d = 0; d < D; ++d) {
        const T value = search.queries(first + q, d);
        values_.data()[by_panel_ ? (q / kQueryGroup * D + d) * kQueryGroup + q % kQueryGroup : q * D + d] = value;
        square += static_cast<double>(value) * static_cast<double>(value);
      }
      lengths_[static_cast<std::size_t>(q)] = std::sqrt(square);
    }
    std::fill_n(bounds_.data(), Q_, std::numeric_limits<T>::lowest());  // of queries that are none
  }

  std::int64_t first() const { return first_; }
  std::int64_t count() const { return count_; }
  double length(std::int64_t q) const { return lengths_[static_cast<std::size_t>(q)]; }
  T* bounds() { return bounds_.data(); }
  const T* scores(std::int64_t q) const { return scores_.data() + q * kBlockKeys; }
  bool passed(std::int64_t q) const { return passed_.data()[q]; }

  void score(const KeyBlock<T>& block) {
    const QueryBlock<T> to{values_.data(), Q_, bounds_.data(), scores_.data(), passed_.data()};
    if (by_panel_) scores_by_panel(block, to, panel_.data());
    else scores_by_key(block, to);
  }

 private:
  std::int64_t first_, count_;
  bool by_panel_;
  std::int64_t Q_;
  AlignedBuffer<T> values_, bounds_, scores_;
  AlignedBuffer<bool> passed_;
  AlignedBuffer<T> panel_;
  std::vector<double> lengths_;
};

// The largest score that a key at distance `worst` may show. magnitude: of inner products, |q| times the block's longest key.
template <typename T>
T bound_of(double worst, double magnitude, std::int64_t D, Metric metric) {
  const double rounding = static_cast<double>(D + 8) * static_cast<double>(std::numeric_limits<T>::epsilon());
  const double smallest = static_cast<double>(4 * D) * static_cast<double>(std::numeric_limits<T>::denorm_min());
  if (rounding > 0.25) return std::numeric_limits<T>::infinity();
  const double bound = metric == Metric::squared_l2 ? worst * (1 + rounding) + smallest : worst + 2 * rounding * magnitude + smallest;
  const double most = static_cast<double>(std::numeric_limits<T>::max()) * (1 - rounding);
  return bound < most ? std::nextafter(static_cast<T>(bound), std::numeric_limits<T>::infinity()) : std::numeric_limits<T>::infinity();
}

// One pass of a block of queries over keys [rows.first, rows.first + rows.count).
template <typename T>
class Pass {
 public:
  Pass(const Search<T>& search, PackedQueries<T>& queries, std::vector<Nearest>& lists) : search_(search), queries_(queries), lists_(lists) {
    if (search.keys.stride(1) != 1) packed_.resize(static_cast<std::size_t>(kBlockKeys * search.keys.extent(1)));
  }

  Refusal run(const Range& rows) {
    const std::int64_t end = rows.first + rows.count;
    for (std::int64_t first = rows.first; first < end; first += kBlockKeys) {
      const std::int64_t count = std::min(kBlockKeys, end - first);
      const KeyBlock<T> block = block_at(first, count, end);
      set_bounds(block);
      queries_.score(block);
      for (std::int64_t q = 0; q < queries_.count(); ++q) {
        if (!queries_.passed(q)) continue;
        if (const Refusal refusal = measure(q, first, count); refusal.key >= 0) return first_refusal(first, count, refusal);
      }
    }
    return {};
  }

 private:
  KeyBlock<T> block_at(std::int64_t first, std::int64_t count, std::int64_t end) {
    const View<const T, 2>& keys = search_.keys;
    const std::int64_t D = keys.extent(1);
    KeyBlock<T> block{keys.data() + first * keys.stride(0), keys.stride(0), count, end - first - count, D, search_.metric == Metric::inner_product};
    if (packed_.empty()) return block;
    for (std::int64_t r = 0; r < count; ++r)
      for (std::int64_t d = 0; d < D; ++d) packed_[static_cast<std::size_t>(r * D + d)] = keys(first + r, d);
    block.keys = packed_.data(), block.stride = D, block.ahead = 0;
    return block;
  }

  void set_bounds(const KeyBlock<T>& block) {
    const double longest = block.inner_product ? std::sqrt(static_cast<double>(largest_square(block))) : 0;
    for (std::int64_t q = 0; q < queries_.count(); ++q)
      queries_.bounds()[q] = bound_of<T>(list(q).worst(), queries_.length(q) * longest, block.D, search_.metric);
  }

  // Measures what passed; the bound falls on the way.
  Refusal measure(std::int64_t q, std::int64_t first, std::int64_t count) {
    const T* scores = queries_.scores(q);
    T bound = queries_.bounds()[q];
    for (std::int64_t r = 0; r < count; ++r) {
      if (scores[r] > bound && std::isfinite(scores[r])) continue;
      const double distance = exact_distance(search_.keys, first + r, search_.queries, queries_.first() + q, search_.metric);
      if (!std::isfinite(distance)) return {.key = first + r, .query = queries_.first() + q};
      list(q).offer({distance, first + r});
      if (search_.metric == Metric::squared_l2) bound = bound_of<T>(list(q).worst(), 0, search_.keys.extent(1), search_.metric);
    }
    return {};
  }

  // Of a block that has a refusal: the first key that is not finite, if any, whichever query met one first.
  Refusal first_refusal(std::int64_t first, std::int64_t count, const Refusal& met) const {
    for (std::int64_t i = first; i < first + count; ++i)
      for (std::int64_t d = 0; d < search_.keys.extent(1); ++d)
        if (!std::isfinite(search_.keys(i, d))) return {.key = i};
    return met;
  }

  Nearest& list(std::int64_t q) { return lists_[static_cast<std::size_t>(queries_.first() + q)]; }

  const Search<T>& search_;
  PackedQueries<T>& queries_;
  std::vector<Nearest>& lists_;
  std::vector<T> packed_;  // keys of a block whose columns are apart
};

// Into how many runs of keys to cut.
template <typename T>
std::int64_t parts_of(const Search<T>& search) {
  const std::int64_t M = search.keys.extent(0);
  const double work = static_cast<double>(M) * static_cast<double>(search.queries.extent(0)) * static_cast<double>(search.keys.extent(1));
  if (!search.executor || search.executor->width() <= 1 || work < static_cast<double>(search.executor->least_work())) return 1;
  return std::clamp<std::int64_t>(search.executor->width(), 1, std::max<std::int64_t>((M + kBlockKeys - 1) / kBlockKeys, 1));
}

}  // namespace

template <typename T>
Refusal streaming(const Search<T>& search, std::vector<Nearest>& lists) {
  const std::int64_t M = search.keys.extent(0), Q = search.queries.extent(0), parts = parts_of(search);
  std::vector<std::vector<Nearest>> found(static_cast<std::size_t>(parts), lists);
  std::vector<Refusal> refusals(static_cast<std::size_t>(parts));
  run_items(search.executor, parts, [&](std::int64_t part) {
    const Range rows = Piece{0, 0, 1, part, parts}.of(M, kBlockKeys);
    Refusal& refusal = refusals[static_cast<std::size_t>(part)];
    for (std::int64_t first = 0; first < Q && refusal.key < 0; first += kBlockQueries) {
      PackedQueries<T> queries(search, first, std::min(kBlockQueries, Q - first));
      refusal = Pass<T>(search, queries, found[static_cast<std::size_t>(part)]).run(rows);
    }
  });
  for (const Refusal& refusal : refusals)
    if (refusal.key >= 0) return refusal;
  lists = std::move(found.front());
  for (std::size_t part = 1; part < found.size(); ++part)
    for (std::size_t q = 0; q < lists.size(); ++q)
      for (const Neighbour& neighbour : found[part][q].all()) lists[q].offer(neighbour);
  return {};
}

template Refusal streaming(const Search<float>&, std::vector<Nearest>&);
template Refusal streaming(const Search<double>&, std::vector<Nearest>&);

}  // namespace linearmem::knn
