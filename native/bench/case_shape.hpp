// The sizes of one case, the same words for every mechanism, and how a case is put together from them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "workload.hpp"

namespace linearmem::bench {

struct Shape {
  std::int64_t tokens = 1;
  std::int64_t heads = 1;         // H; for the mechanisms of channels D = heads x width
  std::int64_t width = 4;         // K = V
  std::int64_t slots = 1;         // states taken in turn
  bool carries = false;           // the state a call leaves is where the next one starts
  double proof_flops = kProofFlops;
  std::int64_t channels() const { return heads * width; }
};

// What a mechanism adds to its name.
struct MechanismCases {
  std::string name;
  bool has_state = true;
  bool by_channel = false;
  std::int64_t (*state_values)(const Shape&) = nullptr;
  Work (*work)(const Shape&) = nullptr;  // flops and elements of one call; bytes are added where memory is the limit
  std::int64_t (*moved_values)(const Shape&) = nullptr;  // of a prefill that memory limits; absent: arithmetic limits it
  std::unique_ptr<Workload> (*make32)(const Shape&) = nullptr;
  std::unique_ptr<Workload> (*make64)(const Shape&) = nullptr;
};

std::vector<MechanismCases> attention_cases();
std::vector<MechanismCases> delta_rule_cases();
std::vector<MechanismCases> scan_cases();

// The kNN memory has no tokens and no state: its own two settings, as many keys as fit the bytes of all states.
void add_knn_cases(const CaseOptions& options, const std::string& setting, std::vector<Case>& to);

// The definition's share of a proof: few enough tokens of all lanes, few enough lanes of all tokens, to take about a second. A case that is
// given less time than that proves fewer tokens of the last lanes too.
template <typename Plan>
Plan plan_of(const Shape& shape, std::int64_t lanes, std::int64_t last_lanes, double flops) {
  const auto tokens_within = [&](double cost) {
    const double share = std::min(1.0, shape.proof_flops / std::max(cost, 1.0));
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(shape.tokens) * share));
  };
  last_lanes = std::min(lanes, last_lanes);
  const double last_flops = flops * static_cast<double>(last_lanes) / static_cast<double>(lanes);
  return {.tokens = shape.tokens,
          .lanes = lanes,
          .prefix_tokens = tokens_within(flops),
          .last_lanes = last_lanes,
          .last_tokens = shape.proof_flops < kProofFlops ? tokens_within(last_flops) : shape.tokens,
          .slots = shape.slots,
          .in_place = shape.carries};
}

}  // namespace linearmem::bench
