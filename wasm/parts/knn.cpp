// The kNN memory: its claims and its figure.
#include "claims/lists.hpp"
#include "experiments/lists.hpp"

namespace linearmem {

void list_claims(std::vector<Claim>& list) { add_knn_claims(list); }

std::vector<Experiment> list_experiments() { return {knn_neighbours_experiment()}; }

}  // namespace linearmem
