// Averages over the inner product s of a fixed and a random unit vector.
#pragma once

#include <cstdint>
#include <functional>

namespace linearmem::associative {

// E[f(s)], the density of s being proportional to (1 - s^2)^((K-3)/2), K >= 2, to 1e-10 of E|f|. f is smooth on either side of 0.
double sphere_average(const std::function<double(double)>& f, std::int64_t K);

}  // namespace linearmem::associative
