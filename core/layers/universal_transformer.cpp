// The Universal Transformer block, causal, with all its rounds. Round r = 1 .. R, token i = 1, 2, ... of its request:
//   y = x + P;  h = norm1(y + attention(y)),  x = norm2(h + act(h W1 + b1) W2 + b2)
//   P_{2j} = sin(i / w) + sin(r / w),  P_{2j+1} = cos(i / w) + cos(r / w),  w = 10000^(2j/M)
// With halting: p_r = sigmoid(y . u + b). A token that has halted keeps its x in later rounds, where others still attend to it; its output
// mixes its rounds as adaptive_computation_time does.
// Source: Dehghani, Gouws, Vinyals, Uszkoreit & Kaiser 2019, section 2 and, for halting, Graves 2016. Names: those of the Linear Transformer
// layer, and halting.weight, halting.bias.
#include <algorithm>
#include <cmath>

#include "layers/history.hpp"
#include "layers/kinds.hpp"
#include "layers/transformer_parts.hpp"

namespace linearmem::layers {
namespace {

template <typename T>
class UniversalTransformer final : public PackedLayer<T> {
 public:
  UniversalTransformer(const UniversalTransformerSizes& sizes, const Weights<T>& weights)
      : s_(sizes), parts_(sizes, weights), halting_(weights("halting.weight")), halting_bias_(weights("halting.bias")) {}

  std::string_view kind() const override { return kUniversalTransformer; }
  std::int64_t width() const override { return s_.model_width; }

  LayerStateLayout state_layout() const override { return layout_of(s_, compute_dtype<T>()); }

 private:
  std::int64_t key_row() const { return s_.context * s_.heads * s_.key_width; }  // of one round
  std::int64_t value_row() const { return s_.context * s_.heads * s_.value_width; }

  // What the tokens have gone through so far; the last four with halting only.
  struct Progress {
    std::vector<Rows<T>> keys, values;  // of each round
    std::vector<double> spent;          // of 1
    std::vector<char> halted;
    Tensor<T, 3> p;  // [1,tokens,R]
    Tensor<T, 4> x;  // [R,1,tokens,M]
  };

  Progress begin(std::int64_t tokens) const {
    if (!s_.halting) return {};
    const auto count = static_cast<std::size_t>(tokens);
    return {{}, {}, std::vector<double>(count), std::vector<char>(count), Tensor<T, 3>({1, tokens, s_.rounds}),
            Tensor<T, 4>({s_.rounds, 1, tokens, s_.model_width})};
  }

  Rows<T> with_coordinates(const Call<T>& call, const Rows<T>& x, std::int64_t round) const {
    Rows<T> y(x.tokens(), x.width());
    for (std::int64_t n = 0; n < call.requests(); ++n)
      for (std::int64_t t = 0; t < call.tokens(n); ++t) {
        const std::int64_t at = call.ends[static_cast<std::size_t>(n)] + t;
        const double place = static_cast<double>(call.seen[static_cast<std::size_t>(n)] + t + 1), step = static_cast<double>(round + 1);
        for (std::int64_t j = 0; j < x.width(); j += 2) {
          const double w = std::pow(10000.0, static_cast<double>(j) / static_cast<double>(x.width()));
          y.row(at)[j] = x.row(at)[j] + static_cast<T>(std::sin(place / w) + std::sin(step / w));
          y.row(at)[j + 1] = x.row(at)[j + 1] + static_cast<T>(std::cos(place / w) + std::cos(step / w));
        }
      }
    return y;
  }

  Result<Rows<T>> attended(const Call<T>& call, const Rows<T>& y, std::int64_t round, Progress& progress) const {
    Rows<T> q = parts_.q(call.executor(), y), k = parts_.k(call.executor(), y), v = parts_.v(call.executor(), y), o(y.tokens(), v.width());
    for (std::int64_t n = 0; n < call.requests(); ++n) {
      const T* keys = call.keeps_states() ? call.state_row(0, n) + round * key_row() : nullptr;
      const T* values = call.keeps_states() ? call.state_row(1, n) + round * value_row() : nullptr;
      const auto rows = [&](Rows<T>& of) { return call.request_rows(of, n, s_.heads); };
      const Status status = attend(Attention<T>{.q = rows(q), .k = rows(k), .v = rows(v), .kept_keys = keys, .kept_values = values,
                                                .rows = s_.context, .seen = call.seen[static_cast<std::size_t>(n)], .window = s_.context, .executor = call.executor(), .o = rows(o)});
      if (!status.ok()) return status;
    }
    progress.keys.push_back(std::move(k));
    progress.values.push_back(std::move(v));
    return o;
  }

