// The part a page opens first, since it is small: what is kept, in bytes. The bindings of wasm/ledger.cpp come with it.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) { add_ledger_claims(list); }

std::vector<Experiment> list_experiments() { return {ledger_experiment()}; }

}  // namespace linearmem
