// Sessions as bytes, and back: the layout is in README.md. Every length is checked against what the model must have before anything is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linearmem/session.hpp"
#include "sessions/request_table.hpp"

namespace linearmem::sessions {

// What a saved session goes with.
struct SavedModel {
  std::string text;           // layers, parts, shapes and types, a line each
  std::uint64_t weights = 0;  // SessionSettings::weights
  std::int64_t element_bytes = 0;
};

SavedModel saved_model(std::span<const LayerStateLayout> layouts, std::uint64_t weights, std::int64_t element_bytes);

// Bytes of a saved session of so many requests. Errors: a size that cannot be addressed.
Result<std::int64_t> saved_size(const SavedModel& model, const StateRows& rows, std::int64_t requests);

// The requests were checked.
Result<std::vector<std::byte>> encode(const SavedModel& model, const RequestTable& table, std::span<const SavedRequest> requests);

// A request as it lies in the bytes.
struct FoundRequest {
  std::int64_t id = 0, tokens = 0;
  std::size_t at = 0;  // its parts, the first one's bytes
};

// Reads and checks all of it. Errors: those of Sessions::load that do not depend on what is open.
Result<std::vector<FoundRequest>> decode(const SavedModel& model, const StateRows& rows, std::span<const std::byte> bytes, const std::string& file);

// Into row `row`, which the request holds alone.
void fill_row(const StateRows& rows, std::int64_t row, std::span<const std::byte> bytes, const FoundRequest& request);

}  // namespace linearmem::sessions
