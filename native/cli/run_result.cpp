#include "run_result.hpp"

#include <algorithm>
#include <cmath>

#include "linearmem/ledger.hpp"
#include "linearmem/mechanisms.hpp"
#include "linearmem/random.hpp"
#include "linearmem/target.hpp"

namespace linearmem::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSeed = 7;
constexpr std::int64_t kTokens = 8, kKeyWidth = 4, kValueWidth = 3;

// rng = default_rng(7); q = normal(8,4); k = normal(8,4); v = normal(8,3), as one batch of one head.
NamedTensors notes_inputs() {
  Generator rng(kSeed);
  NamedTensors inputs;
  for (const auto& [name, width] : {std::pair{"q", kKeyWidth}, {"k", kKeyWidth}, {"v", kValueWidth}})
    inputs[name] = to_named(rng.normal_vector(static_cast<std::size_t>(kTokens * width)), {1, kTokens, 1, width});
  return inputs;
}

// Runs of the notes' inputs; the first refusal is kept and makes the whole result a refusal.
class NotesRuns {
 public:
  NamedTensors outputs(const char* mechanism, Form form, DType dtype = DType::f64) {
    auto result = run_mechanism(mechanism, inputs_, {.dtype = dtype, .form = form});
    if (result.ok()) return std::move(result).value();
    if (status_.ok()) status_ = result.status();
    return {};
  }
  std::vector<double> o(const char* mechanism, Form form, DType dtype = DType::f64) {
    const NamedTensors named = outputs(mechanism, form, dtype);
    if (!named.count("o")) return {};
    auto values = floating_values<double>("o", named.at("o"));
    if (values.ok()) return std::move(values).value();
    if (status_.ok()) status_ = values.status();
    return {};
  }
  const NamedTensors& inputs() const { return inputs_; }
  const Status& status() const { return status_; }

 private:
  NamedTensors inputs_ = notes_inputs();
  Status status_;
};

// NaN anywhere makes the answer NaN.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double gap = std::abs(a[i] - b[i]);
    if (!std::isnan(largest) && !(gap <= largest)) largest = gap;
  }
  return largest;
}

// Batch and head are 1 here and the notes do not write them.
Json without_batch_and_head(std::vector<std::int64_t> shape, std::size_t head_axis) {
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(head_axis));
  shape.erase(shape.begin());
  return shape;
}

Json shapes(const NamedTensors& inputs, const NamedTensors& outputs) {
  Json all = Json::object();
  for (const char* name : {"q", "k", "v"}) all[name] = without_batch_and_head(inputs.at(name).shape, 2);
  all["output"] = without_batch_and_head(outputs.at("o").shape, 2);
  all["state"] = without_batch_and_head(outputs.at("state").shape, 1);
  all["normalizer"] = without_batch_and_head(outputs.at("z").shape, 1);
  return all;
}

Json first_rows(const std::vector<double>& o, std::ptrdiff_t rows) {
  Json all = Json::array();
  for (std::ptrdiff_t row = 0; row < rows; ++row)
    all.push_back(std::vector<double>(o.begin() + row * kValueWidth, o.begin() + (row + 1) * kValueWidth));
  return all;
}

// The sizes of LM01 and LM02.
Result<Json> memory_experiments() {
  constexpr double kMiB = 1024.0 * 1024.0;
  constexpr std::int64_t kHistoryTokens = 65536;
  constexpr LayerShape kHistory{.kind = LayerKind::full_attention, .heads = 1, .key_width = 64, .value_width = 64};
  constexpr LayerShape kState{.kind = LayerKind::linear_attention, .heads = 1, .key_width = 64, .value_width = 64, .normalizer = true};
  constexpr Precision kSingle{.kv_bits = 32, .state_bits = 32};
  const auto history = layer_bytes(kHistory, kHistoryTokens, kSingle), state = layer_bytes(kState, kHistoryTokens, kSingle);
  for (const auto* bytes : {&history, &state})
    if (!bytes->ok()) return bytes->status();
  const auto history_bytes = static_cast<double>(history.value()), state_bytes = static_cast<double>(state.value());
  return Json{{"tokens", kHistoryTokens},
              {"key_width", kHistory.key_width},
              {"value_width", kHistory.value_width},
              {"element_bytes", kSingle.kv_bits / 8},
              {"explicit_history_bytes", history.value()},
              {"explicit_history_mib", history_bytes / kMiB},
              {"recurrent_state_bytes", state.value()},
              {"recurrent_state_mib", state_bytes / kMiB},
              {"history_to_state_ratio", history_bytes / state_bytes}};
}

}  // namespace

Result<Json> run_result(const std::vector<ClaimRun>& claims) {
  constexpr const char* kLinear = "linear-attention";
  NotesRuns runs;
  const NamedTensors outputs = runs.outputs(kLinear, Form::recurrent);
  const std::vector<double> recurrent = runs.o(kLinear, Form::recurrent), explicit_sum = runs.o(kLinear, Form::explicit_);
  const std::vector<double> softmax = runs.o("softmax-attention", Form::explicit_);
  const std::vector<double> recurrent32 = runs.o(kLinear, Form::recurrent, DType::f32),
                            explicit32 = runs.o(kLinear, Form::explicit_, DType::f32);
  if (!runs.status().ok()) return runs.status();
  const auto memory = memory_experiments();
  if (!memory.ok()) return memory.status();
  Json all_claims = Json::array();
  for (const ClaimRun& run : claims) all_claims.push_back(to_json(run));
  return Json{{"build_id", build_id()},
              {"simd_target", simd_target()},
              {"seed", kSeed},
              {"dtype", "float64"},
              {"shapes", shapes(runs.inputs(), outputs)},
              {"errors",
               {{"explicit_vs_recurrent_max_abs", largest_difference(explicit_sum, recurrent)},
                {"explicit_vs_recurrent_float32_max_abs", largest_difference(explicit32, recurrent32)},
                {"linear_vs_softmax_max_abs", largest_difference(recurrent, softmax)}}},
              {"first_two_outputs", first_rows(recurrent, 2)},
              {"memory_experiments", memory.value()},
              {"all_claims_pass", all_pass(claims)},
              {"claims", std::move(all_claims)}};
}

}  // namespace linearmem::cli
