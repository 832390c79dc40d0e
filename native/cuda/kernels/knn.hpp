// The exact search: every distance as the definition has it, float64, column after column, product and sum rounded apart; then the k
// smallest by sorting segments and keeping the front of each until one segment is left. Ties go to the smaller id.
#pragma once

#include "kernels/block.hpp"

namespace linearmem::cuda {

constexpr int kKnnThreads = 128;   // keys of a block
constexpr int kKnnQueries = 4;     // that share one reading of the keys
constexpr int kKnnColumns = 32;    // in shared memory at a time
constexpr int kSegment = 2048;     // candidates that are sorted at once
constexpr int kMostNeighbours = kSegment / 2;
constexpr int kSortThreads = 256;

struct KnnDistanceArguments {
  Array<const float, 2> keys, queries;  // [M,D], [Q,D]
  double* distances = nullptr;          // [Q,M]
  int* failed = nullptr;                // becomes 1 where a key or a distance is not finite
  std::int64_t M, Q, D;
  std::int64_t tiles;  // M / kKnnThreads, rounded up
  bool inner_product;
};

constexpr std::int64_t knn_distance_shared_floats() { return kKnnThreads * (kKnnColumns + 1) + kKnnQueries * kKnnColumns; }

struct KnnDistance {
  using Arguments = KnnDistanceArguments;
  static constexpr int kMostThreads = kKnnThreads;
  static constexpr int kLeastBlocks = 1;

  struct Sums {
    double at[kKnnQueries];
    bool finite;  // the key so far
  };

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    const std::int64_t first_key = block.index() % a.tiles * kKnnThreads, first_query = block.index() / a.tiles * kKnnQueries;
    float* keys = static_cast<float*>(block.shared());
    float* queries = keys + kKnnThreads * (kKnnColumns + 1);
    typename Block::template Registers<Sums> sums(block);
    block.each_apart([&](int thread) { sums[thread] = {{}, true}; });
    for (std::int64_t d = 0; d < a.D; d += kKnnColumns) {
      const int count = static_cast<int>(least<std::int64_t>(kKnnColumns, a.D - d));
      block.each([&](int thread) {
        stage(a.keys, a.M, first_key, d, kKnnThreads, count, kKnnColumns + 1, keys, thread);
        stage(a.queries, a.Q, first_query, d, kKnnQueries, count, kKnnColumns, queries, thread);
      });
      block.each([&](int thread) { add(keys + thread * (kKnnColumns + 1), queries, count, a.inner_product, sums[thread]); });
    }
    block.each_apart([&](int thread) { hand_over(a, first_key + thread, first_query, sums[thread]); });
  }

 private:
  // Columns [d, d + count) of `number` rows from `first` on; zeros past the last of `rows` rows and in the columns left of kKnnColumns.
  static LINEARMEM_INLINE void stage(const Array<const float, 2>& from, std::int64_t rows, std::int64_t first, std::int64_t d, int number, int count,
                                     int stride, float* to, int thread) {
    for (int i = thread; i < number * kKnnColumns; i += kKnnThreads) {
      const int row = i / kKnnColumns, c = i % kKnnColumns;
      to[row * stride + c] = first + row < rows && c < count ? from.at(first + row, d + c) : 0.0f;
    }
  }

  static LINEARMEM_INLINE void add(const float* key, const float* queries, int count, bool inner_product, Sums& sums) {
    for (int c = 0; c < count; ++c) {
      const double k = key[c];
      sums.finite = sums.finite && is_finite(key[c]);
      LINEARMEM_UNROLL
      for (int q = 0; q < kKnnQueries; ++q) {
        const double x = queries[q * kKnnColumns + c];
        const double term = inner_product ? -(x * k) : (x - k) * (x - k);
        sums.at[q] += term;
      }
    }
  }

  static LINEARMEM_INLINE void hand_over(const Arguments& a, std::int64_t key, std::int64_t first_query, const Sums& sums) {
    if (key >= a.M) return;
    bool finite = sums.finite;
    LINEARMEM_UNROLL
    for (int q = 0; q < kKnnQueries; ++q) {
      if (first_query + q >= a.Q) break;
      a.distances[(first_query + q) * a.M + key] = sums.at[q];
      finite = finite && is_finite(sums.at[q]);
    }
    if (!finite) *a.failed = 1;
  }
};

struct KnnSelectArguments {
  const double* distances = nullptr;   // [Q,L]
  const std::int64_t* ids = nullptr;   // [Q,L]; absent: the place itself
  double* nearest = nullptr;           // [Q,segments,k], ascending in each segment, past its candidates infinity
  std::int64_t* nearest_ids = nullptr;  // past a segment's candidates the largest id
  std::int64_t L, segments, k;         // segments: L / kSegment, rounded up
};

struct KnnSelect {
  using Arguments = KnnSelectArguments;
  static constexpr int kMostThreads = kSortThreads;
  static constexpr int kLeastBlocks = 1;

  static constexpr std::int64_t shared_bytes() { return kSegment * static_cast<std::int64_t>(sizeof(double) + sizeof(std::int64_t)); }

  template <typename Block>
  static LINEARMEM_DEVICE void run(Block& block, const Arguments& a) {
    const std::int64_t q = block.index() / a.segments, segment = block.index() % a.segments, first = segment * kSegment;
    double* distances = static_cast<double*>(block.shared());
    std::int64_t* ids = reinterpret_cast<std::int64_t*>(distances + kSegment);
    block.each([&](int thread) {
      for (int i = thread; i < kSegment; i += kSortThreads) {
        const bool inside = first + i < a.L;
        const std::int64_t from = q * a.L + first + i;
        distances[i] = inside ? a.distances[from] : static_cast<double>(INFINITY);
        ids[i] = !inside ? INT64_MAX : a.ids ? a.ids[from] : first + i;
      }
    });
    for (int size = 2; size <= kSegment; size *= 2)
      for (int stride = size / 2; stride > 0; stride /= 2)
        block.each([&](int thread) {
          for (int pair = thread; pair < kSegment / 2; pair += kSortThreads) order(distances, ids, pair, size, stride);
        });
    block.each_apart([&](int thread) {
      for (std::int64_t r = thread; r < a.k; r += kSortThreads) {
        a.nearest[(q * a.segments + segment) * a.k + r] = distances[r];
        a.nearest_ids[(q * a.segments + segment) * a.k + r] = ids[r];
      }
    });
  }

 private:
  // One exchange of a bitonic sort (Batcher 1968): pair number `pair` of those `stride` apart.
  static LINEARMEM_INLINE void order(double* distances, std::int64_t* ids, int pair, int size, int stride) {
    const int low = pair / stride * 2 * stride + pair % stride, high = low + stride;
    const bool rising = (low & size) == 0;
    const bool exchange = nearer(distances[high], ids[high], distances[low], ids[low]) == rising;
    if (!exchange || (distances[high] == distances[low] && ids[high] == ids[low])) return;
    const double distance = distances[low];
    const std::int64_t id = ids[low];
    distances[low] = distances[high];
    ids[low] = ids[high];
    distances[high] = distance;
    ids[high] = id;
  }
  static LINEARMEM_INLINE bool nearer(double a, std::int64_t i, double b, std::int64_t j) { return a < b || (a == b && i < j); }
};

}  // namespace linearmem::cuda
