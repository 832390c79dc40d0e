// LM01, LM02, LM23: what is kept, in bytes.
#include <cmath>

#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "linearmem/depth_recurrence.hpp"
#include "linearmem/ledger.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr LayerShape kHistory{.kind = LayerKind::full_attention, .heads = 1, .key_width = 64, .value_width = 64};
constexpr LayerShape kState{.kind = LayerKind::linear_attention, .heads = 1, .key_width = 64, .value_width = 64, .normalizer = true};

// What the ledger says of one layer in FP32 after 65536 tokens; a refusal is NaN, which no check passes.
double bytes_of(const LayerShape& shape) {
  const auto bytes = layer_bytes(shape, 65536, {.kv_bits = 32, .state_bits = 32});
  return bytes.ok() ? static_cast<double>(bytes.value()) : std::nan("");
}

std::vector<Check> history(const Mistakes&) { return {in_unit(exact_check("K,V history", 32, bytes_of(kHistory) / kMiB), "MiB")}; }

std::vector<Check> state(const Mistakes&) {
  const double bytes = bytes_of(kState);
  return {in_unit(exact_check("state and normalizer", 16640, bytes), "bytes"),
          in_unit(value_check("state and normalizer", 0.015869, bytes / kMiB, 5e-6), "MiB"),
          value_check("history / state", 2016.49, bytes_of(kHistory) / bytes, 5e-3)};
}

// What a block of width 8 and inner width 32 holds and does over 4 tokens, counted while it runs.
DepthWork counted(std::int64_t rounds) {
  const Tensor<double, 3> x({1, 4, 8}, 0.5);
  const Tensor<double, 2> w1({8, 32}, 0.25), w2({32, 8}, 0.125);
  Tensor<double, 3> y({1, 4, 8});
  DepthWork work;
  const Status status = shared_depth(
      SharedDepthArguments<double>{.x = x.view(), .w1 = w1.view(), .w2 = w2.view(), .rounds = rounds, .y = y.view(), .work = &work});
  return status.ok() ? work : DepthWork{};
}

double ratio(std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }  // of nothing: NaN, which no check passes

std::int64_t history_of(const SharedDepth& depth) {
  const auto bytes = depth.history_bytes();
  return bytes.ok() ? bytes.value() : 0;
}

std::vector<Check> shared_rounds(const Mistakes&) {
  std::vector<Check> checks;
  const DepthWork once = counted(1);
  const SharedDepth one{.width = 64, .rounds = 1, .tokens = 1024};
  for (std::int64_t rounds = 1; rounds <= 8; ++rounds) {
    const SharedDepth deep{.width = 64, .rounds = rounds, .tokens = 1024}, longer{.width = 64, .rounds = rounds, .tokens = 2048};
    const std::string at = "R = " + std::to_string(rounds) + ": ";
    const DepthWork work = counted(rounds);
    checks.push_back(exact_check(at + "parameters, times those of one round", 1, ratio(deep.parameters(), one.parameters())));
    checks.push_back(exact_check(at + "operations, times those of one round", static_cast<double>(rounds), ratio(deep.operations(), one.operations())));
    checks.push_back(exact_check(at + "parameters counted in a running block, times", 1, ratio(work.parameters, once.parameters)));
    checks.push_back(exact_check(at + "operations counted in a running block, times", static_cast<double>(rounds), ratio(work.operations, once.operations)));
    checks.push_back(exact_check(at + "history over twice the prefix, times", 2, ratio(history_of(longer), history_of(deep))));
  }
  return checks;
}

}  // namespace

void add_ledger_claims(std::vector<Claim>& list) {
  list.push_back({"LM01", "ledger", "An explicit history of 65536 tokens, K = V = 64, FP32, one layer and head, takes 32 MiB.", "counting: tokens (K + V) 4 bytes",
                  "65536 x (64 + 64) x 4 bytes", {}, history});
  list.push_back({"LM02", "ledger", "The state of linear attention, 64 x 64 and a normalizer of 64, takes 16640 bytes, whatever the prefix.",
                  "counting: (K V + K) 4 bytes", "(64 x 64 + 64) x 4 bytes", {}, state});
  list.push_back({"LM23", "ledger", "R rounds of a shared block: parameters once, operations R times, and a history that still grows in step with the prefix.",
                  "Dehghani et al. 2019, Universal Transformers", "width 64, 1024 and 2048 tokens, R = 1..8; counted: width 8, inner width 32, 4 tokens", {}, shared_rounds});
}

}  // namespace linearmem
