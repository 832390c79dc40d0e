// The forms of a read, on checked arguments. All sum in float64; o is packed [Q,V] and is overwritten.
#pragma once

#include "linearmem/associative_memory.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem::associative {

struct Read {
  View<const double, 2> keys, values, queries;
  ResponseRule rule;
  View<double, 2> o;
};

void reference(const Read& read);   // every response but least_squares
void two_layers(const Read& read);  // the same
void weights_of(const View<const double, 2>& keys, const View<const double, 2>& queries, const ResponseRule& rule,
                const View<double, 2>& weights);

// Keys, values and queries as they came, item by item into the kernel's tiles.
template <typename T>
void streaming(const View<const T, 2>& keys, const View<const T, 2>& values, const View<const T, 2>& queries, const ResponseRule& rule,
               const View<double, 2>& o);

// S = pinv(keys) values, which is overwritten, and queries pinv(keys). The report lacks the residual.
WriteReport least_squares(const View<const double, 2>& keys, const View<const double, 2>& values, const View<double, 2>& S);
void least_squares_weights(const View<const double, 2>& keys, const View<const double, 2>& queries, const View<double, 2>& weights);

// o = queries S
void read_state(const View<const double, 2>& queries, const View<const double, 2>& S, const View<double, 2>& o);

}  // namespace linearmem::associative
