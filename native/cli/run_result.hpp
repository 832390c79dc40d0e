// run_result.json: the course notes' run of linear attention with its seed, shapes, errors and first outputs, the memory
// ledger, and every claim with the digits that are the same on every machine and in the page.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "claim_run.hpp"

namespace linearmem::cli {

Result<nlohmann::ordered_json> run_result(const std::vector<ClaimRun>& claims);

}  // namespace linearmem::cli
