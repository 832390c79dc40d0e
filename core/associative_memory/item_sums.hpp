// What sampling asks of a backend: the items of one seed drawn from their stream, and their weighted sums.
#pragma once

#include <span>

#include "associative_memory/kernel.hpp"
#include "linearmem/random.hpp"
#include "linearmem/view.hpp"

namespace linearmem::associative {

// Sums for one rule at one beta, reporting at places [begin, end): where beta grows with M every M needs sums of its own.
struct SampledLine {
  std::size_t rule, begin, end;
  KernelRule kernel;
  double beta;
};

// Items as SampleStream draws them: in tiles of kTileItems, keys then values, rows normalized. Place p sums the first items[p] of them;
// sums and largest have a row for each place of the first line, then of the second, ...
struct ItemSumsArguments {
  Pcg64::Place stream;                    // before the first item
  View<const double, 2> queries;          // [Q,K]
  std::int64_t V;
  std::span<const std::int64_t> items;    // rising, from 0
  std::span<const SampledLine> lines;

  View<double, 3> sums;     // [rows,Q,V], sum of w v; where exponential w is exp(beta s - largest)
  View<double, 2> largest;  // [rows,Q]
};

}  // namespace linearmem::associative
