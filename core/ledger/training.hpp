// The training ledger: what a recurrent layer stores between the forward and the backward pass.
#pragma once

#include <optional>

#include "linearmem/ledger.hpp"

namespace linearmem {

// Nothing for kinds without a recurrence over states. Error: a size that does not fit in 64 bits.
Result<std::optional<TrainingRow>> training_row(const LayerGroup& group, const LedgerSettings& settings);

}  // namespace linearmem
