// The shared block with its parameters in packed rows, and the forms that run it. Arguments have been checked.
#pragma once

#include <cmath>
#include <vector>

#include "foundation/precision.hpp"
#include "linearmem/depth_recurrence.hpp"

namespace linearmem::depth {

template <typename T>
T activate(BlockActivation activation, T x) {
  switch (activation) {
    case BlockActivation::relu: return x <= T{0} ? T{0} : x;  // written so that NaN stays NaN
    case BlockActivation::gelu: return x * (T{1} + std::erf(x * static_cast<T>(0.70710678118654752440))) / T{2};
    case BlockActivation::tanh: return std::tanh(x);
    case BlockActivation::none: break;
  }
  return x;
}

template <typename T>
class Block {
 public:
  explicit Block(const SharedDepthArguments<T>& a)
      : activation_(a.activation), w1_(a.w1.extents()), w2_(a.w2.extents()), b1_({a.w1.extent(1)}), b2_({a.w2.extent(1)}),
        inner_(static_cast<std::size_t>(a.w1.extent(1))), parameters_(w1_.size() + w2_.size()) {
    convert(a.w1, w1_.view());
    convert(a.w2, w2_.view());
    take(a.b1, b1_);
    take(a.b2, b2_);
  }

  // change = act(x W1 + b1) W2 + b2, one row.
  void change(const T* x, T* change) {
    product(x, w1_, b1_, inner_.data());
    for (T& value : inner_) value = activate(activation_, value);
    product(inner_.data(), w2_, b2_, change);
  }

  DepthWork work() const { return {parameters_, operations_}; }

 private:
  void take(const View<const T, 1>& given, Tensor<T, 1>& bias) {
    if (!given.given()) return;
    convert(given, bias.view());
    parameters_ += bias.size();
  }

  void product(const T* row, const Tensor<T, 2>& w, const Tensor<T, 1>& bias, T* out) {
    const std::int64_t from = w.extents()[0], to = w.extents()[1];
    for (std::int64_t j = 0; j < to; ++j) out[j] = bias.data()[j];
    for (std::int64_t i = 0; i < from; ++i)
      for (std::int64_t j = 0; j < to; ++j) out[j] += row[i] * w.data()[i * to + j];
    operations_ += from * to;
  }

  BlockActivation activation_;
  Tensor<T, 2> w1_, w2_;
  Tensor<T, 1> b1_, b2_;
  std::vector<T> inner_;
  std::int64_t parameters_ = 0, operations_ = 0;
};

// Each returns what it held and did.
DepthWork shared_reference(const SharedDepthArguments<double>& arguments);
template <typename T>
DepthWork shared_recurrent(const SharedDepthArguments<T>& arguments);
template <typename T>
DepthWork shared_unrolled(const SharedDepthArguments<T>& arguments);

}  // namespace linearmem::depth
