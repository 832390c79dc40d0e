// linearmem run-layer between its files: hidden states from one, results into another that appears whole or not at all, and the states of
// all requests in memory. Tokens go through the layer in blocks; memory for them depends on the block and not on T.
//   input   hidden [B,T,M] floating; cu_seqlens [N+1] integer, optional; mask [B,T] BOOL, optional
//   state   every part of the layer's state [N,...] floating, seen [N] integer: an earlier output is one, its `out` is passed over
//   output  out [B,T,M], the parts, seen
// With a session the states are in its file alone, and the requests have ids there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linearmem/layers.hpp"

namespace linearmem::cli {

struct LayerFiles {
  std::string input, output;
  std::string state;    // empty: requests begin
  std::string session;  // empty: none; not together with state
  std::vector<std::int64_t> requests = {};  // ids in the session, of each request of the input
  std::uint64_t weights = 0;                // what tells the layer's weights and settings from others
};

struct LayerRunOptions {
  std::int64_t block = 0;  // tokens at a time of one request; 0: all tokens of the file in one call
  bool watched = false;    // progress on standard error, and signals obeyed between blocks
  const Executor* executor = nullptr;
};

// Returns the exit code: 0, or 128 + the signal that interrupted it. Errors: tensors that are missing, not known, of another shape or kind;
// those of the layer and of files.
template <typename T>
Result<int> run_layer_files(const Layer<T>& layer, const LayerFiles& files, const LayerRunOptions& options);

}  // namespace linearmem::cli
