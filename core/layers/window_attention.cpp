// The window-attention layer: grouped heads, rotary positions, and a ring of the newest keys and values.
//   q, k, v = x Wq, x Wk, x Wv;  q, k turned by their position i: (a, b) -> (a cos - b sin, b cos + a sin), a = x_j, b = x_{j + K/2},
//   angle i theta^(-2j/K);  out = softmax attention over the last `window` tokens, Wo
// Source: Beltagy, Peters & Cohan 2020 (window); Su et al. 2021 (rotary positions); Ainslie et al. 2023 (grouped heads); names and the
// pairing of halves: Hugging Face Transformers, models/mistral.
#include <cmath>

#include "layers/history.hpp"
#include "layers/kinds.hpp"
#include "layers/weights.hpp"

namespace linearmem::layers {
namespace {

template <typename T>
class WindowAttention final : public PackedLayer<T> {
 public:
  WindowAttention(const WindowAttentionSizes& sizes, const Weights<T>& weights)
      : s_(sizes), q_(projection_of<T>(weights, "q_proj", sizes.model_width, sizes.heads * sizes.head_width)),
        k_(projection_of<T>(weights, "k_proj", sizes.model_width, sizes.key_heads * sizes.head_width)),
        v_(projection_of<T>(weights, "v_proj", sizes.model_width, sizes.key_heads * sizes.head_width)),
        out_(projection_of<T>(weights, "o_proj", sizes.heads * sizes.head_width, sizes.model_width)) {}

  std::string_view kind() const override { return kWindowAttention; }
  std::int64_t width() const override { return s_.model_width; }

  LayerStateLayout state_layout() const override { return layout_of(s_, compute_dtype<T>()); }

 private:
  void turn(const Call<T>& call, Rows<T>& rows, std::int64_t heads) const {
    const std::int64_t half = s_.head_width / 2;
    for (std::int64_t n = 0; n < call.requests(); ++n)
      for (std::int64_t t = 0; t < call.tokens(n); ++t)
        for (std::int64_t j = 0; j < half; ++j) {
          const double position = static_cast<double>(call.seen[static_cast<std::size_t>(n)] + t);
          const double angle = position * std::pow(s_.rope_theta, -2.0 * static_cast<double>(j) / static_cast<double>(s_.head_width));
          const T c = static_cast<T>(std::cos(angle)), s = static_cast<T>(std::sin(angle));
          for (std::int64_t h = 0; h < heads; ++h) {
            T* row = rows.row(call.ends[static_cast<std::size_t>(n)] + t) + h * s_.head_width;
            const T a = row[j], b = row[j + half];
            row[j] = a * c - b * s;
            row[j + half] = b * c + a * s;
          }
        }
  }

  Status attend_all(const Call<T>& call, Rows<T>& q, Rows<T>& k, Rows<T>& v, Rows<T>& o) const {
    for (std::int64_t n = 0; n < call.requests(); ++n) {
      const Status status = attend(Attention<T>{.q = call.request_rows(q, n, s_.heads), .k = call.request_rows(k, n, s_.key_heads),
                                                .v = call.request_rows(v, n, s_.key_heads), .kept_keys = call.state_row(0, n),
                                                .kept_values = call.state_row(1, n), .rows = s_.window, .seen = call.seen[static_cast<std::size_t>(n)],
                                                .window = s_.window, .executor = call.executor(), .o = call.request_rows(o, n, s_.heads)});
      if (!status.ok()) return status;
    }
    for (std::int64_t n = 0; call.keeps_states() && n < call.requests(); ++n) {
      call.clear_if_begun(0, n, s_.window * k.width());
      call.clear_if_begun(1, n, s_.window * v.width());
      keep<T>(call.request_rows(k, n, s_.key_heads), call.seen[static_cast<std::size_t>(n)], s_.window, call.state_row(0, n));
      keep<T>(call.request_rows(v, n, s_.key_heads), call.seen[static_cast<std::size_t>(n)], s_.window, call.state_row(1, n));
    }
    return {};
  }

  Result<Rows<T>> run(Call<T>& call) const override {
    Rows<T> q = q_(call.executor(), call.x), k = k_(call.executor(), call.x), v = v_(call.executor(), call.x), o(q.tokens(), q.width());
    turn(call, q, s_.heads);
    turn(call, k, s_.key_heads);
    call.show("query_states", q, 0, {s_.heads, s_.head_width});
    call.show("key_states", k, 0, {s_.key_heads, s_.head_width});
    call.show("value_states", v, 0, {s_.key_heads, s_.head_width});
    if (Status status = attend_all(call, q, k, v, o); !status.ok()) return status;
    call.show("attn_output", o, 0, {s_.heads, s_.head_width});
    Rows<T> y = out_(call.executor(), o);
    call.show("out", y, 0, {s_.model_width});
    return y;
  }

  WindowAttentionSizes s_;
  Projection<T> q_, k_, v_, out_;
};

}  // namespace

LayerStateLayout layout_of(const WindowAttentionSizes& s, DType dtype) {
  const std::vector<std::int64_t> shape = {s.window, s.key_heads, s.head_width};
  return {.layer = kWindowAttention,
          .parts = {{"keys", shape, dtype}, {"values", shape, dtype}},
          .ledger = {.shape = {.kind = LayerKind::window_attention, .heads = s.key_heads, .key_width = s.head_width,
                               .value_width = s.head_width, .window = s.window}},
          .most_tokens = s.window};
}

std::vector<LayerWeight> weights_of(const WindowAttentionSizes& s) {
  std::vector<LayerWeight> weights;
  const auto add = [&](const std::string& name, std::int64_t heads) {
    weights.push_back({name + ".weight", {heads * s.head_width, s.model_width}});
    if (s.bias) weights.push_back({name + ".bias", {heads * s.head_width}});
  };
  add("q_proj", s.heads);
  add("k_proj", s.key_heads);
  add("v_proj", s.key_heads);
  weights.push_back({"o_proj.weight", {s.model_width, s.heads * s.head_width}});
  return weights;
}

template <typename T>
std::unique_ptr<Layer<T>> make_kind(const WindowAttentionSizes& sizes, const NamedTensors& weights) {
  return std::make_unique<WindowAttention<T>>(sizes, Weights<T>(weights));
}
template std::unique_ptr<Layer<float>> make_kind<float>(const WindowAttentionSizes&, const NamedTensors&);
template std::unique_ptr<Layer<double>> make_kind<double>(const WindowAttentionSizes&, const NamedTensors&);

}  // namespace linearmem::layers
