#include <algorithm>
#include <string>

#include "claims/lists.hpp"
#include "linearmem/claims.hpp"

namespace linearmem {
namespace {

std::vector<Claim> all_claims() {
  std::vector<Claim> list;
  list_claims(list);
  const auto place = [](const Claim& claim) { return std::pair(std::string_view("LM AM RM").find(std::string_view(claim.id).substr(0, 2)), std::string_view(claim.id)); };
  std::sort(list.begin(), list.end(), [&](const Claim& a, const Claim& b) { return place(a) < place(b); });
  return list;
}

}  // namespace

const std::vector<MistakeInfo>& mistakes() {
  static const std::vector<MistakeInfo> list = {
      {Mistake::read_before_write, "read-before-write", "Each token reads the state before it has written to it."},
      {Mistake::half_beta, "half-beta", "Writes have strength beta 0.5 where the claim says 1."},
      {Mistake::no_forgetting, "no-forgetting", "The decay alpha is 1 where the claim says 0.8."},
      {Mistake::single_precision, "single-precision", "Everything is computed in float32."},
      {Mistake::no_reset, "no-reset", "The second request starts from the state the first one left."},
      {Mistake::error_before_decay, "error-before-decay", "The error is measured against the state before it has decayed."},
      {Mistake::no_causal_mask, "no-causal-mask", "Every query reads the state after the last token."},
      {Mistake::repeated_keys, "repeated-keys", "Keys are drawn with replacement, so that one may stand before two values."},
      {Mistake::newest_only, "newest-only", "Only the newest pair is asked for."},
  };
  return list;
}

Result<Mistake> find_mistake(std::string_view name) {
  std::string known;
  for (const MistakeInfo& info : mistakes()) {
    if (info.name == name) return info.mistake;
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  return Status::invalid("mistake " + std::string(name) + " is not one of " + known);
}

const std::vector<Claim>& claims() {
  static const std::vector<Claim> list = all_claims();
  return list;
}

Result<const Claim*> find_claim(std::string_view id) {
  for (const Claim& claim : claims())
    if (claim.id == id) return &claim;
  return Status::invalid("claim " + std::string(id) + " is not known; the first is " + claims().front().id + ", the last " + claims().back().id);
}

ClaimResult run_claim(const Claim& claim, const Mistakes& mistakes) {
  ClaimResult result;
  result.id = claim.id;
  result.checks = claim.run(mistakes);
  result.pass = !result.checks.empty() && std::all_of(result.checks.begin(), result.checks.end(), [](const Check& check) { return check.pass; });
  return result;
}

}  // namespace linearmem
