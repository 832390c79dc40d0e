// Figures that show matrices: every series of such a panel is one matrix, its y the numbers row by row, `columns` to a row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "linearmem/experiments.hpp"
#include "linearmem/random.hpp"

namespace linearmem {

inline Series matrix_series(const char* memory, std::string label, std::vector<double> values) {
  std::vector<double> places(values.size());
  std::iota(places.begin(), places.end(), 0.0);
  return {memory, std::move(label), std::move(places), std::move(values)};
}

// limit: of the one colour scale of all matrices of the panel, -limit to limit; at least the largest number in them.
inline Panel matrix_panel(const char* name, std::int64_t columns, std::vector<Series> matrices, double limit = 0) {
  for (const Series& matrix : matrices)
    for (double value : matrix.y) limit = std::max(limit, std::abs(value));
  return {name, {"cell", "", false}, {"value", "", false}, std::move(matrices), {}, columns, limit > 0 ? limit : 1.0};
}

// Claim LM05's inputs at any seed: q [8,4], k [8,4], v [8,3], drawn in that order.
struct NotesTokens {
  static constexpr std::int64_t kT = 8, kK = 4, kV = 3;

  explicit NotesTokens(double seed) {
    Generator generator(static_cast<std::uint64_t>(seed));
    q = generator.normal_vector(kT * kK);
    k = generator.normal_vector(kT * kK);
    v = generator.normal_vector(kT * kV);
  }

  std::vector<double> q, k, v;
};

}  // namespace linearmem
