// The plainest loops that reach what a core can do, one source for every target: multiply-adds in registers, a sum over memory,
// memory scaled in place. Every limit that a benchmark is measured against comes from one of these three.
#pragma once

#include <cstdint>

namespace linearmem::bench {

// Floating-point operations of one step of multiply_adds on the target that runs now: chains x lanes x 2.
std::int64_t flops_per_step(float);
std::int64_t flops_per_step(double);

// `steps` times one multiply-add in every lane of every chain. Returns a number that depends on all of them.
float multiply_adds(float start, std::int64_t steps);
double multiply_adds(double start, std::int64_t steps);

// Values are handled this many at a time; a count must be a multiple of it.
constexpr std::int64_t kStreamBlock = 512;

float sum_of(const float* values, std::int64_t count);               // reads every value once
void scale(float* values, std::int64_t count, float factor);         // reads and writes every value once

}  // namespace linearmem::bench
