// RM03, RM09, RM14: what a recurrent memory reads, where it starts anew, and that blocks of tokens change nothing.
#include <algorithm>

#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "claims/memories.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kTokens = 12, kKeyWidth = 4, kValueWidth = 3;

// q, k (12,4), rows of length 1; v (12,3); S (4,3); beta and alpha the same throughout.
struct Run {
  static constexpr double kAlpha = 0.9, kBeta = 0.8;

  explicit Run(std::uint64_t seed) {
    RandomMatrices random(seed);
    in.q = random.unit_rows(kTokens, kKeyWidth);
    in.k = random.unit_rows(kTokens, kKeyWidth);
    in.v = random.next(kTokens, kValueWidth);
    S0 = random.next(kKeyWidth, kValueWidth);
  }
  DeltaSettings settings(bool gated, bool stated) const {
    DeltaSettings chosen{.beta = std::vector<double>(kTokens, kBeta)};
    if (gated) chosen.alpha.assign(kTokens, kAlpha);
    if (stated) chosen.S0 = S0;
    return chosen;
  }

  NotesInputs in;
  Matrix S0;
};

std::vector<Check> prediction(const Mistakes& mistakes) {
  const Run run(51);
  const DeltaSettings settings = run.settings(false, true);
  const DeltaMemory memory = delta_memory(run.in, settings, mistakes);
  DeltaSettings explicit_settings = settings;
  explicit_settings.form = Form::explicit_;
  Matrix S = run.S0, expected({kTokens, kValueWidth});
  for (std::int64_t t = 0; t < kTokens; ++t) {
    const Matrix read = times(slice(run.in.k, t, t + 1), S);
    for (std::int64_t j = 0; j < kValueWidth; ++j) {
      expected(t, j) = read(0, j);
      for (std::int64_t i = 0; i < kKeyWidth; ++i) S(i, j) += run.kBeta * run.in.k(t, i) * (run.in.v(t, j) - read(0, j));
    }
  }
  return {residual_check("reads - k S_{t-1}, the state written out", largest_difference(memory.reads, expected), 1e-12),
          residual_check("reads - those of the explicit sum",
                         largest_difference(memory.reads, delta_memory(run.in, explicit_settings).reads), 1e-12),
          residual_check("last state - S + sum of beta k'(v - read)", largest_difference(memory.S, S), 1e-12)};
}

std::vector<Check> chunks(const Mistakes& mistakes) {
  const Run run(52);
  std::vector<Check> checks;
  for (bool stated : {false, true}) {
    DeltaSettings settings = run.settings(true, stated);
    const DeltaMemory recurrent = delta_memory(run.in, settings, mistakes);
    double outputs = 0, states = 0;
    for (std::int64_t chunk = 1; chunk <= kTokens + 1; ++chunk) {
      settings.form = Form::chunked;
      settings.chunk = chunk;
      const DeltaMemory chunked = delta_memory(run.in, settings);
      outputs = worse(outputs, largest_difference(chunked.o, recurrent.o));
      states = worse(states, largest_difference(chunked.S, recurrent.S));
    }
    const std::string from = stated ? ", from a random state" : ", from zeros";
    checks.push_back(residual_check("outputs, any chunk size" + from, outputs, 1e-12));
    checks.push_back(residual_check("last state, any chunk size" + from, states, 1e-12));
  }
  return checks;
}

// Two requests of six tokens each, out of one run of twelve.
struct Call {
  std::int64_t first = 0, last = kTokens;     // tokens
  std::int64_t rows = 1;                      // of the batch
  std::vector<std::int64_t> cu_seqlens = {};  // documents
  const std::vector<double>* state = nullptr;
};

struct Answer {
  Matrix o;
  std::vector<double> state;  // of the last sequence, z after S where there is one
};

using Memory = Answer (*)(const NotesInputs& in, const Call& call);

// [B,T,1,width] of the call's tokens.
View<const double, 4> rows_of(const Matrix& m, const Call& call) {
  const std::int64_t width = m.extents()[1];
  return {m.data() + call.first * width, {call.rows, (call.last - call.first) / call.rows, 1, width}};
}

Answer gated_delta(const NotesInputs& in, const Call& call) {
  const std::int64_t tokens = call.last - call.first, T = tokens / call.rows;
  const auto N = call.cu_seqlens.empty() ? call.rows : static_cast<std::int64_t>(call.cu_seqlens.size()) - 1;
  const std::vector<double> beta(static_cast<std::size_t>(tokens), 0.8), g(static_cast<std::size_t>(tokens), -0.1);
  Answer answer{missing(tokens, kValueWidth), std::vector<double>(static_cast<std::size_t>(N * kKeyWidth * kValueWidth))};
  DeltaRuleArguments<double> a{.q = rows_of(in.q, call),
                               .k = rows_of(in.k, call),
                               .v = rows_of(in.v, call),
                               .beta = {beta.data(), {call.rows, T, 1}},
                               .g = {g.data(), {call.rows, T, 1}},
                               .scale = 1.0,
                               .o = {answer.o.data(), {call.rows, T, 1, kValueWidth}},
                               .final_state = {answer.state.data(), {N, 1, kKeyWidth, kValueWidth}}};
  if (call.state) a.state = {call.state->data(), {1, 1, kKeyWidth, kValueWidth}};
  if (!call.cu_seqlens.empty()) a.cu_seqlens = {call.cu_seqlens.data(), {N + 1}};
  return delta_rule(a).ok() ? answer : Answer{missing(tokens, kValueWidth), {}};
}

