// Between a [K,V] matrix, whose rows lie `row` apart, and the tile order of the kernels. tiles holds K * padded_columns<T>(V) values, zero-filled at
// first: the columns past V stay zero, their keys and values being multiplied into zeros only.
#pragma once

#include <cstdint>

namespace linearmem {

void load_tiles(const float* matrix, std::int64_t row, float* tiles, std::int64_t K, std::int64_t V);
void load_tiles(const double* matrix, std::int64_t row, double* tiles, std::int64_t K, std::int64_t V);
void store_tiles(const float* tiles, float* matrix, std::int64_t row, std::int64_t K, std::int64_t V);
void store_tiles(const double* tiles, double* matrix, std::int64_t row, std::int64_t K, std::int64_t V);

}  // namespace linearmem
