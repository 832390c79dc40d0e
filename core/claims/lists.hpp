// Each file of claims adds its own; the registry sorts them by id.
#pragma once

#include <vector>

#include "linearmem/claims.hpp"

namespace linearmem {

// What the registry holds. every_claim.cpp lists them all; a program that needs fewer defines list_claims itself, and that file,
// a member of a static library, then stays out with all that only it asks for.
void list_claims(std::vector<Claim>& list);

void add_delta_claims(std::vector<Claim>& list);
void add_linear_attention_claims(std::vector<Claim>& list);
void add_ledger_claims(std::vector<Claim>& list);
void add_recurrent_claims(std::vector<Claim>& list);
void add_depth_claims(std::vector<Claim>& list);
void add_scan_claims(std::vector<Claim>& list);
void add_recall_claims(std::vector<Claim>& list);
void add_associative_write_claims(std::vector<Claim>& list);
void add_associative_response_claims(std::vector<Claim>& list);
void add_associative_sampling_claims(std::vector<Claim>& list);
void add_knn_claims(std::vector<Claim>& list);

}  // namespace linearmem