  void keep_all(const Call<T>& call, Progress& progress) const {
    for (std::int64_t n = 0; call.keeps_states() && n < call.requests(); ++n) {
      call.clear_if_begun(0, n, s_.rounds * key_row());
      call.clear_if_begun(1, n, s_.rounds * value_row());
      const std::int64_t seen = call.seen[static_cast<std::size_t>(n)];
      for (std::int64_t round = 0; round < s_.rounds; ++round) {
        const auto at = static_cast<std::size_t>(round);
        keep<T>(call.request_rows(progress.keys[at], n, s_.heads), seen, s_.context, call.state_row(0, n) + round * key_row());
        keep<T>(call.request_rows(progress.values[at], n, s_.heads), seen, s_.context, call.state_row(1, n) + round * value_row());
      }
    }
  }

  void note(const Rows<T>& y, Rows<T>& x, const Rows<T>& before, std::int64_t round, Progress& progress) const {
    for (std::int64_t t = 0; t < x.tokens(); ++t) {
      const auto at = static_cast<std::size_t>(t);
      if (progress.halted[at]) std::copy_n(before.row(t), x.width(), x.row(t));
      T sum = halting_bias_[0];
      for (std::int64_t m = 0; m < x.width(); ++m) sum += y.row(t)[m] * halting_[static_cast<std::size_t>(m)];
      progress.p(0, t, round) = T{1} / (T{1} + std::exp(-sum));
      progress.spent[at] += static_cast<double>(progress.p(0, t, round));
      progress.halted[at] = progress.halted[at] || progress.spent[at] >= 1 - (1 - s_.threshold);
      std::copy_n(x.row(t), x.width(), &progress.x(round, 0, t, 0));
    }
  }

  Result<Rows<T>> mixed(const Call<T>& call, const Progress& progress) const {
    Rows<T> out(call.tokens(), s_.model_width), weights(call.tokens(), s_.rounds);
    const Status status = adaptive_computation_time(AdaptiveComputationTimeArguments<T>{
        .p = progress.p.view(), .x = progress.x.view(), .eps = 1 - s_.threshold, .o = out.columns(0, s_.model_width), .weights = weights.columns(0, s_.rounds)});
    if (!status.ok()) return status;
    call.show("round_weights", weights, 0, {s_.rounds});
    return out;
  }

  Result<Rows<T>> run(Call<T>& call) const override {
    Progress progress = begin(call.tokens());
    Rows<T> x = std::move(call.x);
    for (std::int64_t round = 0; round < s_.rounds; ++round) {
      const Rows<T> y = with_coordinates(call, x, round);
      const auto o = attended(call, y, round, progress);
      if (!o.ok()) return o.status();
      Rows<T> next = parts_.finish(call, y, o.value());
      if (s_.halting) note(y, next, x, round, progress);
      x = std::move(next);
    }
    if (s_.halting) {
      auto mix = mixed(call, progress);
      if (!mix.ok()) return mix.status();
      x = std::move(mix).value();
    }
    keep_all(call, progress);
    call.show("out", x, 0, {s_.model_width});
    return x;
  }

  UniversalTransformerSizes s_;
  TransformerParts<T> parts_;
  std::vector<T> halting_, halting_bias_;
};

}  // namespace

LayerStateLayout layout_of(const UniversalTransformerSizes& s, DType dtype) {
  return {.layer = kUniversalTransformer,
          .parts = {{"keys", {s.rounds, s.context, s.heads, s.key_width}, dtype}, {"values", {s.rounds, s.context, s.heads, s.value_width}, dtype}},
          .ledger = {.shape = {.kind = LayerKind::full_attention, .heads = s.heads, .key_width = s.key_width, .value_width = s.value_width},
                     .layers = s.rounds},
          .most_tokens = s.context};
}

std::vector<LayerWeight> weights_of(const UniversalTransformerSizes& sizes) {
  std::vector<LayerWeight> weights = transformer_weights(sizes);
  if (sizes.halting) {
    weights.push_back({"halting.weight", {1, sizes.model_width}});
    weights.push_back({"halting.bias", {1}});
  }
  return weights;
}

template <typename T>
std::unique_ptr<Layer<T>> make_kind(const UniversalTransformerSizes& sizes, const NamedTensors& weights) {
  return std::make_unique<UniversalTransformer<T>>(sizes, Weights<T>(weights));
}
template std::unique_ptr<Layer<float>> make_kind<float>(const UniversalTransformerSizes&, const NamedTensors&);
template std::unique_ptr<Layer<double>> make_kind<double>(const UniversalTransformerSizes&, const NamedTensors&);

}  // namespace linearmem::layers
