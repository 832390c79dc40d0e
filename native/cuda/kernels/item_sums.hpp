// The sums that sampling asks for (associative_memory/item_sums.hpp), in float64: items lie as they were drawn, in tiles of kTileItems with
// keys [kTileItems,K] before values [kTileItems,V]. Rows are normalized; slices of items are weighted and summed, a block for some queries
// of each; then the slices are joined in their order, so that no number of blocks changes a bit.
#pragma once

#include "kernels/block.hpp"

namespace linearmem::cuda {

constexpr int kTileItems = 64;
constexpr int kSliceItems = 256;
constexpr int kSliceQueries = 4;  // of a block
constexpr int kMostTerms = 17;

// w(s) = exp(beta s), or a polynomial in beta s, negative s cut to 0 first where `cut`.
struct WeightLine {
  std::int64_t begin, end;  // the places where it reports
  std::int64_t first_row;   // of its reports
  double beta;
  double coefficients[kMostTerms];
  int degree;
  bool exponential, cut;
};

// Items [first, first + count) of those at hand; they belong to the sums of `place` and all later ones. `last`: none after them does.
struct Slice {
  std::int64_t first, place;
  std::int32_t count;
  bool last;
};

struct UnitRowsArguments {
  double* numbers = nullptr;  // [tiles,kTileItems K + kTileItems V]
  std::int64_t rows, K, V;    // rows: 2 kTileItems tiles
};

struct UnitRows {
  using Arguments = UnitRowsArguments;
  static constexpr int kMostThreads = 128;
  static constexpr int kLeastBlocks = 1;

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    block.each_apart([&](int thread) {
      const std::int64_t row = block.index() * block.threads() + thread, tile = row / (2 * kTileItems), s = row % (2 * kTileItems);
      if (row >= a.rows) return;
      const bool key = s < kTileItems;
      const std::int64_t width = key ? a.K : a.V;
      double* numbers = a.numbers + tile * kTileItems * (a.K + a.V) + (key ? s * a.K : kTileItems * a.K + (s - kTileItems) * a.V);
      double squares = 0;
      for (std::int64_t i = 0; i < width; ++i) squares += numbers[i] * numbers[i];
      const double length = sqrt(squares);
      for (std::int64_t i = 0; i < width; ++i) numbers[i] /= length;
    });
  }
};

struct SliceSumsArguments {
  const double* numbers = nullptr;  // of UnitRows
  const double* queries = nullptr;  // [Q,K]
  const Slice* slices = nullptr;
  const WeightLine* lines = nullptr;  // [L]
  double* sums = nullptr;             // [slices,L,Q,V]
  double* largest = nullptr;          // [slices,L,Q]; 0 where not exponential
  std::int64_t K, V, Q, L;
  std::int64_t groups;  // Q / kSliceQueries, rounded up
};

struct SliceSums {
  using Arguments = SliceSumsArguments;
  static constexpr int kMostThreads = 128;
  static constexpr int kLeastBlocks = 1;

  // Of a block: its slice and queries; shared [kSliceQueries,kSliceItems] twice, and the least and most of each query's scores.
  struct Place {
    Slice slice;
    std::int64_t index, first_query;
    double *scores, *weights, *least, *most;  // [kSliceQueries,parts], then in the first of each
    int parts;
  };

