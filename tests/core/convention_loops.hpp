// The small cases computed by loops over each convention's own order of elements, written from its documentation and sources: gates,
// states, heads and scale as they are there. None of it goes through an adapter.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/convention_cases.hpp"

namespace linearmem::test {

// The flat arrays of a case, by name.
struct Flat {
  explicit Flat(const NamedTensors& tensors) {
    for (const auto& [name, tensor] : tensors)
      if (is_floating(tensor.dtype)) arrays[name] = floating_values<double>(name, tensor).value();
  }
  std::vector<double>& operator[](const std::string& name) { return arrays[name]; }
  bool has(const std::string& name) const { return arrays.count(name) > 0; }
  std::map<std::string, std::vector<double>> arrays;
};

struct Answer {
  std::vector<double> output, state;
};

inline double silu(double x) { return x / (1 + std::exp(-x)); }
inline double softplus(double x) { return std::log1p(std::exp(x)); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// x / sqrt(sum x^2 + eps), row by row.
inline void norm_rows(std::vector<double>& rows, int K, const std::function<double(double)>& divisor) {
  for (std::size_t row = 0; row < rows.size(); row += static_cast<std::size_t>(K)) {
    double squares = 0;
    for (int i = 0; i < K; ++i) squares += rows[row + i] * rows[row + i];
    for (int i = 0; i < K; ++i) rows[row + i] /= divisor(squares);
  }
}
inline double inside_root(double squares) { return std::sqrt(squares + 1e-6); }

// One token of the delta rule on S, an accessor of the state by key and value; every argument is a row.
template <typename State>
inline void delta_step(State S, int K, int V, const double* k, const double* v, double beta, double decay) {
  for (int j = 0; j < V; ++j) {
    double seen = 0;
    for (int i = 0; i < K; ++i) seen += (S(i, j) *= decay) * k[i];
    for (int i = 0; i < K; ++i) S(i, j) += k[i] * beta * (v[j] - seen);
  }
}

template <typename State>
inline double read(State S, int K, int j, const double* q) {
  double sum = 0;
  for (int i = 0; i < K; ++i) sum += q[i] * S(i, j);
  return sum;
}

// [T,H,K], [T,Hv,V], key-first states; value head h reads key head h / (Hv/H); scale K^-1/2.
inline Answer fla(Flat f, const std::string& mechanism) {
  const int T = 3, K = 2, V = 3, H = 2, Hv = mechanism == "gated-delta-rule" ? 4 : 2;
  Answer a{std::vector<double>(T * Hv * V), f["initial_state"]};
  if (mechanism == "gated-delta-rule")
    for (const char* name : {"q", "k"}) norm_rows(f[name], K, inside_root);
  for (int t = 0; t < T; ++t)
    for (int h = 0; h < Hv; ++h) {
      const auto S = [&](int i, int j) -> double& { return a.state[(h * K + i) * V + j]; };
      const int kh = h / (Hv / H), row = (t * H + kh) * K;
      const double decay = f.has("g") ? std::exp(f["g"][t * Hv + h]) : 1;
      const double* v = &f["v"][(t * Hv + h) * V];
      if (f.has("beta")) {
        delta_step(S, K, V, &f["k"][row], v, f["beta"][t * Hv + h], decay);
      } else {
        for (int i = 0; i < K; ++i)
          for (int j = 0; j < V; ++j) S(i, j) = decay * S(i, j) + f["k"][row + i] * v[j];
      }
      for (int j = 0; j < V; ++j) a.output[(t * Hv + h) * V + j] = read(S, K, j, &f["q"][row]) / std::sqrt(K);
    }
  return a;
}

// The state holds the last W = 3 inputs, oldest first; the oldest is not read.
inline Answer fla_conv(Flat f) {
  const int T = 3, D = 2, W = 3;
  Answer a{std::vector<double>(T * D), f["initial_state"]};
  for (int t = 0; t < T; ++t)
    for (int d = 0; d < D; ++d) {
      double* cache = &a.state[d * W];
      cache[0] = cache[1], cache[1] = cache[2], cache[2] = f["x"][t * D + d];
      double sum = f["bias"][d];
      for (int j = 0; j < W; ++j) sum += f["weight"][d * W + j] * cache[j];
      a.output[t * D + d] = silu(sum);
    }
  return a;
}

// [B,T,H*D]; the states are of Hkv heads. With Hq >= Hkv several query heads read one; otherwise (ONNX Runtime) several states share a
// query head and a key head.
inline Answer onnx(Flat f, int Hq, int Hk, int Hkv) {
  const int T = 3, K = 2, V = 3, Ho = std::max(Hq, Hkv);
  Answer a{std::vector<double>(T * Ho * V), f["past_state"]};
  for (int t = 0; t < T; ++t)
    for (int h = 0; h < Hkv; ++h) {
      const auto S = [&](int i, int j) -> double& { return a.state[(h * K + i) * V + j]; };
      const double* k = &f["key"][t * Hk * K + h / (Hkv / Hk) * K];
      const double* v = &f["value"][t * Hkv * V + h * V];
      const double decay = f.has("decay") ? std::exp(f["decay"][t * Hkv + h]) : 1;
      if (f.has("beta")) {
        delta_step(S, K, V, k, v, f["beta"][t * Hkv + h], decay);
      } else {
        for (int i = 0; i < K; ++i)
          for (int j = 0; j < V; ++j) S(i, j) = decay * S(i, j) + k[i] * v[j];
      }
      const int readers = std::max(Hq / Hkv, 1);
      for (int r = 0; r < readers; ++r) {
        const int out = h * readers + r, query = Hq >= Hkv ? out : h / (Hkv / Hq);
        for (int j = 0; j < V; ++j) a.output[t * Ho * V + out * V + j] = read(S, K, j, &f["query"][t * Hq * K + query * K]) / std::sqrt(K);
      }
    }
  return a;
}

// Channels first: input [D,T], state [D,W-1], weight [D,1,W].
inline Answer onnx_conv(Flat f, bool activated) {
  const int T = 3, D = 2, W = 3;
  Answer a;
  for (int d = 0; d < D; ++d) {
    std::vector<double> padded(f["past_state"].begin() + d * 2, f["past_state"].begin() + d * 2 + 2);
    padded.insert(padded.end(), f["input"].begin() + d * T, f["input"].begin() + (d + 1) * T);
    for (int t = 0; t < T; ++t) {
      double sum = f["bias"][d];
      for (int j = 0; j < W; ++j) sum += f["weight"][d * W + j] * padded[t + j];
      a.output.push_back(activated ? silu(sum) : sum);
    }
    a.state.insert(a.state.end(), padded.end() - 2, padded.end());
  }
  return a;
}

// A factor for each key component; k, v, q and g [T,H,3]; key-first states in one row of H*3*3.
inline Answer ggml_linear(Flat f) {
  const int T = 3, H = 2, S = 3;
  Answer a{std::vector<double>(T * H * S), f["state"]};
  for (int t = 0; t < T; ++t)
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < S; ++i)
        for (int j = 0; j < S; ++j) {
          const int at = (t * H + h) * S;
          double& s = a.state[h * S * S + i * S + j];
          s = s * f["g"][at + i] + f["k"][at + i] * f["v"][at + j];
          a.output[at + j] += s * f["q"][at + i] * 0.5;
        }
  return a;
}

// Value-first states; value head h reads key head h mod H; the norm's epsilon is a floor.
inline Answer ggml_delta(Flat f) {
  const int T = 3, H = 2, Hv = 4, S = 3;
  Answer a{std::vector<double>(T * Hv * S), f["state"]};
  for (const char* name : {"q", "k"}) norm_rows(f[name], S, [](double squares) { return std::max(std::sqrt(squares), 1e-6); });
  for (int t = 0; t < T; ++t)
    for (int h = 0; h < Hv; ++h) {
      const auto M = [&](int i, int j) -> double& { return a.state[h * S * S + j * S + i]; };
      const int row = (t * H + h % H) * S;
      delta_step(M, S, S, &f["k"][row], &f["v"][(t * Hv + h) * S], f["beta"][t * Hv + h], std::exp(f["g"][t * Hv + h]));
      for (int j = 0; j < S; ++j) a.output[(t * Hv + h) * S + j] = read(M, S, j, &f["q"][row]) / std::sqrt(S);
    }
  return a;
}

// sx [D,W-1+T]: a window slides over it; output [T,D].
inline Answer ggml_conv(Flat f) {
  const int T = 3, D = 2, W = 3;
  Answer a{std::vector<double>(T * D), {}};
  for (int t = 0; t < T; ++t)
    for (int d = 0; d < D; ++d)
      for (int j = 0; j < W; ++j) a.output[t * D + d] += f["sx"][d * (W - 1 + T) + t + j] * f["c"][d * W + j];
  return a;
}

// s [H,P,N]; dt before softplus; group h / (H/G).
inline Answer ggml_scan(Flat f) {
  const int T = 3, H = 2, P = 3, N = 1;
  Answer a{std::vector<double>(T * H * P), f["s"]};
  for (int t = 0; t < T; ++t)
    for (int h = 0; h < H; ++h) {
      const double dt = softplus(f["dt"][t * H + h]);
      for (int p = 0; p < P; ++p) {
        double& s = a.state[(h * P + p) * N];
        s = s * std::exp(dt * f["A"][h]) + f["B"][t * N] * f["x"][(t * H + h) * P + p] * dt;
        a.output[(t * H + h) * P + p] = s * f["C"][t * N];
      }
    }
  return a;
}

// Factors, value-first states; the layer's norm on the mean, q scaled by it.
inline Answer mlx_delta(Flat f) {
  const int T = 3, K = 2, V = 3, H = 2, Hv = 4;
  Answer a{std::vector<double>(T * Hv * V), f["state"]};
  const auto rms = [](double squares) { return std::sqrt(squares / K + 1e-6); };
  for (const char* name : {"q", "k"}) norm_rows(f[name], K, rms);
  for (double& x : f["k"]) x /= std::sqrt(K);
  for (double& x : f["q"]) x /= K;
  for (int t = 0; t < T; ++t)
    for (int h = 0; h < Hv; ++h) {
      const auto S = [&](int i, int j) -> double& { return a.state[(h * V + j) * K + i]; };
      const int row = (t * H + h / 2) * K;
      delta_step(S, K, V, &f["k"][row], &f["v"][(t * Hv + h) * V], f["beta"][t * Hv + h], f["g"][t * Hv + h]);
      for (int j = 0; j < V; ++j) a.output[(t * Hv + h) * V + j] = read(S, K, j, &f["q"][row]);
    }
  return a;
}

// conv_state [W-1,D] before mixed_qkv [T,D]; weight [D,W,1].
inline Answer mlx_conv(Flat f) {
  const int T = 3, D = 2, W = 3;
  std::vector<double> window = f["conv_state"];
  window.insert(window.end(), f["mixed_qkv"].begin(), f["mixed_qkv"].end());
  Answer a{std::vector<double>(T * D), {window.end() - 2 * D, window.end()}};
  for (int t = 0; t < T; ++t)
    for (int d = 0; d < D; ++d) {
      double sum = 0;
      for (int j = 0; j < W; ++j) sum += f["conv1d.weight"][d * W + j] * window[(t + j) * D + d];
      a.output[t * D + d] = silu(sum);
    }
  return a;
}

// state [H,P,N]; dt = clip(softplus(dt + dt_bias), 0.001, 100); A = -exp(A_log); D x is added.
inline Answer mlx_ssm(Flat f) {
  const int T = 3, H = 2, P = 3, N = 1;
  Answer a{std::vector<double>(T * H * P), f["state"]};
  for (int t = 0; t < T; ++t)
    for (int h = 0; h < H; ++h) {
      const double dt = std::min(std::max(softplus(f["dt"][t * H + h] + f["dt_bias"][h]), 0.001), 100.0);
      for (int p = 0; p < P; ++p) {
        const double x = f["hidden_states"][(t * H + h) * P + p];
        double& s = a.state[(h * P + p) * N];
        s = std::exp(-std::exp(f["A_log"][h]) * dt) * s + dt * f["B"][t * N] * x;
        a.output[(t * H + h) * P + p] = s * f["C"][t * N] + f["D"][h] * x;
      }
    }
  return a;
}

// q, k [T,H,K]; state_new = old - k (k old) + k (beta v + (1 - beta) k old) with old = alpha state; value-first states.
inline Answer flashinfer(Flat f, bool decode) {
  const int T = 3, K = decode ? 2 : 3, V = 3, H = 2, Hv = 4;
  Answer a{std::vector<double>(T * Hv * V), f[decode ? "state" : "initial_state"]};
  if (decode)
    for (const char* name : {"q", "k"}) norm_rows(f[name], K, inside_root);
  for (int t = 0; t < T; ++t)
    for (int h = 0; h < Hv; ++h) {
      const int at = t * Hv + h, row = (t * H + h / 2) * K;
      const double alpha = decode ? std::exp(-std::exp(f["A_log"][h]) * softplus(f["a"][at] + f["dt_bias"][h])) : f["g"][at];
      const double beta = decode ? sigmoid(f["b"][at]) : f["beta"][at];
      for (int j = 0; j < V; ++j) {
        double* column = &a.state[(h * V + j) * K];
        double old = 0;
        for (int i = 0; i < K; ++i) old += (column[i] *= alpha) * f["k"][row + i];
        const double fresh = beta * f["v"][at * V + j] + (1 - beta) * old;
        for (int i = 0; i < K; ++i) {
          column[i] += f["k"][row + i] * (fresh - old);
          a.output[at * V + j] += f["q"][row + i] * column[i] / std::sqrt(K);
        }
      }
    }
  return a;
}

inline Answer answer_of(const ConventionCase& c) {
  const Flat f(test::small_inputs(c));
  const std::string convention = c.convention, mechanism = c.mechanism;
  const bool conv = mechanism == "causal-conv";
  if (convention == "fla") return conv ? fla_conv(f) : fla(f, mechanism);
  if (convention == "onnx") return conv ? onnx_conv(f, false) : onnx(f, 4, 2, 2);
  if (convention == "onnxruntime") return conv ? onnx_conv(f, true) : onnx(f, 2, 2, 4);
  if (convention == "flashinfer" || convention == "flashinfer-decode") return flashinfer(f, convention == "flashinfer-decode");
  if (convention == "ggml") return conv ? ggml_conv(f) : mechanism == "ssd" ? ggml_scan(f) : mechanism == "linear-attention" ? ggml_linear(f) : ggml_delta(f);
  return conv ? mlx_conv(f) : mechanism == "ssd" ? mlx_ssm(f) : mlx_delta(f);
}

}  // namespace linearmem::test
