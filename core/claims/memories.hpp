// The mechanisms as the claims use them: one head, one sequence, plain matrices, and the mistakes a reader may switch on.
// A door that refuses leaves NaN, which no check passes.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "linearmem/claims.hpp"
#include "linearmem/form.hpp"
#include "linearmem/random.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {

using Matrix = Tensor<double, 2>;

Matrix rows(std::initializer_list<std::vector<double>> values);
Matrix identity(std::int64_t size);
Matrix missing(std::int64_t rows, std::int64_t columns);  // all NaN
double largest_difference(const Matrix& a, const Matrix& b);
Matrix times(const Matrix& a, const Matrix& b);

// Rows [begin, end).
Matrix slice(const Matrix& matrix, std::int64_t begin, std::int64_t end);

// q (8,4), k (8,4), v (8,3) from default_rng(7), in that order: the inputs of LM03-LM07 and LM13.
struct NotesInputs {
  Matrix q, k, v;
};
NotesInputs notes_inputs();

// Standard normal numbers from default_rng(seed), for claims about any input.
class RandomMatrices {
 public:
  explicit RandomMatrices(std::uint64_t seed) : generator_(seed) {}
  Matrix next(std::int64_t rows, std::int64_t columns);
  Matrix unit_rows(std::int64_t rows, std::int64_t columns);

 private:
  Generator generator_;
};

struct LinearSettings {
  bool normalize = true;
  bool feature_map = true;  // elu+1, or none
  double eps = 1e-6;
  bool causal = true;
  Form form = Form::recurrent;
  std::vector<std::uint8_t> key_mask = {};
};

struct LinearMemory {
  Matrix o;
  Matrix S;
  std::vector<double> z;
};

LinearMemory linear_memory(const NotesInputs& in, const LinearSettings& settings, const Mistakes& mistakes = {});
LinearMemory linear_memory_read_first(const NotesInputs& in, double eps);  // the read of each token before its write
Matrix linear_memory_float32(const NotesInputs& in, Form form, double eps = 1e-6);
Matrix softmax_memory(const NotesInputs& in);

struct DeltaSettings {
  std::vector<double> beta;
  std::vector<double> alpha = {};  // decay factors; empty: none
  std::optional<Matrix> S0 = {};
  std::vector<std::int64_t> cu_seqlens = {};
  Form form = Form::recurrent;
  std::int64_t chunk = 0;
};

struct DeltaMemory {
  Matrix o, reads, S;
};

// scale 1. `in.q` reads; mistakes that touch the rule itself: read_before_write, error_before_decay, single_precision.
DeltaMemory delta_memory(const NotesInputs& in, const DeltaSettings& settings, const Mistakes& mistakes = {});

inline double full_strength(const Mistakes& mistakes) { return mistakes.count(Mistake::half_beta) ? 0.5 : 1.0; }

}  // namespace linearmem
