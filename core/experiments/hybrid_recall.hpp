// Recall by a stack whose weights are written down, not trained: a window layer, a delta layer, or one on top of the other.
#pragma once

#include "experiments/recall.hpp"

namespace linearmem {

enum class Stack { window, recurrence, both };

const char* stack_name(Stack stack);  // "window alone", "recurrence alone", "both"

struct StackSettings {
  std::int64_t window = 16;  // tokens a query sees, its own included: window - 1 pairs
  double beta = 64;          // of the window's softmax
};

// The pairs, then one query, in a sequence of its own for each of `asked`: the decoded row of values.
//
// A token's hidden vector is [key | value | is a query | 1 | answer]. Both layers project key and value out of it and add what they read to
// `answer`. The query's own token is in the window too: it holds no value and matches itself by 0.75, so that it takes the weight when
// no pair in sight matches; it is not written to the delta state (its beta is 0). The window's answer counts four times.
Result<std::vector<std::int64_t>> stack_answers(Stack stack, const StackSettings& settings, const RecallPairs& pairs,
                                                const std::vector<std::int64_t>& asked);

}  // namespace linearmem
