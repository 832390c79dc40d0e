// Scans, segment memory and depth: recurrent state beyond linear attention and the delta rule.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) {
  add_recurrent_claims(list);
  add_depth_claims(list);
  add_scan_claims(list);
}

std::vector<Experiment> list_experiments() { return {scan_matrix_experiment(), segment_rows_experiment()}; }

}  // namespace linearmem
