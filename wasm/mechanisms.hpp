// How specifications of tensors and options cross the border.
#pragma once

#include "boundary.hpp"
#include "linearmem/conventions.hpp"

namespace linearmem::wasm {

const char* kind_name(TensorKind kind);  // "floating", "integer", "boolean"
val options_to_val(const std::vector<OptionSpec>& options);

}  // namespace linearmem::wasm
