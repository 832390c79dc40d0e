// The exponential and the logarithm of the ziggurat's rare paths, in plain IEEE operations: the C libraries of the targets
// (glibc, musl) differ in last bits, and the stream must not.
#pragma once

namespace linearmem {

// log(1 - u) for u a multiple of 2^-53 in [0, 1). The ziggurat's tail returns it, so every bit counts: polynomial, order
// and fused multiply-adds are those of fdlibm's log1p as glibc runs it on processors with FMA, which is what NumPy calls.
double log_one_minus(double u);

// exp(t) for t in [-8, 0], error below 1 ulp. Only compared with: see core/foundation/README.md on the odds of an ulp.
double exp_nonpositive(double t);

}  // namespace linearmem
