// Which sizes make a layer.
#pragma once

#include <cstdint>
#include <string>

#include "linearmem/layers.hpp"

namespace linearmem::layers {

// No single size of a layer is larger: products of three of them and an element's bytes fit in 64 bits.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 20;

std::string kind_of(const LayerSizes& sizes);

// Errors name the size, what it is and what it may be; all of them in one message.
Status check_sizes(const LayerSizes& sizes);

}  // namespace linearmem::layers
