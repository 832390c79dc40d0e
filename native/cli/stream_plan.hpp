// What a streamed run will read and write, found from the header of its input before anything is computed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "linearmem/mechanisms.hpp"
#include "safetensors_file.hpp"

namespace linearmem::cli {

// One sequence: its row of the batch, its tokens there, its place among the states.
struct StreamedSequence {
  std::int64_t row, begin, end, n;
};

struct StreamPlan {
  std::vector<const HeaderEntry*> over_tokens;  // inputs [B,T,...], read block by block
  std::vector<const HeaderEntry*> first_states; // inputs [N,...] that are carried
  NamedTensors constant;                        // all others, read
  std::int64_t tokens = 0;                      // T
  std::vector<StreamedSequence> sequences;
  std::map<std::string, TensorShape> outputs;
  std::int64_t bytes_per_token = 0;  // of the inputs
};

// Errors: tensors that disagree, a mechanism, form or option that cannot be streamed, whatever the mechanism refuses.
Result<StreamPlan> plan_stream(const Mechanism& mechanism, const RunSettings& settings, const SafetensorsFile& input);

bool is_carried(const Mechanism& mechanism, const std::string& name);

// Bytes of one entry of the first `axes` axes.
std::int64_t bytes_below(const TensorShape& tensor, std::size_t axes);
inline std::int64_t bytes_below(const HeaderEntry& entry, std::size_t axes) { return bytes_below(TensorShape{entry.dtype, entry.shape}, axes); }

}  // namespace linearmem::cli
