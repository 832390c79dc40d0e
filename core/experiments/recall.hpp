// Recall without training: pairs of random unit vectors are written to a memory through its own door, keys are read back, and what is
// read is decoded as the nearest of the stored values. The same for every memory, so that what differs is the memory.
#pragma once

#include <optional>
#include <vector>

#include "linearmem/random.hpp"
#include "linearmem/recurrent_state.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {

enum class Recalling { softmax, window, outer_product, linear_attention, delta, gated_delta, ssd, least_squares };

// A memory and its numbers. Those it does not use are not looked at.
struct RecallMemory {
  Recalling kind = Recalling::softmax;
  double beta = 32;                     // softmax, window: how sharply the best key is picked
  std::int64_t window = 16;             // window: pairs that are kept
  double alpha = 0.99;                  // gated_delta, ssd: what one write leaves of the ones before it
  std::optional<StateType> state = {};  // outer_product, linear_attention, delta, gated_delta: the format the state is kept in
};

// As Series::memory and Series::label have it.
struct MemoryName {
  const char* memory;
  const char* label;
};
constexpr MemoryName name_of(Recalling kind) {
  constexpr MemoryName kNames[] = {{"softmax_attention", "explicit K,V"}, {"window", "window"},
                                   {"outer_product", "outer product"},    {"linear_attention", "linear attention"},
                                   {"delta_rule", "delta"},               {"gated_delta_rule", "gated delta"},
                                   {"ssd", "SSD"},                        {"least_squares", "least squares"}};
  return kNames[static_cast<int>(kind)];
}

// M pairs, K key width, V value width.
struct RecallPairs {
  Tensor<double, 2> keys;    // [M,K]
  Tensor<double, 2> values;  // [M,V]
};

// Unit rows, keys before values.
RecallPairs random_pairs(Generator& generator, std::int64_t M, std::int64_t K, std::int64_t V);

// What the queries [Q,K] read after all pairs were written in order: [Q,V], unscaled.
Result<Tensor<double, 2>> recall_reads(const RecallMemory& memory, const RecallPairs& pairs, const Tensor<double, 2>& queries);

// Pairs whose keys are read back, and the pairs whose values they should give.
struct Questions {
  std::vector<std::int64_t> asked, expected;
};
Result<std::vector<std::int64_t>> recall_answers(const RecallMemory& memory, const RecallPairs& pairs,
                                                 const std::vector<std::int64_t>& asked);
Result<std::int64_t> recalled(const RecallMemory& memory, const RecallPairs& pairs, const Questions& questions);

// Row of `values` with the largest inner product: the nearest, where all rows have one length. The first of equals.
std::int64_t nearest_row(const Tensor<double, 2>& values, const double* read);

// What must be kept between two tokens in float32: every pair, those of the window, or a state.
std::int64_t recall_bytes(const RecallMemory& memory, std::int64_t M, std::int64_t K, std::int64_t V);

// Multiply-adds of writing M pairs and reading Q keys, roughly: what steps are weighed by.
double recall_work(Recalling kind, std::int64_t M, std::int64_t Q, std::int64_t K, std::int64_t V);

// A share of hits and the interval in which the probability lies with 95 % confidence. Source: Wilson 1927.
struct Share {
  double value, low, high;
};
Share wilson(double hits, double tries);

// The probability that the outer product's read of one of M random unit keys is nearest to its own value, V-wide random unit values:
// scores are taken as normal, and as independent given the length of what the other pairs add.
double outer_product_recall(double M, double K, double V);

}  // namespace linearmem