  static constexpr std::int64_t shared_bytes(int threads) {
    return static_cast<std::int64_t>(sizeof(double)) * (2 * kSliceQueries * kSliceItems + 2 * threads);
  }

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    Place at;
    at.index = block.index() / a.groups;
    at.slice = a.slices[at.index];
    at.first_query = block.index() % a.groups * kSliceQueries;
    at.scores = static_cast<double*>(block.shared());
    at.weights = at.scores + kSliceQueries * kSliceItems;
    at.least = at.weights + kSliceQueries * kSliceItems;
    at.most = at.least + block.threads();
    at.parts = block.threads() / kSliceQueries;
    block.each([&](int thread) {
      for (int i = thread; i < at.slice.count; i += block.threads()) score(a, at, i);
    });
    block.each([&](int thread) { find_ends(at, thread); });
    block.each([&](int thread) {
      if (thread < kSliceQueries) join_ends(at, thread * at.parts);
    });
    for (std::int64_t l = 0; l < a.L; ++l) {
      const WeightLine& line = a.lines[l];
      if (line.end <= at.slice.place) continue;
      block.each([&](int thread) {
        for (int i = thread; i < kSliceQueries * at.slice.count; i += block.threads()) weigh(at, line, i);
      });
      block.each([&](int thread) {
        for (std::int64_t v = thread; v < a.V; v += block.threads()) add(a, at, l, v);
        if (thread < kSliceQueries && at.first_query + thread < a.Q)
          a.largest[(at.index * a.L + l) * a.Q + at.first_query + thread] = shift_of(at, line, thread);
      });
    }
  }

 private:
  static LINEARMEM_INLINE void score(const Arguments& a, const Place& at, int i) {
    const std::int64_t item = at.slice.first + i;
    const double* key = a.numbers + item / kTileItems * kTileItems * (a.K + a.V) + item % kTileItems * a.K;
    double sums[kSliceQueries] = {};
    for (std::int64_t c = 0; c < a.K; ++c) {
      LINEARMEM_UNROLL
      for (int j = 0; j < kSliceQueries; ++j)
        if (at.first_query + j < a.Q) sums[j] = fma(a.queries[(at.first_query + j) * a.K + c], key[c], sums[j]);
    }
    LINEARMEM_UNROLL
    for (int j = 0; j < kSliceQueries; ++j) at.scores[j * kSliceItems + i] = sums[j];
  }

  static LINEARMEM_INLINE void find_ends(const Place& at, int thread) {
    const double* scores = at.scores + thread / at.parts * kSliceItems;
    double least_score = INFINITY, most_score = -INFINITY;
    for (int i = thread % at.parts; i < at.slice.count; i += at.parts) {
      least_score = fmin(least_score, scores[i]);
      most_score = fmax(most_score, scores[i]);
    }
    at.least[thread] = least_score;
    at.most[thread] = most_score;
  }

  // The ends of a query's parts, into its first.
  static LINEARMEM_INLINE void join_ends(const Place& at, int first) {
    for (int i = first + 1; i < first + at.parts; ++i) {
      at.least[first] = fmin(at.least[first], at.least[i]);
      at.most[first] = fmax(at.most[first], at.most[i]);
    }
  }

  // The largest beta s.
  static LINEARMEM_INLINE double shift_of(const Place& at, const WeightLine& line, int query) {
    if (!line.exponential) return 0;
    return line.beta * (line.beta >= 0 ? at.most : at.least)[query * at.parts];
  }

  static LINEARMEM_INLINE void weigh(const Place& at, const WeightLine& line, int i) {
    const int query = i / at.slice.count, place = query * kSliceItems + i % at.slice.count;
    double x = line.beta * at.scores[place];
    if (line.exponential) {
      at.weights[place] = exp(x - shift_of(at, line, query));
      return;
    }
    if (line.cut) x = fmax(x, 0.0);
    double sum = line.coefficients[line.degree];
    for (int j = line.degree - 1; j >= 0; --j) sum = fma(sum, x, line.coefficients[j]);
    at.weights[place] = sum;
  }

  static LINEARMEM_INLINE void add(const Arguments& a, const Place& at, std::int64_t l, std::int64_t v) {
    double sums[kSliceQueries] = {};
    for (int i = 0; i < at.slice.count; ++i) {
      const std::int64_t item = at.slice.first + i;
      const double value = a.numbers[item / kTileItems * kTileItems * (a.K + a.V) + kTileItems * a.K + item % kTileItems * a.V + v];
      LINEARMEM_UNROLL
      for (int j = 0; j < kSliceQueries; ++j) sums[j] = fma(at.weights[j * kSliceItems + i], value, sums[j]);
    }
    LINEARMEM_UNROLL
    for (int j = 0; j < kSliceQueries; ++j)
      if (at.first_query + j < a.Q) a.sums[((at.index * a.L + l) * a.Q + at.first_query + j) * a.V + v] = sums[j];
  }
};

struct JoinSlicesArguments {
  const double *sums = nullptr, *largest = nullptr;  // of SliceSums
  const Slice* slices = nullptr;                     // in the order of their items
  const WeightLine* lines = nullptr;
  double *running = nullptr, *running_largest = nullptr;  // [L,Q,V], from the slices before
  double *row_sums = nullptr, *row_largest = nullptr;     // [rows,Q,V], [rows,Q]
  std::int64_t count, V, Q, L;                            // count: slices
  bool first;                                             // nothing is running yet
};

// A thread goes through all slices for one line, query and column.
struct JoinSlices {
  using Arguments = JoinSlicesArguments;
  static constexpr int kMostThreads = 128;
  static constexpr int kLeastBlocks = 1;

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    block.each_apart([&](int thread) {
      const std::int64_t i = block.index() * block.threads() + thread;
      if (i < a.L * a.Q * a.V) join(a, i);
    });
  }

 private:
  static LINEARMEM_INLINE void join(const Arguments& a, std::int64_t i) {
    const std::int64_t v = i % a.V, q = i / a.V % a.Q, l = i / a.V / a.Q;
    const WeightLine& line = a.lines[l];
    double sum = a.first ? 0 : a.running[i], largest = a.first ? -INFINITY : a.running_largest[i];
    for (std::int64_t s = 0; s < a.count; ++s) {
      const Slice& slice = a.slices[s];
      if (line.end <= slice.place) break;
      const double part = a.sums[((s * a.L + l) * a.Q + q) * a.V + v];
      if (line.exponential) {
        const double part_largest = a.largest[(s * a.L + l) * a.Q + q], most = fmax(largest, part_largest);
        sum = sum * exp(largest - most) + part * exp(part_largest - most);
        largest = most;
      } else {
        sum += part;
      }
      if (slice.last && slice.place >= line.begin) {
        const std::int64_t row = (line.first_row + slice.place - line.begin) * a.Q + q;
        a.row_sums[row * a.V + v] = sum;
        if (v == 0) a.row_largest[row] = line.exponential ? largest : 0;
      }
    }
    a.running[i] = sum;
    a.running_largest[i] = largest;
  }
};

}  // namespace linearmem::cuda
