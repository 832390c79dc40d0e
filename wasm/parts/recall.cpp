// What a fixed state can hold.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) { add_recall_claims(list); }

std::vector<Experiment> list_experiments() { return {}; }

}  // namespace linearmem
