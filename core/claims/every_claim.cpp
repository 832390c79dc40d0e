#include "claims/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) {
  add_ledger_claims(list);
  add_linear_attention_claims(list);
  add_delta_claims(list);
  add_recurrent_claims(list);
  add_depth_claims(list);
  add_scan_claims(list);
  add_recall_claims(list);
  add_associative_write_claims(list);
  add_associative_response_claims(list);
  add_associative_sampling_claims(list);
  add_knn_claims(list);
}

}  // namespace linearmem
