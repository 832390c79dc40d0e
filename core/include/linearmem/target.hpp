// Which instruction set the kernels run on in this process.
#pragma once

#include <string_view>

namespace linearmem {

// "AVX3" (AVX-512), "AVX2", "SSE4", "NEON", "WASM" or "SCALAR".
std::string_view simd_target();

// Identifies this build: "0.1.0+1a2b3c4" from the version and the sources' own hash; the page compares it between files.
std::string_view build_id();

}  // namespace linearmem
