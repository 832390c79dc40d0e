// One small layer of each kind, random weights for any, and storage for the states of many requests that starts full of NaN.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/support.hpp"
#include "linearmem/layers.hpp"

namespace linearmem::test {

inline std::vector<LayerSizes> small_layers() {
  return {GatedDeltaNetSizes{.model_width = 11, .key_heads = 2, .value_heads = 6, .key_width = 5, .value_width = 7, .conv_width = 4},
          GatedDeltaNetSizes{.model_width = 17, .key_heads = 1, .value_heads = 1, .key_width = 8, .value_width = 3, .conv_width = 1},
          Mamba2Sizes{.model_width = 13, .heads = 6, .head_width = 5, .groups = 3, .state_width = 7, .bias = true, .least_step = 0.1, .most_step = 0.9, .norm_groups = 2},
          Mamba2Sizes{.model_width = 9, .heads = 2, .head_width = 4, .state_width = 3, .conv_width = 2, .conv_bias = false},
          LinearTransformerSizes{.model_width = 10, .heads = 2, .key_width = 3, .value_width = 5, .inner_width = 23},
          UniversalTransformerSizes{.model_width = 8, .heads = 2, .key_width = 3, .value_width = 5, .inner_width = 9, .rounds = 3, .context = 40},
          UniversalTransformerSizes{.model_width = 6, .heads = 1, .key_width = 4, .value_width = 4, .inner_width = 7, .rounds = 5, .context = 33, .halting = true,
                                    .threshold = 0.99, .activation = BlockActivation::gelu},
          WindowAttentionSizes{.model_width = 12, .heads = 6, .key_heads = 2, .head_width = 4, .window = 5, .bias = true},
          WindowAttentionSizes{.model_width = 7, .heads = 1, .key_heads = 1, .head_width = 2, .window = 1}};
}

inline NamedTensors drawn_weights(const LayerSizes& sizes, std::uint64_t seed) {
  Numbers numbers(seed);
  NamedTensors weights;
  for (const LayerWeight& weight : layer_weights(sizes)) {
    std::int64_t count = 1;
    for (std::int64_t extent : weight.shape) count *= extent;
    const bool matrix = weight.shape.size() > 1, norm = weight.name.find("norm") == 0 && weight.name.find("bias") == std::string::npos;
    const bool halting = weight.name == "halting.weight";  // far apart, so that tokens halt in different rounds
    const double reach = halting ? 2 : matrix ? 1.7 / std::sqrt(static_cast<double>(weight.shape.back())) : 1;
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = norm ? numbers.uniform(0.5, 1.5) : numbers.uniform(-reach, reach);
    weights[weight.name] = to_named(values, weight.shape);
  }
  return weights;
}

template <typename T>
std::unique_ptr<Layer<T>> layer_of(const LayerSizes& sizes, const NamedTensors& weights) {
  auto layer = make_layer<T>(sizes, weights);
  EXPECT_TRUE(layer.ok()) << layer.status().message();
  return layer.ok() ? std::move(layer).value() : nullptr;
}

// Rows for `rows` requests, a few elements apart, all NaN at first.
template <typename T>
class StateStore {
 public:
  StateStore(const LayerStateLayout& layout, std::int64_t rows, std::int64_t gap = 3) {
    for (const StatePart& part : layout.parts) {
      values_.emplace_back(static_cast<std::size_t>(rows * (part.elements() + gap)), std::numeric_limits<T>::quiet_NaN());
      strides_.push_back(part.elements() + gap);
    }
    rows_ = rows;
  }
  std::vector<StateRows<T>> rows() {
    std::vector<StateRows<T>> rows;
    for (std::size_t part = 0; part < values_.size(); ++part) rows.push_back({values_[part].data(), rows_, strides_[part]});
    return rows;
  }
  // Bytes of one row of all parts, without the gaps.
  std::vector<T> row(const LayerStateLayout& layout, std::int64_t row) const {
    std::vector<T> all;
    for (std::size_t part = 0; part < values_.size(); ++part) {
      const T* first = values_[part].data() + row * strides_[part];
      all.insert(all.end(), first, first + layout.parts[part].elements());
    }
    return all;
  }

 private:
  std::vector<std::vector<T>> values_;
  std::vector<std::int64_t> strides_;
  std::int64_t rows_ = 0;
};

template <typename T>
bool equal_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// One request of one layer: hidden [1,T,M] in pieces, through a state of its own.
template <typename T>
class OneRequest {
 public:
  explicit OneRequest(const Layer<T>& layer) : layer_(layer), store_(layer.state_layout(), 1) {}

  // Tokens [begin, end) of hidden to the same tokens of out.
  void take(const View<const T, 3>& hidden, std::int64_t begin, std::int64_t end, const View<T, 3>& out) {
    const std::vector<StateRows<T>> states = store_.rows();
    const Status status = layer_.forward({.hidden = tokens_of(hidden, begin, end), .states = states, .seen = {&seen_, {1}}, .out = tokens_of(out, begin, end)});
    ASSERT_TRUE(status.ok()) << status.message();
    seen_ += end - begin;
  }
  std::vector<T> state() const { return store_.row(layer_.state_layout(), 0); }
  std::int64_t seen() const { return seen_; }

 private:
  const Layer<T>& layer_;
  StateStore<T> store_;
  std::int64_t seen_ = 0;
};

}  // namespace linearmem::test
