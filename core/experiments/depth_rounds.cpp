// A task that needs depth: tokens walk down a chain, one node for each round of a shared block, and halt at its end.
#include <algorithm>
#include <cmath>

#include "experiments/lists.hpp"
#include "experiments/sampled.hpp"
#include "linearmem/depth_recurrence.hpp"
#include "linearmem/ledger.hpp"
#include "linearmem/random.hpp"
#include "linearmem/tensor.hpp"

namespace linearmem {
namespace {

// x is one-hot: the node a token stands at. W1 is the identity and W2 moves every node but 0 to the one before it, so a round is a step.
struct Chain {
  Chain(std::int64_t nodes, std::int64_t tokens, std::uint64_t seed) : x({1, tokens, nodes}), w1({nodes, nodes}), w2({nodes, nodes}) {
    Generator generator(seed);
    for (std::int64_t t = 0; t < tokens; ++t) x(0, t, generator.integers(0, nodes).value()) = 1;
    for (std::int64_t node = 0; node < nodes; ++node) {
      w1(node, node) = 1;
      w2(node, node) -= 1;
      w2(node, std::max<std::int64_t>(0, node - 1)) += 1;
    }
  }
  Tensor<double, 3> x;
  Tensor<double, 2> w1, w2;
};

struct Walked {
  double solved = 0, mean_rounds = 0;  // share of tokens at node 0 after R rounds; rounds they took until they halted
  DepthWork shared, unrolled;
};

Status walk(const Chain& chain, std::int64_t R, Walked& walked) {
  const std::int64_t T = chain.x.extents()[1], D = chain.x.extents()[2];
  Tensor<double, 3> y({1, T, D}), p({1, T, R}), mixed({1, T, D});
  Tensor<double, 4> states({R, 1, T, D});
  SharedDepthArguments<double> block{.x = chain.x.view(),
                                     .w1 = chain.w1.view(),
                                     .w2 = chain.w2.view(),
                                     .rounds = R,
                                     .activation = BlockActivation::relu,
                                     .form = Form::explicit_,
                                     .y = y.view(),
                                     .states = states.view(),
                                     .work = &walked.unrolled};
  if (Status status = shared_depth(block); !status.ok()) return status;
  block.form = Form::recurrent;
  block.work = &walked.shared;
  if (Status status = shared_depth(block); !status.ok()) return status;
  // The halting unit of a round looks at node 0.
  for (std::int64_t t = 0; t < T; ++t)
    for (std::int64_t r = 0; r < R; ++r) p(0, t, r) = states(r, 0, t, 0);
  Tensor<std::int64_t, 2> n({1, T});
  const Status status = adaptive_computation_time(
      AdaptiveComputationTimeArguments<double>{.p = p.view(), .x = states.view(), .o = mixed.view(), .n = n.view()});
  if (!status.ok()) return status;
  for (std::int64_t t = 0; t < T; ++t) {
    walked.solved += mixed(0, t, 0) / static_cast<double>(T);
    walked.mean_rounds += static_cast<double>(n(0, t)) / static_cast<double>(T);
  }
  return {};
}

Result<Figure> run(const Settings& settings) {
  const std::int64_t most = whole(settings, "rounds"), tokens = whole(settings, "tokens"), width = whole(settings, "width");
  const Chain chain(whole(settings, "nodes"), tokens, static_cast<std::uint64_t>(settings.at("seed")));
  Series solved{"cubed_relu", "solved", {}, {}}, allowed{"squared_relu", "rounds allowed", {}, {}},
      used{"sampled_median", "rounds used, mean", {}, {}};
  Series shared{"relu", "parameters, shared", {}, {}}, unrolled{"squared_relu", "parameters, unrolled", {}, {}},
      operations{"cubed_relu", "operations", {}, {}}, halted{"sampled_median", "operations, halted", {}, {}},
      history{"softmax_attention", "K,V bytes", {}, {}};
  for (std::int64_t R = 1; R <= most; ++R) {
    Walked walked;
    if (Status status = walk(chain, R, walked); !status.ok()) return status;
    const SharedDepth one{.width = width, .rounds = 1, .tokens = tokens}, all{.width = width, .rounds = R, .tokens = tokens};
    const auto all_bytes = all.history_bytes(), one_bytes = one.history_bytes();
    if (!all_bytes.ok()) return all_bytes.status();
    if (!one_bytes.ok()) return one_bytes.status();
    const auto ratio = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); };
    const std::pair<Series*, double> points[] = {
        {&solved, walked.solved},
        {&allowed, static_cast<double>(R)},
        {&used, walked.mean_rounds},
        {&shared, static_cast<double>(walked.shared.parameters) / (2.0 * static_cast<double>(chain.w1.size()))},
        {&unrolled, static_cast<double>(walked.unrolled.parameters) / (2.0 * static_cast<double>(chain.w1.size()))},
        {&operations, ratio(all.operations(), one.operations())},
        {&halted, ratio(all.operations(), one.operations()) * walked.mean_rounds / static_cast<double>(R)},
        {&history, ratio(all_bytes.value(), one_bytes.value())}};
    for (const auto& point : points) {
      point.first->x.push_back(static_cast<double>(R));
      point.first->y.push_back(point.second);
    }
  }
  return Figure{
      {{"solved", {"rounds R", "", false}, {"solved tokens", "", false}, {solved}},
       {"rounds", {"rounds R", "", false}, {"rounds of a token", "", false}, {allowed, used}},
       {"cost", {"rounds R", "", false}, {"times the cost of one round", "", false}, {shared, unrolled, operations, halted, history}}}};
}

}  // namespace

Experiment depth_rounds_experiment() {
  return {"depth-rounds",
          "What do more rounds of one block bring, and what do they cost?",
          "Weights that were written down; a trained halting unit is not so sure. Work is counted, not timed: halted tokens save time only "
          "where the code skips them.",
          {{"rounds", "most rounds R", 16, 1, 32, 1},
           {"nodes", "nodes of the chain", 12, 2, 32, 1},
           {"tokens", "tokens T", 256, 1, 4096, 1},
           {"width", "model width of the attention block whose cost is counted", 64, 1, 4096, 1},
           {"seed", "seed of the tokens' places", 1, 0, 4294967295.0, 1}},
          run};
}

}  // namespace linearmem
