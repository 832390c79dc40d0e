// Between a packed [K,V] matrix and the tile order of the kernels. tiles holds K * padded_columns<T>(V) values, zero-filled at
// first: the columns past V stay zero, their keys and values being multiplied into zeros only.
#pragma once

#include <cstdint>

namespace linearmem {

void load_tiles(const float* packed, float* tiles, std::int64_t K, std::int64_t V);
void load_tiles(const double* packed, double* tiles, std::int64_t K, std::int64_t V);
void store_tiles(const float* tiles, float* packed, std::int64_t K, std::int64_t V);
void store_tiles(const double* tiles, double* packed, std::int64_t K, std::int64_t V);

}  // namespace linearmem
