// How each model_type lists its layers. The facts are those of the reference configuration code, named in core/ledger/README.md.
#pragma once

#include <vector>

#include "ledger/config_fields.hpp"
#include "ledger/layer_plan.hpp"

namespace linearmem {

struct Architecture {
  const char* model_type;
  void (*read)(ConfigFields& fields, LayerPlan& plan);
};

void add_attention_architectures(std::vector<Architecture>& list);
void add_recurrent_architectures(std::vector<Architecture>& list);
void add_hybrid_architectures(std::vector<Architecture>& list);
void add_mamba_hybrid_architectures(std::vector<Architecture>& list);

}  // namespace linearmem
