// Moves the numbers of a tensor between two orders of axes, unchanged bit for bit: axes exchanged, packed or taken apart, heads repeated or
// brought from tiled into interleaved order.
#pragma once

#include "conventions/sizes.hpp"
#include "linearmem/conventions.hpp"

namespace linearmem {

// Tiled heads: value head h meets key head h mod H there, h / (Hv/H) here. No letters: there is no such axis.
struct TiledHeads {
  const char* values = nullptr;
  const char* keys = nullptr;
};

// Every letter of `entry` is known to `sizes`.
Result<NamedTensor> moved_to_ours(const ConventionTensor& entry, const NamedTensor& theirs, const Sizes& sizes, const TiledHeads& tiled);

// Errors: heads that share one place there and differ here.
Result<NamedTensor> moved_to_theirs(const ConventionTensor& entry, const NamedTensor& ours, const Sizes& sizes, const TiledHeads& tiled);

}  // namespace linearmem
