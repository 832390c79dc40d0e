// A ledger as a table for reading and as JSON.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "linearmem/ledger.hpp"

namespace linearmem::cli {

std::string ledger_table(const ModelLayers& model, const LedgerSettings& settings, const Ledger& ledger);
nlohmann::ordered_json ledger_json(const ModelLayers& model, const LedgerSettings& settings, const Ledger& ledger);

// 49152 as "48 KiB", at most four significant digits.
std::string bytes_text(double bytes);

}  // namespace linearmem::cli
