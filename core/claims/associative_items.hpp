// Associative memory as the claims use it: doors on plain matrices. A door that refuses leaves NaN, which no check passes.
#pragma once

#include "claims/memories.hpp"
#include "linearmem/associative_memory.hpp"

namespace linearmem {

struct Items {
  Matrix keys, values;
};

Items random_items(std::uint64_t seed, std::int64_t M, std::int64_t K, std::int64_t V);  // unit rows: keys, then values
Items two_items();                                                                       // A: k (1,0), v (1,0); B: k (0.6,0.8), v (0,1)

Matrix associative_read(const Items& items, const Matrix& queries, const ResponseRule& rule, Form form = Form::reference);
Matrix associative_read_float32(const Items& items, const Matrix& queries, const ResponseRule& rule, Form form);
Matrix associative_weights(const Matrix& keys, const Matrix& queries, const ResponseRule& rule);

struct Written {
  Matrix S;
  WriteReport report;
};
Written associative_write(const Items& items, WriteRule rule);
Matrix transposed(const Matrix& matrix);

struct Split {
  Matrix target_part, others, ratio;  // ratio [1,Q]
};
Split interference(const Matrix& weights, const Matrix& values, const std::vector<std::int64_t>& targets);

}  // namespace linearmem
