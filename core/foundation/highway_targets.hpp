// Include before any Highway header: the instruction sets our kernels are compiled for.
// Left out: those that add nothing here over the ones kept (SSE4.2, AVX2, AVX-512; NEON; WASM SIMD; scalar), and SVE,
// whose vectors cannot stand in arrays.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
