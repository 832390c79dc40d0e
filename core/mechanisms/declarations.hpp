// One declaration per mechanism, each in the file of its room; registry.cpp lists them.
#pragma once

#include "linearmem/mechanisms.hpp"

namespace linearmem {

Mechanism declare_softmax_attention();
Mechanism declare_linear_attention();
Mechanism declare_delta_rule();
Mechanism declare_gated_delta_rule();

}  // namespace linearmem
