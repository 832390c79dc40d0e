// linearmem run --stream: a sequence larger than memory, from file to file in blocks of tokens. Each sequence of a batch or a pack runs
// by itself, its state carried from block to block, so that memory depends on the block and not on T; the bits are those of a run
// without --stream in form recurrent.
#pragma once

#include <cstdint>
#include <string>

#include "linearmem/mechanisms.hpp"

namespace linearmem::cli {

struct StreamFiles {
  std::string input, output;
};

// block: tokens at a time; 0: as many as make a few megabytes. Returns the exit code: 0, or 128 + the signal that interrupted it.
// Errors: a mechanism, form or option that cannot be streamed, and all those of a run without --stream.
Result<int> run_stream(const Mechanism& mechanism, const RunSettings& settings, const StreamFiles& files, std::int64_t block);

}  // namespace linearmem::cli
