// Two requests in a row in one state: how much of the first the second reads when nobody has reset it between them.
#include <cmath>

#include "experiments/lists.hpp"
#include "experiments/recall.hpp"
#include "experiments/sampled.hpp"
#include "foundation/unit_rows.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/random.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem {
namespace {

constexpr Recalling kMemories[] = {Recalling::outer_product, Recalling::linear_attention, Recalling::delta, Recalling::gated_delta, Recalling::ssd};

// q, k unit rows, v normal, all [T,K].
struct Tokens {
  Tokens(std::uint64_t seed, std::int64_t T, std::int64_t width) : K(width) {
    Generator generator(seed);
    for (std::vector<double>* rows : {&q, &k, &v}) rows->resize(static_cast<std::size_t>(T * K));
    for (std::vector<double>* rows : {&q, &k}) draw_unit_rows(generator, rows->data(), T, K);
    generator.fill_normal(v);
  }
  std::int64_t K;
  std::vector<double> q, k, v;
};

// Outputs of tokens [begin, end) from an empty state.
Status outputs(Recalling kind, const Tokens& in, double alpha, std::int64_t begin, std::int64_t end, std::vector<double>& o) {
  const std::int64_t T = end - begin;
  const auto rows = [&](const std::vector<double>& values) { return View<const double, 4>(values.data() + begin * in.K, {1, T, 1, in.K}); };
  const std::vector<double> ones(static_cast<std::size_t>(T), 1), gates(static_cast<std::size_t>(T), kind == Recalling::delta ? 0 : std::log(alpha));
  o.assign(static_cast<std::size_t>(T * in.K), 0);
  const View<double, 4> out(o.data(), {1, T, 1, in.K});
  if (kind == Recalling::outer_product || kind == Recalling::linear_attention)
    return linear_attention(LinearAttentionArguments<double>{.q = rows(in.q),
                                                             .k = rows(in.k),
                                                             .v = rows(in.v),
                                                             .feature = kind == Recalling::linear_attention ? Feature::elu1 : Feature::identity,
                                                             .normalize = kind == Recalling::linear_attention,
                                                             .form = Form::recurrent,
                                                             .o = out});
  if (kind == Recalling::delta || kind == Recalling::gated_delta)
    return delta_rule(DeltaRuleArguments<double>{.q = rows(in.q),
                                                 .k = rows(in.k),
                                                 .v = rows(in.v),
                                                 .beta = {ones.data(), {1, T, 1}},
                                                 .g = {gates.data(), {1, T, 1}},
                                                 .scale = 1.0,
                                                 .form = Form::recurrent,
                                                 .o = out});
  const double A = std::log(alpha);
  return ssd(SsdArguments<double>{.x = rows(in.v),
                                  .dt = {ones.data(), {1, T, 1}},
                                  .A = {&A, {1}},
                                  .B = rows(in.k),
                                  .C = rows(in.q),
                                  .form = Form::recurrent,
                                  .y = out});
}

Result<Figure> run(const Settings& settings) {
  const std::int64_t first = whole(settings, "first"), second = whole(settings, "second"), K = whole(settings, "key_width"),
                     seeds = whole(settings, "seeds");
  Panel panel{"leak", {"tokens since the boundary", "tokens", true}, {"leak over the right answer", "", true}, {}};
  for (Recalling kind : kMemories) {
    std::vector<double> leaks(static_cast<std::size_t>(second)), sizes(leaks), whole_run, alone;
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
      const Tokens in(static_cast<std::uint64_t>(settings.at("first_seed")) + static_cast<std::uint64_t>(seed), first + second, K);
      if (Status status = outputs(kind, in, settings.at("alpha"), 0, first + second, whole_run); !status.ok()) return status;
      if (Status status = outputs(kind, in, settings.at("alpha"), first, first + second, alone); !status.ok()) return status;
      for (std::size_t i = 0; i < alone.size(); ++i) {
        const double leak = whole_run[static_cast<std::size_t>(first * K) + i] - alone[i];
        leaks[i / static_cast<std::size_t>(K)] += leak * leak;
        sizes[i / static_cast<std::size_t>(K)] += alone[i] * alone[i];
      }
    }
    panel.series.push_back({name_of(kind).memory, name_of(kind).label, {}, {}});
    for (std::int64_t t : logarithmic_items(1, second, 40)) {
      const auto at = static_cast<std::size_t>(t - 1);
      panel.series.back().x.push_back(static_cast<double>(t));
      panel.series.back().y.push_back(std::sqrt(leaks[at] / sizes[at]));
    }
  }
  return Figure{{panel}};
}

}  // namespace

Experiment reset_leak_experiment() {
  return {
      "reset-leak",
      "What does the next request read when a state is not reset?",
      "Random tokens; with a reset every line is 0, to the bit (claim RM09). Gates and norms of a trained model may pass on more or less.",
      {{"alpha", "what the decay keeps from one token to the next", 0.95, 0.01, 1, 0},
       {"first", "tokens of the first request", 256, 1, 4096, 1},
       {"second", "tokens of the second request", 256, 2, 4096, 1},
       {"key_width", "key width K, and value width", 16, 2, 64, 1},
       {"seeds", "seeds averaged over", 8, 1, 64, 1},
       {"first_seed", "the first seed", 1, 0, 4294967295.0, 1}},
      run};
}

}  // namespace linearmem
