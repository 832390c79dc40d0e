// The options that every mechanism with a gated state has.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "linearmem/recurrent_state.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {

inline void add_state_options(std::vector<OptionSpec>& options, bool gated, const char* checkpoints) {
  options.push_back({"state_dtype", OptionKind::choice, "none",
                     "round the state to this after each write, in forms reference and recurrent; none: as the form computes",
                     {"f64", "f32", "bf16", "f16"}});
  options.push_back({"checkpoint_every", OptionKind::integer, "0", checkpoints});
  if (gated) options.push_back({"allow_growth", OptionKind::boolean, "false", "let gates above 0 through"});
}

inline std::optional<StateType> option_state_type(const RunSettings& settings) {
  return state_type_named(option_choice(settings, "state_dtype"));
}

inline bool option_allow_growth(const RunSettings& settings) {
  return settings.options.count("allow_growth") > 0 && option_boolean(settings, "allow_growth");
}

}  // namespace linearmem