Answer linear(const NotesInputs& in, const Call& call) {
  const std::int64_t tokens = call.last - call.first, T = tokens / call.rows;
  const auto N = call.cu_seqlens.empty() ? call.rows : static_cast<std::int64_t>(call.cu_seqlens.size()) - 1;
  const std::int64_t S_size = N * kKeyWidth * kValueWidth;
  Answer answer{missing(tokens, kValueWidth), std::vector<double>(static_cast<std::size_t>(S_size + N * kKeyWidth))};
  LinearAttentionArguments<double> a{.q = rows_of(in.q, call), .k = rows_of(in.k, call), .v = rows_of(in.v, call),
                                     .o = {answer.o.data(), {call.rows, T, 1, kValueWidth}},
                                     .final_state = {answer.state.data(), {N, 1, kKeyWidth, kValueWidth}},
                                     .final_z = {answer.state.data() + S_size, {N, 1, kKeyWidth}}};
  if (call.state) a.state = {call.state->data(), {1, 1, kKeyWidth, kValueWidth}};
  if (call.state) a.z = {call.state->data() + kKeyWidth * kValueWidth, {1, 1, kKeyWidth}};
  if (!call.cu_seqlens.empty()) a.cu_seqlens = {call.cu_seqlens.data(), {N + 1}};
  return linear_attention(a).ok() ? answer : Answer{missing(tokens, kValueWidth), {}};
}

void add_boundaries(std::vector<Check>& checks, const std::string& name, Memory memory, bool no_reset) {
  const Run run(53);
  constexpr std::int64_t kHalf = kTokens / 2;
  const Answer first = memory(run.in, {.last = kHalf}), alone = memory(run.in, {.first = kHalf});
  std::vector<double> slot = first.state;  // the memory of the first request, handed to the next
  if (!no_reset) std::fill(slot.begin(), slot.end(), 0.0);
  const auto second = [](const Matrix& o) { return slice(o, kHalf, kTokens); };
  const Matrix request = memory(run.in, {.first = kHalf, .state = &slot}).o;
  const Matrix batch = no_reset ? second(memory(run.in, {}).o) : second(memory(run.in, {.rows = 2}).o);
  const Matrix document = no_reset ? second(memory(run.in, {}).o) : second(memory(run.in, {.cu_seqlens = {0, kHalf, kTokens}}).o);
  const double leaked = largest_difference(memory(run.in, {.first = kHalf, .state = &first.state}).o, alone.o);
  checks.push_back(stated_check(name + ", from the state the first request left: differs by", "> 0", leaked, leaked > 0));
  checks.push_back(exact_check(name + ", next request after a reset - alone", 0, largest_difference(request, alone.o)));
  checks.push_back(exact_check(name + ", second row of a batch - alone", 0, largest_difference(batch, alone.o)));
  checks.push_back(exact_check(name + ", second document in a row - alone", 0, largest_difference(document, alone.o)));
}

std::vector<Check> boundaries(const Mistakes& mistakes) {
  std::vector<Check> checks;
  add_boundaries(checks, "gated delta rule", gated_delta, mistakes.count(Mistake::no_reset) > 0);
  add_boundaries(checks, "linear attention", linear, mistakes.count(Mistake::no_reset) > 0);
  return checks;
}

}  // namespace

void add_recurrent_claims(std::vector<Claim>& list) {
  using M = Mistake;
  list.push_back({"RM03", "delta_rule", "A delta memory reads k S_{t-1} before it writes: its prediction, which the write corrects.",
                  "Widrow and Hoff 1960; Schlag, Irie and Schmidhuber 2021",
                  "default_rng(51): q, k (12,4) unit rows; v (12,3); S (4,3); beta 0.8", {M::single_precision}, prediction});
  list.push_back({"RM09",
                  "delta_rule",
                  "A state reset at the boundary of a request, a batch row or a document gives the bits of separate runs.",
                  "Katharopoulos et al. 2020; Yang, Kautz and Hatamizadeh 2024",
                  "default_rng(53): q, k (12,4) unit rows; v (12,3); two requests of 6 tokens; beta 0.8, g -0.1",
                  {M::no_reset},
                  boundaries});
  list.push_back({"RM14", "delta_rule", "The gated delta rule gives the same token by token and in chunks of any size, from any state.",
                  "Yang, Kautz and Hatamizadeh 2024, Gated Delta Networks",
                  "default_rng(52): q, k (12,4) unit rows; v (12,3); S (4,3); beta 0.8, alpha 0.9; chunks of 1 to 13",
                  {M::read_before_write, M::error_before_decay, M::single_precision}, chunks});
}

}  // namespace linearmem
