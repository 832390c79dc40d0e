#include <algorithm>
#include <string>

#include "mechanisms/declarations.hpp"

namespace linearmem {

const std::vector<Mechanism>& mechanisms() {
  static const std::vector<Mechanism> all = {
      declare_softmax_attention(),
      declare_linear_attention(),
      declare_delta_rule(),
      declare_gated_delta_rule(),
      declare_selective_scan(),
      declare_mamba_scan(),
      declare_ssd(),
      declare_causal_conv(),
      declare_segment_memory(),
      declare_adaptive_computation_time(),
      declare_shared_depth(),
      declare_hybrid(),
      declare_associative_read(),
      declare_associative_write(),
      declare_hopfield(),
      declare_knn(),
  };
  return all;
}

Result<const Mechanism*> find_mechanism(std::string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  for (const Mechanism& mechanism : mechanisms())
    if (dashed == mechanism.name) return &mechanism;
  std::string known;
  for (const Mechanism& mechanism : mechanisms()) known += (known.empty() ? "" : ", ") + std::string(mechanism.name);
  return Status::invalid("unknown mechanism \"" + std::string(name) + "\"; known are " + known);
}

Result<NamedTensors> run_mechanism(std::string_view name, const NamedTensors& inputs, const RunSettings& settings) {
  const auto found = find_mechanism(name);
  if (!found.ok()) return found.status();
  return run_mechanism(*found.value(), inputs, settings);
}

}  // namespace linearmem
