// Assumptions in words: the command line's, and the names by which bindings tell them apart.
#include "foundation/number_text.hpp"
#include "ledger/sentence.hpp"
#include "linearmem/ledger.hpp"

namespace linearmem {

using Rule = Assumption::Rule;

const char* assumption_rule_name(Rule rule) {
  switch (rule) {
    case Rule::value: return "value";
    case Rule::last_of_every: return "last-of-every";
    case Rule::window_in_every_layer: return "window-in-every-layer";
    case Rule::window_from: return "window-from";
    case Rule::full_and_linear_in_turn: return "full-and-linear-in-turn";
    case Rule::as_full_attn_idxs: return "as-full-attn-idxs";
    case Rule::mamba_in_every_layer: return "mamba-in-every-layer";
    case Rule::none: return "none";
    case Rule::width_of_full_attention: return "width-of-full-attention";
  }
  return "";
}

std::string assumption_text(const Assumption& assumption) {
  const std::string& field = assumption.field;
  const std::string number = number_text(assumption.number, 15);
  switch (assumption.rule) {
    case Rule::value: return sentence({field, " = ", number});
    case Rule::last_of_every: return sentence({field, ": of every ", number, " layers the last has full attention"});
    case Rule::window_in_every_layer: return sentence({field, ": a window in every layer"});
    case Rule::window_from: return sentence({field, ": a window from layer ", number, " on"});
    case Rule::full_and_linear_in_turn: return sentence({field, ": full and linear attention by turns"});
    case Rule::as_full_attn_idxs: return sentence({field, ": as full_attn_idxs says"});
    case Rule::mamba_in_every_layer: return sentence({field, ": Mamba in every layer"});
    case Rule::none: return sentence({field, ": none"});
    case Rule::width_of_full_attention: return sentence({"full attention to compare with: K and V of the model's width, ", number});
  }
  return "";
}

}  // namespace linearmem
