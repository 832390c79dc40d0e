// The ledger as a figure: bytes against prefix length, of one layer of each kind and of the whole model.
#pragma once

#include "linearmem/experiments.hpp"
#include "linearmem/ledger.hpp"

namespace linearmem {

// Panel "layer": one request and one layer of each kind that keeps something, and full attention. Panel "model": the batch, the same with
// full attention in every layer, and the device's memory where it is given. Points mark where full attention begins to take more.
// Errors: those of memory_ledger.
Result<Figure> ledger_figure(const ModelLayers& model, const LedgerSettings& settings);

// The settings of the experiment "ledger" but for the model. Errors: unknown names, values outside their limits, bits of no dtype.
Result<LedgerSettings> ledger_settings(const Settings& settings);

// The memory of experiments.hpp whose colour and line a kind has: "gated_delta_rule".
const char* layer_kind_memory(LayerKind kind);

}  // namespace linearmem
