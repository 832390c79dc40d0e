// The kinds of layers, one file each: sizes that are refused, weights by name, and the layer itself.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layers/call.hpp"
#include "linearmem/layers.hpp"

namespace linearmem::layers {

constexpr const char* kGatedDeltaNet = "gated-delta-net";
constexpr const char* kMamba2 = "mamba2";
constexpr const char* kLinearTransformer = "linear-transformer";
constexpr const char* kUniversalTransformer = "universal-transformer";
constexpr const char* kWindowAttention = "window-attention";

// Weights are checked before a layer is made of them.
template <typename T>
std::unique_ptr<Layer<T>> make_kind(const GatedDeltaNetSizes& sizes, const NamedTensors& weights);
template <typename T>
std::unique_ptr<Layer<T>> make_kind(const Mamba2Sizes& sizes, const NamedTensors& weights);
template <typename T>
std::unique_ptr<Layer<T>> make_kind(const LinearTransformerSizes& sizes, const NamedTensors& weights);
template <typename T>
std::unique_ptr<Layer<T>> make_kind(const UniversalTransformerSizes& sizes, const NamedTensors& weights);
template <typename T>
std::unique_ptr<Layer<T>> make_kind(const WindowAttentionSizes& sizes, const NamedTensors& weights);

std::vector<LayerWeight> weights_of(const GatedDeltaNetSizes& sizes);
std::vector<LayerWeight> weights_of(const Mamba2Sizes& sizes);
std::vector<LayerWeight> weights_of(const LinearTransformerSizes& sizes);
std::vector<LayerWeight> weights_of(const UniversalTransformerSizes& sizes);
std::vector<LayerWeight> weights_of(const WindowAttentionSizes& sizes);

LayerStateLayout layout_of(const GatedDeltaNetSizes& sizes, DType dtype);
LayerStateLayout layout_of(const Mamba2Sizes& sizes, DType dtype);
LayerStateLayout layout_of(const LinearTransformerSizes& sizes, DType dtype);
LayerStateLayout layout_of(const UniversalTransformerSizes& sizes, DType dtype);
LayerStateLayout layout_of(const WindowAttentionSizes& sizes, DType dtype);

template <typename T>
constexpr DType compute_dtype() {
  return sizeof(T) == 8 ? DType::f64 : DType::f32;
}

// A layer between the packing of its tokens and the putting back of its results.
template <typename T>
class PackedLayer : public Layer<T> {
 public:
  Status forward(const LayerCall<T>& call) const final {
    auto entered = Call<T>::enter(call, *this);
    if (!entered.ok()) return entered.status();
    const auto y = run(entered.value());
    if (!y.ok()) return y.status();
    entered.value().put(y.value());
    return {};
  }

 private:
  virtual Result<Rows<T>> run(Call<T>& call) const = 0;
};

}  // namespace linearmem::layers
