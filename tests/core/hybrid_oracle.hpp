// The stack as its header defines it, one token at a time, with every layer's memory written out here and no room called: what the
// tests of the stack are held to.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "linearmem/hybrid.hpp"

namespace linearmem::test {

class HybridOracle {
 public:
  // Sequence n with the states the arguments bring.
  HybridOracle(const HybridArguments<double>& a, std::int64_t n) : a_(a), K_(a.wq.extent(3)), V_(a.wv.extent(3)) {
    std::int64_t window = 0, delta = 0, linear = 0;
    for (HybridLayer layer : a.layers)
      for (std::int64_t h = 0; h < a.wq.extent(2); ++h) {
        const bool last = h + 1 == a.wq.extent(2);
        memories_.push_back(Memory{{}, {}, std::vector<Row>(K_, Row(V_)), Row(K_), 0});
        Memory& memory = memories_.back();
        switch (layer) {
          case HybridLayer::window: load_window(memory, window, n, h), window += last; break;
          case HybridLayer::delta: memory.index = delta, load(memory.S, a.delta_state, delta, n, h), delta += last; break;
          case HybridLayer::linear: load(memory.S, a.linear_state, linear, n, h), load_z(memory.z, linear, n, h), linear += last; break;
        }
      }
  }

  using Row = std::vector<double>;

  Row step(Row x) {
    for (std::size_t l = 0; l < a_.layers.size(); ++l) {
      Row next = x;
      for (std::int64_t h = 0; h < a_.wq.extent(2); ++h) {
        const Row o = remember(memories_[l * a_.wq.extent(2) + h], l, h, x);
        for (std::size_t d = 0; d < x.size(); ++d)
          for (std::size_t j = 0; j < o.size(); ++j) next[d] += o[j] * a_.wo(l, h, j, d);
      }
      x = next;
    }
    return x;
  }

 private:
  struct Memory {
    std::vector<Row> keys, values;  // all that were seen
    std::vector<Row> S;
    Row z;
    std::int64_t index;
  };

  Row remember(Memory& memory, std::int64_t l, std::int64_t h, const Row& x) {
    const Row q = times(x, a_.wq, l, h), k = times(x, a_.wk, l, h), v = times(x, a_.wv, l, h);
    if (a_.layers[l] == HybridLayer::window) return attend(memory, q, k, v);
    if (a_.layers[l] == HybridLayer::linear) return read_sum(memory, q, k, v);
    const double beta = a_.wbeta.given() ? 1 / (1 + std::exp(-gate(x, a_.wbeta, memory.index, h))) : 1;
    const double decay = a_.wg.given() ? 1 / (1 + std::exp(-gate(x, a_.wg, memory.index, h))) : 1;
    return correct(memory, unit(q), unit(k), v, beta, decay);
  }

  Row attend(Memory& memory, const Row& q, const Row& k, const Row& v) const {
    memory.keys.push_back(k);
    memory.values.push_back(v);
    const auto all = static_cast<std::int64_t>(memory.keys.size());
    Row o(V_);
    double total = 0;
    for (std::int64_t s = std::max(std::int64_t{0}, a_.window ? all - *a_.window : 0); s < all; ++s) {
      const double weight = std::exp(dot(q, memory.keys[s]) / std::sqrt(static_cast<double>(K_)));
      total += weight;
      for (std::int64_t j = 0; j < V_; ++j) o[j] += weight * memory.values[s][j];
    }
    for (double& value : o) value /= total;
    return o;
  }

  Row correct(Memory& memory, const Row& q, const Row& k, const Row& v, double beta, double decay) const {
    Row o(V_);
    for (std::int64_t j = 0; j < V_; ++j) {
      double read = 0;
      for (std::int64_t i = 0; i < K_; ++i) read += k[i] * decay * memory.S[i][j];
      for (std::int64_t i = 0; i < K_; ++i) memory.S[i][j] = decay * memory.S[i][j] + beta * k[i] * (v[j] - read);
      for (std::int64_t i = 0; i < K_; ++i) o[j] += q[i] * memory.S[i][j] / std::sqrt(static_cast<double>(K_));
    }
    return o;
  }

  Row read_sum(Memory& memory, const Row& q, const Row& k, const Row& v) const {
    Row o(V_);
    double weight = 1e-6;
    for (std::int64_t i = 0; i < K_; ++i) {
      memory.z[i] += feature(k[i]);
      weight += feature(q[i]) * memory.z[i];
      for (std::int64_t j = 0; j < V_; ++j) o[j] += feature(q[i]) * (memory.S[i][j] += feature(k[i]) * v[j]);
    }
    for (double& value : o) value /= weight;
    return o;
  }

  static double feature(double x) { return x > 0 ? x + 1 : std::exp(x); }
  static double dot(const Row& a, const Row& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  static Row unit(Row x) {
    const double norm = std::sqrt(dot(x, x) + 1e-6);
    for (double& value : x) value /= norm;
    return x;
  }
  static Row times(const Row& x, const View<const double, 4>& w, std::int64_t l, std::int64_t h) {
    Row out(static_cast<std::size_t>(w.extent(3)));
    for (std::size_t d = 0; d < x.size(); ++d)
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += x[d] * w(l, d, h, j);
    return out;
  }
  static double gate(const Row& x, const View<const double, 3>& w, std::int64_t index, std::int64_t h) {
    double sum = 0;
    for (std::size_t d = 0; d < x.size(); ++d) sum += x[d] * w(index, d, h);
    return sum;
  }

  void load_window(Memory& memory, std::int64_t index, std::int64_t n, std::int64_t h) const {
    for (std::int64_t row = 0; a_.window_count.given() && row < a_.window_count(n); ++row) {
      memory.keys.emplace_back();
      memory.values.emplace_back();
      for (std::int64_t i = 0; i < K_; ++i) memory.keys.back().push_back(a_.window_k(index, n, row, h, i));
      for (std::int64_t j = 0; j < V_; ++j) memory.values.back().push_back(a_.window_v(index, n, row, h, j));
    }
  }
  void load(std::vector<Row>& S, const View<const double, 5>& state, std::int64_t index, std::int64_t n, std::int64_t h) const {
    for (std::int64_t i = 0; state.given() && i < K_; ++i)
      for (std::int64_t j = 0; j < V_; ++j) S[i][j] = state(index, n, h, i, j);
  }
  void load_z(Row& z, std::int64_t index, std::int64_t n, std::int64_t h) const {
    for (std::int64_t i = 0; a_.linear_z.given() && i < K_; ++i) z[i] = a_.linear_z(index, n, h, i);
  }

  const HybridArguments<double>& a_;
  std::int64_t K_, V_;
  std::vector<Memory> memories_;  // [L,H]
};

}  // namespace linearmem::test
