// The algorithms a mechanism may be computed by. All forms of one mechanism give the same numbers within its tolerance.
#pragma once

#include <optional>
#include <string_view>

namespace linearmem {

enum class Form {
  automatic,  // the door chooses
  reference,  // the definition, float64, one token at a time, unblocked
  explicit_,  // every output as a weighted sum over the values it can see
  recurrent,  // a fixed state carried token by token
  chunked,    // blocks of tokens; inside a block matrices or a scan of its own, between blocks the state
  streaming,  // one pass over keys with running statistics, no score matrix
  parallel_scan,  // a tree over all tokens: steps are composed pairwise, in twice the work and log T rounds
};

std::string_view form_name(Form form);              // "automatic", "reference", "explicit", ...
std::optional<Form> form_named(std::string_view name);

}  // namespace linearmem
