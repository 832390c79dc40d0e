// Small layers to hold sessions to, made of two rooms, and one that does what a test tells it: refuse, or spoil memory that is not its own.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/support.hpp"
#include "linearmem/causal_conv.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/session.hpp"

namespace linearmem::test {

// A short convolution over all channels, then the delta rule on parts of what comes out:
//   c = silu(conv(x)),  q, k, v = parts of c,  out = x / 2 + o, over and over until M is full
template <typename T>
class ConvDeltaLayer final : public Layer<T> {
 public:
  ConvDeltaLayer(std::string kind, std::int64_t heads, std::int64_t K, std::int64_t V, std::uint64_t seed)
      : kind_(std::move(kind)), H_(heads), K_(K), V_(V), weight_({width(), kTaps}) {
    Numbers numbers(seed);
    for (T& value : weight_.values()) value = static_cast<T>(numbers.uniform(-0.6, 0.6));
  }

  std::string_view kind() const override { return kind_; }
  std::int64_t width() const override { return H_ * (2 * K_ + V_); }
  LayerStateLayout state_layout() const override {
    const DType dtype = sizeof(T) == 8 ? DType::f64 : DType::f32;
    return {.layer = kind_,
            .parts = {{"conv_state", {width(), kTaps - 1}, dtype}, {"recurrent_state", {H_, K_, V_}, dtype}},
            .ledger = {.shape = {.kind = LayerKind::delta_rule, .heads = H_, .key_width = K_, .value_width = V_,
                                 .conv_channels = width(), .conv_width = kTaps}},
            .most_tokens = 0};
  }

  Status forward(const LayerCall<T>& call) const override {
    const std::int64_t B = call.hidden.extent(0), L = call.hidden.extent(1), N = call.cu_seqlens.given() ? call.cu_seqlens.extent(0) - 1 : B;
    Tensor<T, 3> conv({N, width(), kTaps - 1}), c({B, L, width()});
    Tensor<T, 4> memory({N, H_, K_, V_}), o({B, L, H_, V_});
    bring(call, 0, conv.data(), N);
    bring(call, 1, memory.data(), N);
    if (Status status = causal_conv(CausalConvArguments<T>{.x = call.hidden, .weight = weight_.view(), .state = conv.view(), .cu_seqlens = call.cu_seqlens,
                                                           .executor = call.executor, .y = c.view(), .final_state = conv.view()});
        !status.ok())
      return status;
    const Tensor<T, 3> beta({B, L, H_}, T(0.75));
    const auto part = [&](std::int64_t first, std::int64_t wide) {
      return View<const T, 4>(c.data() + first, {B, L, H_, wide}, {L * width(), width(), wide, 1});
    };
    if (Status status = delta_rule(DeltaRuleArguments<T>{.q = part(0, K_), .k = part(H_ * K_, K_), .v = part(2 * H_ * K_, V_), .beta = beta.view(),
                                                         .state = memory.view(), .cu_seqlens = call.cu_seqlens, .l2norm = true,
                                                         .executor = call.executor, .o = o.view(), .final_state = memory.view()});
        !status.ok())
      return status;
    each_index<3>(call.out.extents(), [&](const Extents<3>& at) {
      const std::int64_t from = at[2] % (H_ * V_);
      call.out[at] = call.hidden[at] / 2 + o(at[0], at[1], from / V_, from % V_);
    });
    leave(call, 0, conv.data(), N);
    leave(call, 1, memory.data(), N);
    return {};
  }

 private:
  static constexpr std::int64_t kTaps = 4;

  void bring(const LayerCall<T>& call, std::size_t part, T* to, std::int64_t N) const {
    const std::int64_t count = state_layout().parts[part].elements();
    for (std::int64_t n = 0; n < N; ++n)
      if (call.seen(n) > 0) std::copy_n(call.states[part].data + call.slots[static_cast<std::size_t>(n)] * call.states[part].stride, count, to + n * count);
  }
  void leave(const LayerCall<T>& call, std::size_t part, const T* from, std::int64_t N) const {
    const std::int64_t count = state_layout().parts[part].elements();
    for (std::int64_t n = 0; n < N; ++n)
      std::copy_n(from + n * count, count, call.states[part].data + call.slots[static_cast<std::size_t>(n)] * call.states[part].stride);
  }

  std::string kind_;
  std::int64_t H_, K_, V_;
  Tensor<T, 2> weight_;
};

// Another layer, before which `before` is asked: its refusal is this layer's.
template <typename T>
class WatchedLayer final : public Layer<T> {
 public:
  explicit WatchedLayer(const Layer<T>& inner) : inner_(inner) {}

  std::string_view kind() const override { return inner_.kind(); }
  std::int64_t width() const override { return inner_.width(); }
  LayerStateLayout state_layout() const override { return inner_.state_layout(); }
  Status forward(const LayerCall<T>& call) const override {
    if (before)
      if (Status status = before(call); !status.ok()) return status;
    return inner_.forward(call);
  }

  std::function<Status(const LayerCall<T>&)> before;

 private:
  const Layer<T>& inner_;
};

// A layer of which only the layout and the width are asked.
template <typename T>
class ShapeOnlyLayer final : public Layer<T> {
 public:
  ShapeOnlyLayer(LayerStateLayout layout, std::int64_t width) : layout_(std::move(layout)), width_(width) {}
  std::string_view kind() const override { return layout_.layer; }
  std::int64_t width() const override { return width_; }
  LayerStateLayout state_layout() const override { return layout_; }
  Status forward(const LayerCall<T>&) const override { return Status::unavailable("this layer has no weights"); }

 private:
  LayerStateLayout layout_;
  std::int64_t width_;
};

}  // namespace linearmem::test
