// Sessions as bytes, and back: the layout is in README.md. Every length is checked against the source's and against what the model must
// have before anything is allocated or read by it; parts go straight into their rows.
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
Status encode(const SavedModel& model, const RequestTable& table, std::span<const SavedRequest> requests, SessionSink& sink);

// A request as it lies in the source.
struct FoundRequest {
  std::int64_t id = 0, tokens = 0;
  std::int64_t at = 0;         // its parts, the first one's bytes
  std::uint32_t checksum = 0;  // of what stands before them
};

// Reads and checks all but the parts. Errors: those of Sessions::load that do not depend on what is open, the parts' left out.
Result<std::vector<FoundRequest>> find_requests(const SavedModel& model, const StateRows& rows, const SessionSource& source);

// Into row `row`, which nobody else holds. Errors: a part that is damaged or cannot be read; the row is then whatever it is.
Status read_parts(const StateRows& rows, std::int64_t row, const SessionSource& source, const FoundRequest& request);

}  // namespace linearmem::sessions
