// Segment memory: a long text is read in segments, and each segment may look back at the hidden rows of those before it.
//
//   new_memory = the newest `limit` rows of [memory; hidden]
//
// The rows are copied, so they are constants to the next segment: no gradient passes from it into the segment that made them.
// Source: Dai, Yang, Yang, Carbonell, Le & Salakhutdinov 2019, "Transformer-XL".
#pragma once

#include <cstdint>
#include <optional>

#include "linearmem/executor.hpp"
#include "linearmem/form.hpp"
#include "linearmem/status.hpp"
#include "linearmem/view.hpp"

namespace linearmem {

// Rows that are kept: limit, or all there are when they are fewer or no limit is set.
std::int64_t segment_memory_rows(std::int64_t memory_rows, std::int64_t hidden_rows, std::optional<std::int64_t> limit);

// B batch, M rows remembered so far, T rows of the segment, D width, R rows kept: segment_memory_rows(M, T, limit).
template <typename T>
struct SegmentMemoryArguments {
  View<const T, 3> hidden;       // [B,T,D], oldest row first
  View<const T, 3> memory = {};  // [B,M,D], oldest row first; absent: no rows
  std::optional<std::int64_t> limit = {};  // >= 0; absent: every row is kept
  Form form = Form::automatic;             // reference
  const Executor* executor = nullptr;  // whose threads to use; none: the calling thread. Same bits either way

  View<T, 3> new_memory;  // [B,R,D]; may be the same memory as `memory` where the rows of one batch entry start at the same place
};

// Errors: an axis that differs, a limit below 0, new_memory with another number of rows. new_memory is written only when the
// result is ok.
Status segment_memory(const SegmentMemoryArguments<float>& arguments);
Status segment_memory(const SegmentMemoryArguments<double>& arguments);

}  // namespace linearmem
