#include "experiments/hybrid_recall.hpp"

#include <algorithm>
#include <cmath>

#include "linearmem/hybrid.hpp"

namespace linearmem {
namespace {

constexpr double kSelfMatch = 0.75;  // of a query's token with itself, where a pair's key has 1
constexpr double kWindowWeight = 4;  // of what the window answers
constexpr double kCertain = 40;      // sigmoid(40) is 1 and sigmoid(-40) is 4e-18

// Where the parts of a hidden vector begin, D in all, and the widths of projected keys (one more than K: who is asking) and values.
struct Layout {
  explicit Layout(const RecallPairs& pairs)
      : K(pairs.keys.extents()[1]),
        V(pairs.values.extents()[1]),
        value(K),
        query(K + V),
        one(K + V + 1),
        answer(K + V + 2),
        D(K + 2 * V + 2),
        Kp(K + 1) {}
  std::int64_t K, V, value, query, one, answer, D, Kp;
};

class StackWeights {
 public:
  StackWeights(const std::vector<HybridLayer>& layers, const StackSettings& settings, const Layout& at)
      : wq({count(layers), at.D, 1, at.Kp}),
        wk({count(layers), at.D, 1, at.Kp}),
        wv({count(layers), at.D, 1, at.V}),
        wo({count(layers), 1, at.V, at.D}) {
    for (std::int64_t l = 0; l < count(layers); ++l) {
      const bool window = layers[static_cast<std::size_t>(l)] == HybridLayer::window;
      const double sharp = window ? settings.beta * std::sqrt(static_cast<double>(at.Kp)) : 1;  // the layer scales by Kp^-1/2
      for (std::int64_t c = 0; c < at.K; ++c) {
        wq(l, c, 0, c) = sharp;
        wk(l, c, 0, c) = 1;
      }
      if (window) {  // q ends in 1; the query's own key in what takes its match from 1 down to kSelfMatch
        wq(l, at.one, 0, at.K) = sharp;
        wk(l, at.query, 0, at.K) = kSelfMatch - 1;
      }
      for (std::int64_t j = 0; j < at.V; ++j) {
        wv(l, at.value + j, 0, j) = 1;
        wo(l, 0, j, at.answer + j) = window ? kWindowWeight : 1;
      }
      if (window) continue;
      wbeta = Tensor<double, 3>({1, at.D, 1});
      wbeta(0, at.one, 0) = kCertain;
      wbeta(0, at.query, 0) = -2 * kCertain;
    }
  }

  Tensor<double, 4> wq, wk, wv, wo;
  Tensor<double, 3> wbeta;  // of the delta layer, where there is one

 private:
  static std::int64_t count(const std::vector<HybridLayer>& layers) { return static_cast<std::int64_t>(layers.size()); }
};

// [B,T,D]: the pairs and one query, for each question.
Tensor<double, 3> hidden_tokens(const RecallPairs& pairs, const std::vector<std::int64_t>& asked, const Layout& at) {
  const std::int64_t M = pairs.keys.extents()[0], B = static_cast<std::int64_t>(asked.size());
  Tensor<double, 3> hidden({B, M + 1, at.D});
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t t = 0; t <= M; ++t) {
      double* x = hidden.data() + (b * (M + 1) + t) * at.D;
      const std::int64_t pair = t < M ? t : asked[static_cast<std::size_t>(b)];
      std::copy_n(pairs.keys.data() + pair * at.K, at.K, x);
      if (t < M) std::copy_n(pairs.values.data() + pair * at.V, at.V, x + at.value);
      x[at.query] = t == M;
      x[at.one] = 1;
    }
  return hidden;
}

}  // namespace

const char* stack_name(Stack stack) {
  constexpr const char* kNames[] = {"window alone", "recurrence alone", "both"};
  return kNames[static_cast<int>(stack)];
}

Result<std::vector<std::int64_t>> stack_answers(Stack stack, const StackSettings& settings, const RecallPairs& pairs,
                                                const std::vector<std::int64_t>& asked) {
  const Layout at(pairs);
  std::vector<HybridLayer> layers;
  if (stack != Stack::recurrence) layers.push_back(HybridLayer::window);
  if (stack != Stack::window) layers.push_back(HybridLayer::delta);
  const StackWeights weights(layers, settings, at);
  const Tensor<double, 3> hidden = hidden_tokens(pairs, asked, at);
  Tensor<double, 3> y(hidden.extents());
  HybridArguments<double> arguments{.layers = layers,
                                    .hidden = hidden.view(),
                                    .wq = weights.wq.view(),
                                    .wk = weights.wk.view(),
                                    .wv = weights.wv.view(),
                                    .wo = weights.wo.view(),
                                    .window = settings.window,
                                    .y = y.view()};
  if (stack != Stack::window) arguments.wbeta = weights.wbeta.view();
  if (Status status = hybrid(arguments); !status.ok()) return status;
  std::vector<std::int64_t> answers;
  const std::int64_t T = hidden.extents()[1];
  for (std::int64_t b = 0; b < hidden.extents()[0]; ++b)
    answers.push_back(nearest_row(pairs.values, y.data() + ((b + 1) * T - 1) * at.D + at.answer));
  return answers;
}

}  // namespace linearmem
