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
      : first_(first),
        count_(count),
        by_panel_(count >= kFewQueries),
        Q_(by_panel_ ? padded_queries(count) : count),
        values_(Q_ * search.queries.extent(1)),
        bounds_(Q_),
        scores_(Q_ * 2 * kBlockKeys),
        passed_(Q_),
        panel_(by_panel_ ? kBlockKeys * search.queries.extent(1) : 0),
        lengths_(static_cast<std::size_t>(count)) {
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
  bool by_panel() const { return by_panel_; }
  double length(std::int64_t q) const { return lengths_[static_cast<std::size_t>(q)]; }
  T* bounds() { return bounds_.data(); }
  const T* scores(std::int64_t q) const { return scores_.data() + q * 2 * kBlockKeys; }
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

// One pass of a block of queries over keys [rows.first, rows.first + rows.count). False where a distance is not finite.
template <typename T>
class Pass {
 public:
  Pass(const Search<T>& search, PackedQueries<T>& queries, std::vector<Nearest>& lists)
      : search_(search), queries_(queries), lists_(lists) {
    if (search.keys.stride(1) != 1) packed_.resize(static_cast<std::size_t>(2 * kBlockKeys * search.keys.extent(1)));
  }

  // By key from both halves in turn, by panel from front to back.
  bool run(const Range& rows) {
    const std::int64_t end = rows.first + rows.count;
    const std::int64_t front = queries_.by_panel() ? rows.count : (rows.count + 1) / 2;
    for (std::int64_t first = 0; first < front; first += kBlockKeys) {
      const Range here{rows.first + first, std::min(kBlockKeys, front - first)},
          elsewhere{std::min(rows.first + front + first, end), std::clamp<std::int64_t>(rows.count - front - first, 0, kBlockKeys)};
      const KeyBlock<T> block = block_of(here, elsewhere, end);
      set_bounds(block);
      queries_.score(block);
      for (std::int64_t q = 0; q < queries_.count(); ++q)
        if (queries_.passed(q) && !(measure(q, here, 0) && measure(q, elsewhere, kBlockKeys))) return false;
    }
    return true;
  }

 private:
  KeyBlock<T> block_of(const Range& here, const Range& elsewhere, std::int64_t end) {
    const View<const T, 2>& keys = search_.keys;
    const std::int64_t D = keys.extent(1);
    KeyBlock<T> block{.keys = keys.data() + here.first * keys.stride(0),
                      .elsewhere = keys.data() + elsewhere.first * keys.stride(0),
                      .count = here.count,
                      .count_elsewhere = elsewhere.count,
                      .ahead = end - here.first - here.count,
                      .stride = keys.stride(0),
                      .D = D,
                      .inner_product = search_.metric == Metric::inner_product};
    if (keys.stride(1) == 1) return block;
    block.keys = packed(here, 0), block.elsewhere = packed(elsewhere, kBlockKeys), block.ahead = 0, block.stride = D;
    return block;
  }

  // Keys whose columns are apart, copied next to each other.
  const T* packed(const Range& rows, std::int64_t place) {
    const std::int64_t D = search_.keys.extent(1);
    T* to = packed_.data() + place * D;
    for (std::int64_t r = 0; r < rows.count; ++r)
      for (std::int64_t d = 0; d < D; ++d) to[r * D + d] = search_.keys(rows.first + r, d);
    return to;
  }

  void set_bounds(const KeyBlock<T>& block) {
    const double longest = block.inner_product ? std::sqrt(static_cast<double>(largest_square(block))) : 0;
    for (std::int64_t q = 0; q < queries_.count(); ++q)
      queries_.bounds()[q] = bound_of<T>(list(q).worst(), queries_.length(q) * longest, block.D, search_.metric);
  }

  // Measures what passed; the bound falls on the way.
  bool measure(std::int64_t q, const Range& rows, std::int64_t place) {
    const T* scores = queries_.scores(q) + place;
    T bound = queries_.bounds()[q];
    for (std::int64_t r = 0; r < rows.count; ++r) {
      if (scores[r] > bound && std::isfinite(scores[r])) continue;
      const double distance = exact_distance(search_.keys, rows.first + r, search_.queries, queries_.first() + q, search_.metric);
      if (!std::isfinite(distance)) return false;
      list(q).offer({distance, rows.first + r});
      if (search_.metric == Metric::squared_l2) bound = bound_of<T>(list(q).worst(), 0, search_.keys.extent(1), search_.metric);
    }
    return true;
  }

  Nearest& list(std::int64_t q) { return lists_[static_cast<std::size_t>(queries_.first() + q)]; }

  const Search<T>& search_;
  PackedQueries<T>& queries_;
  std::vector<Nearest>& lists_;
  std::vector<T> packed_;
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
bool streaming(const Search<T>& search, std::vector<Nearest>& lists) {
  const std::int64_t M = search.keys.extent(0), Q = search.queries.extent(0), parts = parts_of(search);
  std::vector<std::vector<Nearest>> found(static_cast<std::size_t>(parts), lists);
  std::vector<char> finite(static_cast<std::size_t>(parts), 1);
  run_items(search.executor, parts, [&](std::int64_t part) {
    const Range rows = Piece{0, 0, 1, part, parts}.of(M, kBlockKeys);
    char& fine = finite[static_cast<std::size_t>(part)];
    for (std::int64_t first = 0; first < Q && fine; first += kBlockQueries) {
      PackedQueries<T> queries(search, first, std::min(kBlockQueries, Q - first));
      fine = Pass<T>(search, queries, found[static_cast<std::size_t>(part)]).run(rows);
    }
  });
  if (std::count(finite.begin(), finite.end(), 0) > 0) return false;
  lists = std::move(found.front());
  for (std::size_t part = 1; part < found.size(); ++part)
    for (std::size_t q = 0; q < lists.size(); ++q)
      for (const Neighbour& neighbour : found[part][q].all()) lists[q].offer(neighbour);
  return true;
}

template bool streaming(const Search<float>&, std::vector<Nearest>&);
template bool streaming(const Search<double>&, std::vector<Nearest>&);

}  // namespace linearmem::knn
