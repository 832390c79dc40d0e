// Calls of the doors whose chunked form a device computes in bfloat16, drawn at random, with the outputs side by side: keys no longer than 1
// and decays, so that no step makes an error grow.
#pragma once

#include <cmath>
#include <vector>

#include "core/support.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem::test {

struct ChunkedSizes {
  std::int64_t B, T, H, K, V;  // heads of keys; values have twice as many
  std::int64_t sequences = B;
};

struct DeltaCall {
  DeltaCall(const ChunkedSizes& s, std::uint64_t seed)
      : q({s.B, s.T, s.H, s.K}), k({s.B, s.T, s.H, s.K}), v({s.B, s.T, 2 * s.H, s.V}), state({s.sequences, 2 * s.H, s.K, s.V}),
        o({s.B, s.T, 2 * s.H, s.V}), reads({s.B, s.T, 2 * s.H, s.V}), last({s.sequences, 2 * s.H, s.K, s.V}), beta({s.B, s.T, 2 * s.H}),
        g({s.B, s.T, 2 * s.H}) {
    Numbers numbers(seed);
    const double longest = 1 / std::sqrt(static_cast<double>(s.K));
    for (auto* tensor : {&q, &v, &state}) tensor->fill(numbers, -1, 1);
    k.fill(numbers, -longest, longest), beta.fill(numbers, 0, 2), g.fill(numbers, -0.3, 0);
  }
  DeltaRuleArguments<float> arguments(const Backend* backend) {
    return {.q = q.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .g = g.view(), .state = state.view(), .form = Form::chunked,
            .backend = backend, .o = o.view(), .reads = reads.view(), .final_state = last.view()};
  }
  bool guards_intact() const { return o.guards_intact() && reads.guards_intact() && last.guards_intact(); }
  bool same_bits(const DeltaCall& other) const { return o.same_bits(other.o) && reads.same_bits(other.reads) && last.same_bits(other.last); }

  Guarded<float, 4> q, k, v, state, o, reads, last;
  Guarded<float, 3> beta, g;
};

struct LinearCall {
  LinearCall(const ChunkedSizes& s, std::uint64_t seed)
      : q({s.B, s.T, 2 * s.H, s.K}), k({s.B, s.T, s.H, s.K}), v({s.B, s.T, s.H, s.V}), state({s.sequences, 2 * s.H, s.K, s.V}),
        o({s.B, s.T, 2 * s.H, s.V}), last({s.sequences, 2 * s.H, s.K, s.V}), g({s.B, s.T, 2 * s.H}), z({s.sequences, 2 * s.H, s.K}),
        last_z({s.sequences, 2 * s.H, s.K}), mask(static_cast<std::size_t>(s.B * s.T)), rows({s.B, s.T}) {
    Numbers numbers(seed);
    for (auto* tensor : {&q, &k, &v, &state}) tensor->fill(numbers, -1, 1);
    g.fill(numbers, -0.3, 0), z.fill(numbers, 1, 2);
    for (auto& seen : mask) seen = numbers.whole(0, 9) > 0;
  }
  LinearAttentionArguments<float> arguments(const Backend* backend) {
    return {.q = q.view(), .k = k.view(), .v = v.view(), .g = g.view(), .state = state.view(), .z = z.view(), .key_mask = {mask.data(), rows},
            .form = Form::chunked, .backend = backend, .o = o.view(), .final_state = last.view(), .final_z = last_z.view()};
  }
  bool guards_intact() const { return o.guards_intact() && last.guards_intact() && last_z.guards_intact(); }
  bool same_bits(const LinearCall& other) const { return o.same_bits(other.o) && last.same_bits(other.last) && last_z.same_bits(other.last_z); }

  Guarded<float, 4> q, k, v, state, o, last;
  Guarded<float, 3> g, z, last_z;
  std::vector<std::uint8_t> mask;
  Extents<2> rows;
};

struct SsdCall {
  SsdCall(const ChunkedSizes& s, std::uint64_t seed)
      : x({s.B, s.T, 2 * s.H, s.V}), B({s.B, s.T, s.H, s.K}), C({s.B, s.T, s.H, s.K}), state({s.sequences, 2 * s.H, s.K, s.V}),
        y({s.B, s.T, 2 * s.H, s.V}), last({s.sequences, 2 * s.H, s.K, s.V}), dt({s.B, s.T, 2 * s.H}), A({2 * s.H}), D({2 * s.H}) {
    Numbers numbers(seed);
    const double longest = 1 / std::sqrt(static_cast<double>(s.K));
    for (auto* tensor : {&x, &state}) tensor->fill(numbers, -1, 1);
    for (auto* tensor : {&B, &C}) tensor->fill(numbers, -longest, longest);
    dt.fill(numbers, 0, 1), A.fill(numbers, -1, 0), D.fill(numbers, -1, 1);
  }
  SsdArguments<float> arguments(const Backend* backend) {
    return {.x = x.view(), .dt = dt.view(), .A = A.view(), .B = B.view(), .C = C.view(), .D = D.view(), .state = state.view(), .form = Form::chunked,
            .backend = backend, .y = y.view(), .final_state = last.view()};
  }
  bool guards_intact() const { return y.guards_intact() && last.guards_intact(); }
  bool same_bits(const SsdCall& other) const { return y.same_bits(other.y) && last.same_bits(other.last); }

  Guarded<float, 4> x, B, C, state, y, last;
  Guarded<float, 3> dt;
  Guarded<float, 1> A, D;
};

inline Status call_door(const DeltaRuleArguments<float>& a) { return delta_rule(a); }
inline Status call_door(const LinearAttentionArguments<float>& a) { return linear_attention(a); }
inline Status call_door(const SsdArguments<float>& a) { return ssd(a); }

}  // namespace linearmem::test
