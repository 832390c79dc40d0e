// Which instruction set the kernels run on in this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

// "AVX3" (AVX-512), "AVX2", "SSE4", "NEON", "WASM" or "SCALAR".
std::string_view simd_target();

// What simd_target() can be in this build on this processor, the fastest first.
std::vector<std::string> available_simd_targets();

// From now on the kernels run on the named target. One setting for the whole process, and the only one: choose before kernels run,
// not while they do. Errors: a name that available_simd_targets() does not list; nothing changes then.
Status choose_simd_target(std::string_view name);

// Identifies this build: "0.1.0+1a2b3c4" from the version and the sources' own hash; the page compares it between files.
std::string_view build_id();

}  // namespace linearmem
