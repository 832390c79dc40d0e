// One declaration per mechanism, each in the file of its room; registry.cpp lists them.
#pragma once

#include "linearmem/mechanisms.hpp"

namespace linearmem {

Mechanism declare_softmax_attention();
Mechanism declare_linear_attention();
Mechanism declare_delta_rule();
Mechanism declare_gated_delta_rule();
Mechanism declare_selective_scan();
Mechanism declare_mamba_scan();
Mechanism declare_ssd();
Mechanism declare_causal_conv();
Mechanism declare_segment_memory();
Mechanism declare_adaptive_computation_time();
Mechanism declare_shared_depth();
Mechanism declare_hybrid();
Mechanism declare_associative_read();
Mechanism declare_associative_write();
Mechanism declare_hopfield();
Mechanism declare_knn();

}  // namespace linearmem
