// Whether what is asked of a mechanism's state can be given in the form that will run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "foundation/shape_check.hpp"
#include "linearmem/form.hpp"
#include "linearmem/recurrent_state.hpp"

namespace linearmem {

// computes_in_float64: the form's own arithmetic, Form::reference's in any call.
Status check_state_type(const char* door, const std::optional<StateType>& type, Form form, bool computes_in_float64);

// checkpoint_every and its tensors come together. Defines M, the rows of a checkpoint tensor, out of B, T and the sequences.
void check_checkpoints(ShapeCheck& shapes, const View<const std::int64_t, 1>& cu_seqlens, std::int64_t every, bool given);

// The row of a checkpoint tensor where those of sequence n begin.
std::int64_t first_checkpoint(const View<const std::int64_t, 1>& cu_seqlens, std::int64_t tokens, std::int64_t every, std::int64_t n);

}  // namespace linearmem
