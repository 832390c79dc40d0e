// The layers as their papers and reference implementations define them, for one request from its first token on, in float64 and plain loops:
// nothing of the library's rooms is used here. x, and what comes back, is [T][M].
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "linearmem/layers.hpp"

namespace linearmem::test {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;
using OracleWeights = std::map<std::string, Vector>;

inline double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
inline double silu_of(double x) { return x * sigmoid_of(x); }
inline double softplus_of(double x) { return std::max(x, 0.0) + std::log(1 + std::exp(-std::abs(x))); }

// x W^T + b of PyTorch's Linear.
inline Vector linear(const OracleWeights& weights, const std::string& name, const Vector& x) {
  const Vector& w = weights.at(name + ".weight");
  Vector y = weights.count(name + ".bias") ? weights.at(name + ".bias") : Vector(w.size() / x.size());
  for (std::size_t j = 0; j < y.size(); ++j)
    for (std::size_t i = 0; i < x.size(); ++i) y[j] += w[j * x.size() + i] * x[i];
  return y;
}

// y_t[c] = silu(b[c] + sum_j w[c,j] x_{t-W+1+j}[c]).
inline Matrix short_convolution(const Matrix& x, const Vector& w, const Vector& bias, int W) {
  Matrix y = x;
  for (int t = 0; t < static_cast<int>(x.size()); ++t)
    for (std::size_t c = 0; c < x[t].size(); ++c) {
      double sum = bias.empty() ? 0 : bias[c];
      for (int j = 0; j < W; ++j)
        if (t - W + 1 + j >= 0) sum += w[c * W + j] * x[t - W + 1 + j][c];
      y[t][c] = silu_of(sum);
    }
  return y;
}

inline Vector unit(const double* x, std::int64_t width) {
  double square = 1e-6;
  for (std::int64_t i = 0; i < width; ++i) square += x[i] * x[i];
  Vector u(x, x + width);
  for (double& value : u) value /= std::sqrt(square);
  return u;
}

// S' = exp(g) S; S = S' + k (beta (v - k S')); o = q S, for one head over all tokens. Returns o [T][V].
struct HeadInput {
  Matrix q, k, v;
  Vector g, beta;
};
inline Matrix gated_delta_head(const HeadInput& in) {
  const std::size_t K = in.k[0].size(), V = in.v[0].size();
  Matrix S(K, Vector(V)), out;
  for (std::size_t t = 0; t < in.q.size(); ++t) {
    Vector read(V), o(V);
    for (std::size_t i = 0; i < K; ++i)
      for (std::size_t j = 0; j < V; ++j) read[j] += in.k[t][i] * (S[i][j] *= std::exp(in.g[t]));
    for (std::size_t i = 0; i < K; ++i)
      for (std::size_t j = 0; j < V; ++j) {
        S[i][j] += in.k[t][i] * in.beta[t] * (in.v[t][j] - read[j]);
        o[j] += in.q[t][i] / std::sqrt(static_cast<double>(K)) * S[i][j];
      }
    out.push_back(o);
  }
  return out;
}

// Qwen3-Next. Columns of in_proj_qkvz: for each key head q, k, the v of its value heads, their z; of in_proj_ba: their b, their a.
inline Matrix gated_delta_net(const GatedDeltaNetSizes& s, const OracleWeights& w, const Matrix& x) {
  const std::int64_t K = s.key_width, V = s.value_width, R = s.value_heads / s.key_heads, keys = s.key_heads * K;
  Matrix mixed, z, b, a;
  for (const Vector& row : x) {
    const Vector qkvz = linear(w, "in_proj_qkvz", row), ba = linear(w, "in_proj_ba", row);
    Vector q, k, v, gate, beta, alpha;
    const auto append = [](Vector& to, const Vector& from, std::int64_t at, std::int64_t count) { to.insert(to.end(), from.begin() + at, from.begin() + at + count); };
    for (std::int64_t h = 0; h < s.key_heads; ++h) {
      const std::int64_t at = h * (2 * K + 2 * R * V);
      append(q, qkvz, at, K);
      append(k, qkvz, at + K, K);
      append(v, qkvz, at + 2 * K, R * V);
      append(gate, qkvz, at + 2 * K + R * V, R * V);
      append(beta, ba, h * 2 * R, R);
      append(alpha, ba, h * 2 * R + R, R);
    }
    q.insert(q.end(), k.begin(), k.end());
    q.insert(q.end(), v.begin(), v.end());
    mixed.push_back(q), z.push_back(gate), b.push_back(beta), a.push_back(alpha);
  }
  mixed = short_convolution(mixed, w.at("conv1d.weight"), {}, static_cast<int>(s.conv_width));
  Matrix y(x.size(), Vector(s.value_heads * V));
  for (std::int64_t h = 0; h < s.value_heads; ++h) {
    HeadInput in;
    for (std::size_t t = 0; t < x.size(); ++t) {
      const double* row = mixed[t].data();
      in.q.push_back(unit(row + h / R * K, K));
      in.k.push_back(unit(row + keys + h / R * K, K));
      in.v.emplace_back(row + 2 * keys + h * V, row + 2 * keys + (h + 1) * V);
      in.beta.push_back(sigmoid_of(b[t][h]));
      in.g.push_back(-std::exp(w.at("A_log")[h]) * softplus_of(a[t][h] + w.at("dt_bias")[h]));
    }
    const Matrix o = gated_delta_head(in);
    for (std::size_t t = 0; t < x.size(); ++t) {
      double square = 0;
      for (double value : o[t]) square += value * value;
      for (std::int64_t j = 0; j < V; ++j)
        y[t][h * V + j] = o[t][j] / std::sqrt(square / V + s.norm_eps) * w.at("norm.weight")[j] * silu_of(z[t][h * V + j]);
    }
  }
  Matrix out;
  for (const Vector& row : y) out.push_back(linear(w, "out_proj", row));
  return out;
}

// Mamba-2: h_t[n,p] = exp(dt A) h_{t-1}[n,p] + dt B_t[n] x_t[p], y_t[p] = sum_n C_t[n] h_t[n,p] + D x_t[p].
inline Matrix mamba2(const Mamba2Sizes& s, const OracleWeights& w, const Matrix& x) {
  const std::int64_t P = s.head_width, N = s.state_width, I = s.heads * P, GN = s.groups * N;
  Matrix z, xbc, dt;
  for (const Vector& row : x) {
    const Vector p = linear(w, "in_proj", row);
    z.emplace_back(p.begin(), p.begin() + I);
    xbc.emplace_back(p.begin() + I, p.begin() + 2 * I + 2 * GN);
    dt.emplace_back(p.begin() + 2 * I + 2 * GN, p.end());
  }
  xbc = short_convolution(xbc, w.at("conv1d.weight"), s.conv_bias ? w.at("conv1d.bias") : Vector(), static_cast<int>(s.conv_width));
  Matrix y(x.size(), Vector(I));
  for (std::int64_t h = 0; h < s.heads; ++h) {
    Matrix state(N, Vector(P));
    const std::int64_t group = h / (s.heads / s.groups);
    for (std::size_t t = 0; t < x.size(); ++t) {
      double step = std::max(softplus_of(dt[t][h] + w.at("dt_bias")[h]), s.least_step);
      if (s.most_step > 0) step = std::min(step, s.most_step);
      const double *u = xbc[t].data() + h * P, *B = xbc[t].data() + I + group * N, *C = B + GN;
      for (std::int64_t p = 0; p < P; ++p) {
        double sum = w.at("D")[h] * u[p];
        for (std::int64_t n = 0; n < N; ++n) {
          state[n][p] = std::exp(-std::exp(w.at("A_log")[h]) * step) * state[n][p] + step * B[n] * u[p];
          sum += C[n] * state[n][p];
        }
        y[t][h * P + p] = sum * silu_of(z[t][h * P + p]);
      }
    }
  }
  Matrix out;
  const std::int64_t part = I / s.norm_groups;
  for (Vector& row : y) {
    for (std::int64_t first = 0; first < I; first += part) {
      double square = 0;
      for (std::int64_t i = first; i < first + part; ++i) square += row[i] * row[i];
      const double root = std::sqrt(square / part + s.norm_eps);
      for (std::int64_t i = first; i < first + part; ++i) row[i] = row[i] / root * w.at("norm.weight")[i];
    }
    out.push_back(linear(w, "out_proj", row));
  }
  return out;
}

inline Vector layer_norm_of(const OracleWeights& w, const std::string& name, const Vector& x, double eps) {
  double mean = 0, variance = 0;
  for (double value : x) mean += value / x.size();
  for (double value : x) variance += (value - mean) * (value - mean) / x.size();
  Vector y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back((x[i] - mean) / std::sqrt(variance + eps) * w.at(name + ".weight")[i] + w.at(name + ".bias")[i]);
  return y;
}

inline Vector sum_of(Vector a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

// Post-norm: h = norm1(x + out(o)), norm2(h + linear2(relu(linear1(h)))).
template <typename Sizes>
Vector transformer_rest(const Sizes& s, const OracleWeights& w, const Vector& x, const Vector& o) {
  const Vector h = layer_norm_of(w, "norm1", sum_of(x, linear(w, "attention.out_projection", o)), s.norm_eps);
  Vector inner = linear(w, "linear1", h);
  for (double& value : inner) value = s.activation == BlockActivation::relu ? std::max(value, 0.0) : value * std::erfc(-value / std::sqrt(2.0)) / 2;
  return layer_norm_of(w, "norm2", sum_of(h, linear(w, "linear2", inner)), s.norm_eps);
}

// o_t = sum_{s <= t} phi(q_t).phi(k_s) v_s / (sum_{s <= t} phi(q_t).phi(k_s) + eps), phi = elu + 1.
inline Matrix linear_transformer(const LinearTransformerSizes& s, const OracleWeights& w, const Matrix& x) {
  Matrix q, k, v, out;
  const auto phi = [](Vector row) {
    for (double& value : row) value = value > 0 ? value + 1 : std::exp(value);
    return row;
  };
  for (const Vector& row : x) {
    q.push_back(phi(linear(w, "attention.query_projection", row)));
    k.push_back(phi(linear(w, "attention.key_projection", row)));
    v.push_back(linear(w, "attention.value_projection", row));
  }
  for (std::size_t t = 0; t < x.size(); ++t) {
    Vector o(s.heads * s.value_width);
    for (std::int64_t h = 0; h < s.heads; ++h) {
      double total = s.eps;
      for (std::size_t earlier = 0; earlier <= t; ++earlier) {
        double match = 0;
        for (std::int64_t i = h * s.key_width; i < (h + 1) * s.key_width; ++i) match += q[t][i] * k[earlier][i];
        total += match;
        for (std::int64_t j = h * s.value_width; j < (h + 1) * s.value_width; ++j) o[j] += match * v[earlier][j];
      }
      for (std::int64_t j = h * s.value_width; j < (h + 1) * s.value_width; ++j) o[j] /= total;
    }
    out.push_back(transformer_rest(s, w, x[t], o));
  }
  return out;
}

// softmax(q_t k_s / sqrt(K)) over the last `window` tokens up to t.
struct AttentionShape {
  std::int64_t heads, key_heads, K, V, window;
};
inline Vector attention_at(const AttentionShape& s, const Matrix& q, const Matrix& k, const Matrix& v, std::int64_t t) {
  Vector o(s.heads * s.V);
  for (std::int64_t h = 0; h < s.heads; ++h) {
    const std::int64_t from = h / (s.heads / s.key_heads);
    double total = 0;
    for (std::int64_t e = std::max<std::int64_t>(t - s.window + 1, 0); e <= t; ++e) {
      double match = 0;
      for (std::int64_t i = 0; i < s.K; ++i) match += q[t][h * s.K + i] * k[e][from * s.K + i];
      const double weight = std::exp(match / std::sqrt(static_cast<double>(s.K)));
      total += weight;
      for (std::int64_t j = 0; j < s.V; ++j) o[h * s.V + j] += weight * v[e][from * s.V + j];
    }
    for (std::int64_t j = 0; j < s.V; ++j) o[h * s.V + j] /= total;
  }
  return o;
}

inline Matrix universal_transformer(const UniversalTransformerSizes& s, const OracleWeights& w, Matrix x) {
  const std::int64_t T = static_cast<std::int64_t>(x.size()), M = s.model_width;
  Matrix out(T, Vector(M));
  Vector spent(T);
  std::vector<bool> halted(T);
  for (std::int64_t round = 1; round <= s.rounds; ++round) {
    Matrix y = x, q, k, v;
    for (std::int64_t t = 0; t < T; ++t) {
      for (std::int64_t m = 0; m < M; ++m) {
        const double w_m = std::pow(10000.0, static_cast<double>(m - m % 2) / M);
        y[t][m] += m % 2 == 0 ? std::sin((t + 1) / w_m) + std::sin(round / w_m) : std::cos((t + 1) / w_m) + std::cos(round / w_m);
      }
      q.push_back(linear(w, "attention.query_projection", y[t]));
      k.push_back(linear(w, "attention.key_projection", y[t]));
      v.push_back(linear(w, "attention.value_projection", y[t]));
    }
    for (std::int64_t t = 0; t < T; ++t) {
      if (halted[t]) continue;
      x[t] = transformer_rest(s, w, y[t], attention_at({s.heads, s.heads, s.key_width, s.value_width, T}, q, k, v, t));
      if (!s.halting) continue;
      const double p = sigmoid_of(linear(w, "halting", y[t])[0]);
      halted[t] = spent[t] + p >= 1 - (1 - s.threshold);
      const double weight = halted[t] || round == s.rounds ? 1 - spent[t] : p;
      spent[t] += p;
      for (std::int64_t m = 0; m < M; ++m) out[t][m] += weight * x[t][m];
    }
  }
  return s.halting ? out : x;
}

// Rotary positions pair component j with j + K/2.
inline Matrix window_attention(const WindowAttentionSizes& s, const OracleWeights& w, const Matrix& x) {
  const std::int64_t K = s.head_width;
  const auto turned = [&](Vector row, std::int64_t t) {
    const Vector old = row;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::int64_t i = static_cast<std::int64_t>(c) % K, j = i % (K / 2);
      const double angle = t / std::pow(s.rope_theta, 2.0 * j / K);
      row[c] = old[c] * std::cos(angle) + (i < K / 2 ? -old[c + K / 2] : old[c - K / 2]) * std::sin(angle);
    }
    return row;
  };
  Matrix q, k, v, out;
  for (std::size_t t = 0; t < x.size(); ++t) {
    q.push_back(turned(linear(w, "q_proj", x[t]), t));
    k.push_back(turned(linear(w, "k_proj", x[t]), t));
    v.push_back(linear(w, "v_proj", x[t]));
    out.push_back(linear(w, "o_proj", attention_at({s.heads, s.key_heads, K, K, s.window}, q, k, v, static_cast<std::int64_t>(t))));
  }
  return out;
}

}  // namespace linearmem::test
