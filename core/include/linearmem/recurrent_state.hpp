// What may be asked of the state that a recurrent mechanism carries: the format it is kept in, and copies of it on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "linearmem/view.hpp"

namespace linearmem {

// A state kept in one of these is rounded to it, to nearest even, when it is loaded and after every write, whatever type the call
// computes in: the drift that a narrow state brings can be measured apart from everything else.
enum class StateType {
  float64,
  float32,
  bfloat16,  // 8 bits of precision, the exponents of float32
  float16,   // 11 bits of precision; from 65520 on infinite
};

std::string_view state_type_name(StateType type);  // "f64", "f32", "bf16", "f16"
std::optional<StateType> state_type_named(std::string_view name);

// Rows of a checkpoint tensor: of each sequence in turn the states after its tokens n, 2n, ..., floor(length / n) of them, where n is
// `every`. 0 where n is below 1. B rows of T tokens, or the packed sequences of cu_seqlens.
std::int64_t checkpoint_count(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t B, std::int64_t T, std::int64_t every);

}  // namespace linearmem
