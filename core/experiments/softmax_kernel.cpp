// The weights that softmax and a kernel give the same keys, as matrices. A door's weights are what it answers when token s has value e_s.
#include "experiments/lists.hpp"
#include "experiments/matrix_panel.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/softmax_attention.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kK = NotesTokens::kK, kV = NotesTokens::kV;

struct Attention {
  const NotesTokens& in;
  std::int64_t T;
  double scale;
  Feature feature;
  bool causal;

  View<const double, 4> rows(const std::vector<double>& values, std::int64_t width) const { return {values.data(), {1, T, 1, width}}; }

  // Both [T,width].
  Status softmax(const std::vector<double>& v, std::int64_t width, std::vector<double>& o) const {
    o.assign(static_cast<std::size_t>(T * width), 0);
    return softmax_attention(SoftmaxAttentionArguments<double>{
        .q = rows(in.q, kK), .k = rows(in.k, kK), .v = rows(v, width), .causal = causal, .scale = scale, .o = {o.data(), {1, T, 1, width}}});
  }
  Status kernel(const std::vector<double>& v, std::int64_t width, std::vector<double>& o) const {
    o.assign(static_cast<std::size_t>(T * width), 0);
    return linear_attention(LinearAttentionArguments<double>{
        .q = rows(in.q, kK), .k = rows(in.k, kK), .v = rows(v, width), .feature = feature, .causal = causal, .o = {o.data(), {1, T, 1, width}}});
  }
};

Result<Figure> run(const Settings& settings) {
  const NotesTokens in(settings.at("seed"));
  const std::int64_t T = whole(settings, "tokens");
  const Attention attention{in, T, settings.at("scale"), settings.at("feature") == 1 ? Feature::relu : Feature::elu1, settings.at("causal") == 1};
  std::vector<double> unit(static_cast<std::size_t>(T * T)), softmax_weights, kernel_weights, softmax_output, kernel_output;
  for (std::int64_t t = 0; t < T; ++t) unit[static_cast<std::size_t>(t * T + t)] = 1;
  for (const Status& status : {attention.softmax(unit, T, softmax_weights), attention.kernel(unit, T, kernel_weights),
                               attention.softmax(in.v, kV, softmax_output), attention.kernel(in.v, kV, kernel_output)})
    if (!status.ok()) return status;
  std::vector<double> difference = softmax_output;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= kernel_output[i];
  return Figure{{matrix_panel("weights", T,
                              {matrix_series("softmax_attention", "softmax", softmax_weights), matrix_series("linear_attention", "kernel", kernel_weights)}, 1),
                 matrix_panel("outputs", kV,
                              {matrix_series("softmax_attention", "softmax", softmax_output), matrix_series("linear_attention", "kernel", kernel_output),
                               matrix_series("outer_product", "difference", difference)})}};
}

}  // namespace

Experiment softmax_kernel_experiment() {
  return {"softmax-kernel",
          "What changes when softmax becomes a kernel?",
          "Random queries and keys; with other keys the two differ by more or less. The kernel is not an approximation of softmax.",
          {{"scale", "what softmax multiplies the scores by", 0.5, 0, 8, 0},
           {"feature", "0: elu + 1; 1: ReLU", 0, 0, 1, 1},
           {"causal", "1: no token sees a later one; 0: all are seen", 1, 0, 1, 1},
           {"tokens", "tokens T", 8, 1, NotesTokens::kT, 1},
           {"seed", "of the random tokens; 7: those of claim LM04", 7, 0, 4294967295.0, 1}},
          run};
}

}  // namespace linearmem
