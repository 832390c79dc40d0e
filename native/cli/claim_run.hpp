// Claims, run and timed, and what is said about them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "linearmem/claims.hpp"

namespace linearmem::cli {

struct ClaimRun {
  const Claim* claim = nullptr;
  ClaimResult result;
  double milliseconds = 0;
};

// ids empty: every claim. Error: an id or a mistake that is not known.
Result<std::vector<ClaimRun>> run_claims(const std::vector<std::string>& ids, const std::vector<std::string>& mistake_names);

bool all_pass(const std::vector<ClaimRun>& runs);

// A number that is not finite becomes null, the only thing JSON has for it.
nlohmann::ordered_json to_json(const ClaimRun& run);

void print(std::ostream& out, const ClaimRun& run);

}  // namespace linearmem::cli
