// What interference is to be expected: M items whose keys are independent and uniform on the unit sphere of K dimensions and whose
// values are independent and of unit length. A query matches its own key at inner product rho and is otherwise random.
//
//   R_RMS^2 = E[R^2] = (M - 1) E[f(s)^2] / f(rho)^2,   s the inner product of two random unit vectors
//
// f is the response; softmax divides target and others by the same sum, so its R is that of exp. The sampled counterpart is in
// linearmem/associative_memory_sampling.hpp; neither is made from the other.
#pragma once

#include <cstdint>

#include "linearmem/associative_memory.hpp"

namespace linearmem {

// How E[f(s)^2] is taken. The approximations are named and never mixed into the exact values.
enum class Moments {
  sphere,    // exact: closed for linear, relu and truncated_exp, quadrature to 1e-10 for exp
  gaussian,  // s taken as normal with variance 1/K: closed, and off where the tail of s counts
};

// E[f(s)^2] / f(rho)^2 for K of at least 2: what one other item adds to R^2. beta is that for `items`. Infinite where f(rho) is 0.
// NaN for least_squares, which is no function of s alone.
double interference_per_item(const ResponseRule& rule, std::int64_t K, double rho = 1, Moments moments = Moments::sphere,
                             std::int64_t items = 1);

// R_RMS with M items.
double rms_interference(const ResponseRule& rule, std::int64_t K, std::int64_t M, double rho = 1, Moments moments = Moments::sphere);

// The M at which R_RMS is 1, found as a root in ln M where beta depends on M; infinite where R stays below 1 up to 1e300 items.
double capacity(const ResponseRule& rule, std::int64_t K, double rho = 1, Moments moments = Moments::sphere);

// Least squares, M > K: sqrt(M/K - 1), exact for Gaussian keys and close for keys on the sphere. 0 for M <= K: independent keys are
// recovered exactly.
double least_squares_interference(std::int64_t K, double M);

}  // namespace linearmem
