// A small case of every mechanism in every convention against loops over the convention's own order of elements, written from its
// documentation and sources: gates, states, heads and scale as they are there. None of it goes through an adapter.
#include <gtest/gtest.h>

#include <functional>

#include "core/convention_cases.hpp"

namespace linearmem {
namespace {

using test::ConventionCase;
using test::LetterSizes;

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

double silu(double x) { return x / (1 + std::exp(-x)); }
double softplus(double x) { return std::log1p(std::exp(x)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// x / sqrt(sum x^2 + eps), row by row.
void norm_rows(std::vector<double>& rows, int K, const std::function<double(double)>& divisor) {
  for (std::size_t row = 0; row < rows.size(); row += static_cast<std::size_t>(K)) {
    double squares = 0;
    for (int i = 0; i < K; ++i) squares += rows[row + i] * rows[row + i];
    for (int i = 0; i < K; ++i) rows[row + i] /= divisor(squares);
  }
}
double inside_root(double squares) { return std::sqrt(squares + 1e-6); }

// One token of the delta rule on S, an accessor of the state by key and value; every argument is a row.
template <typename State>
void delta_step(State S, int K, int V, const double* k, const double* v, double beta, double decay) {
  for (int j = 0; j < V; ++j) {
    double seen = 0;
    for (int i = 0; i < K; ++i) seen += (S(i, j) *= decay) * k[i];
    for (int i = 0; i < K; ++i) S(i, j) += k[i] * beta * (v[j] - seen);
  }
}

template <typename State>
double read(State S, int K, int j, const double* q) {
  double sum = 0;
  for (int i = 0; i < K; ++i) sum += q[i] * S(i, j);
  return sum;
}

// [T,H,K], [T,Hv,V], key-first states; value head h reads key head h / (Hv/H); scale K^-1/2.
Answer fla(Flat f, const std::string& mechanism) {
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
Answer fla_conv(Flat f) {
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
Answer onnx(Flat f, int Hq, int Hk, int Hkv) {
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
Answer onnx_conv(Flat f, bool activated) {
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
Answer ggml_linear(Flat f) {
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
Answer ggml_delta(Flat f) {
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
Answer ggml_conv(Flat f) {
  const int T = 3, D = 2, W = 3;
  Answer a{std::vector<double>(T * D), {}};
  for (int t = 0; t < T; ++t)
    for (int d = 0; d < D; ++d)
      for (int j = 0; j < W; ++j) a.output[t * D + d] += f["sx"][d * (W - 1 + T) + t + j] * f["c"][d * W + j];
  return a;
}

// s [H,P,N]; dt before softplus; group h / (H/G).
Answer ggml_scan(Flat f) {
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
Answer mlx_delta(Flat f) {
  const int T = 3, K = 2, V = 3, H = 2, Hv = 4;
  Answer a{std::vector<double>(T * Hv * V), f["state"]};
  const auto rms = [K](double squares) { return std::sqrt(squares / K + 1e-6); };
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
Answer mlx_conv(Flat f) {
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
Answer mlx_ssm(Flat f) {
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
Answer flashinfer(Flat f, bool decode) {
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

Answer answer_of(const ConventionCase& c) {
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

void expect_close(const NamedTensors& outputs, const std::string& name, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(outputs.count(name), 1u) << what;
  const auto got = floating_values<double>(name, outputs.at(name));
  ASSERT_EQ(got.value().size(), expected.size()) << what << " " << name;
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_LE(std::abs(got.value()[i] - expected[i]), 1e-12) << what << " " << name << " " << i;
}

TEST(ConventionsVectors, EveryCaseIsWhatTheConventionSays) {
  for (const ConventionCase& c : test::convention_cases()) {
    const std::string what = std::string(c.convention) + " " + c.mechanism;
    const auto outputs = run_mechanism(test::mechanism_of(c.convention, c.mechanism), test::small_inputs(c), {.options = c.options});
    ASSERT_TRUE(outputs.ok()) << what << ": " << outputs.status().message();
    const Answer answer = answer_of(c);
    expect_close(outputs.value(), c.output, answer.output, what);
    if (*c.state) expect_close(outputs.value(), c.state, answer.state, what);
    EXPECT_EQ(outputs.value().size(), *c.state ? 2u : 1u) << what;
  }
}

// Every mechanism of every convention has a case.
TEST(ConventionsVectors, NoMechanismIsLeftOut) {
  std::size_t declared = 0;
  for (const Convention& convention : conventions())
    if (convention.name != std::string("linearmem")) declared += convention.mechanisms.size();
  EXPECT_EQ(test::convention_cases().size(), declared);
}

// Every other way to give a gate or a strength, in ours: number (t, h, i) of the log decay of a key component, head h in our order.
void expect_gate(const char* convention, const char* mechanism, const std::vector<std::string>& wanted, NamedTensors more, const RunSettings& settings,
                 const char* ours, const std::function<double(const Flat&, int t, int h, int i)>& expected) {
  const ConventionMechanism& m = test::mechanism_of(convention, mechanism);
  NamedTensors inputs = test::convention_inputs(m, test::small_sizes(convention), wanted, test::small_number);
  for (auto& [name, tensor] : more) inputs[name] = tensor;
  const auto call = to_native(m, inputs, settings);
  ASSERT_TRUE(call.ok()) << convention << ": " << call.status().message();
  const NamedTensor& gate = call.value().inputs.at(ours);
  const auto values = floating_values<double>(ours, gate).value();
  Flat f(inputs);
  const auto H = static_cast<int>(gate.shape[2]), K = static_cast<int>(gate.shape.size() == 4 ? gate.shape[3] : 1);
  for (int t = 0; t < 3; ++t)
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < K; ++i) EXPECT_DOUBLE_EQ(values[(t * H + h) * K + i], expected(f, t, h, i)) << convention << " " << t << h << i;
  const auto outputs = run_mechanism(m, inputs, settings);
  EXPECT_TRUE(outputs.ok()) << convention << ": " << outputs.status().message();
}

NamedTensor gates(std::vector<std::int64_t> shape, bool factors) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(test::small_number(factors ? test::Role::factor : test::Role::log_decay, 1, i));
  return to_named(values, std::move(shape));
}

TEST(ConventionsVectors, GatesForEachKeyComponentAndTheOtherWaysToGiveThem) {
  const RunSettings heads{.options = {{"q_num_heads", "4"}, {"kv_num_heads", "2"}}}, fewer{.options = {{"q_num_heads", "2"}, {"kv_num_heads", "4"}}};
  expect_gate("fla", "gated-delta-rule", {"q", "k", "v"}, {{"gk", gates({1, 3, 4, 2}, false)}}, {}, "g_key",
              [](const Flat& f, int t, int h, int i) { return f.arrays.at("gk")[(t * 4 + h) * 2 + i]; });
  expect_gate("fla", "gated-delta-rule", {"q", "k", "v", "g"}, {}, {}, "beta", [](const Flat&, int, int, int) { return 1.0; });
  expect_gate("onnx", "gated-delta-rule", {"query", "key", "value", "beta"}, {{"decay", gates({1, 3, 4}, false)}}, heads, "g_key",
              [](const Flat& f, int t, int h, int i) { return f.arrays.at("decay")[(t * 2 + h / 2) * 2 + i]; });
  expect_gate("onnx", "delta-rule", {"query", "key", "value"}, {{"beta", gates({1, 3, 1}, true)}}, heads, "beta",
              [](const Flat& f, int t, int, int) { return f.arrays.at("beta")[t]; });
  expect_gate("onnxruntime", "gated-delta-rule", {"query", "key", "value", "beta"}, {{"decay", gates({1, 3, 8}, false)}}, fewer, "g_key",
              [](const Flat& f, int t, int h, int i) { return f.arrays.at("decay")[(t * 4 + h) * 2 + i]; });
  expect_gate("ggml", "gated-delta-rule", {"q", "k", "v", "beta", "state"}, {{"g", gates({1, 3, 4, 3}, false)}}, {}, "g_key",
              [](const Flat& f, int t, int h, int i) { return f.arrays.at("g")[(t * 4 + (h % 2) * 2 + h / 2) * 3 + i]; });
  expect_gate("mlx", "gated-delta-rule", {"q", "k", "v", "beta"}, {{"g", gates({1, 3, 4, 2}, true)}}, {}, "g_key",
              [](const Flat& f, int t, int h, int i) { return std::log(f.arrays.at("g")[(t * 4 + h) * 2 + i]); });
  const std::vector<std::string> parameters = {"q", "k", "v", "a", "b", "A_log", "dt_bias"};
  expect_gate("mlx", "gated-delta-rule", parameters, {}, {}, "g", [](const Flat& f, int t, int h, int) {
    return -std::exp(f.arrays.at("A_log")[h]) * softplus(f.arrays.at("a")[t * 4 + h] + f.arrays.at("dt_bias")[h]);
  });
  expect_gate("mlx", "gated-delta-rule", parameters, {}, {}, "beta",
              [](const Flat& f, int t, int h, int) { return sigmoid(f.arrays.at("b")[t * 4 + h]); });
}

// The three places of epsilon, where they differ most: a key of length 1e-3.
TEST(ConventionsVectors, WhereEpsilonStands) {
  const std::vector<double> key = {1e-3, 0};
  const NamedTensor row = to_named(key, {1, 1, 1, 2}), one = to_named<double>({1, 1}, {1, 1, 1, 2}), scalar = to_named<double>({1}, {1, 1, 1});
  const auto normed = [&](const char* convention, NamedTensors inputs, const char* option) {
    const auto call = to_native(test::mechanism_of(convention, "gated-delta-rule"), inputs, {.options = {{option, "true"}}});
    EXPECT_TRUE(call.ok()) << call.status().message();
    return floating_values<double>("k", call.value().inputs.at("k")).value()[0];
  };
  const NamedTensor state = to_named<double>({0, 0, 0, 0}, {1, 1, 2, 2});
  EXPECT_DOUBLE_EQ(normed("ggml", {{"q", row}, {"k", row}, {"v", one}, {"g", to_named<double>({0}, {1, 1, 1, 1})}, {"beta", to_named<double>({1}, {1, 1, 1, 1})}, {"state", state}}, "l2_norm"), 1);
  EXPECT_DOUBLE_EQ(normed("mlx", {{"q", row}, {"k", row}, {"v", one}, {"g", scalar}, {"beta", scalar}}, "rms_norm"), 1 / std::sqrt(3.0));
  const auto ours = to_native(test::mechanism_of("fla", "gated-delta-rule"),
                              {{"q", row}, {"k", row}, {"v", one}, {"g", to_named<double>({0}, {1, 1, 1})}}, {.options = {{"use_qk_l2norm_in_kernel", "true"}}});
  ASSERT_TRUE(ours.ok());
  EXPECT_EQ(ours.value().settings.options.at("l2norm"), "true");
}

}  // namespace
}  // namespace linearmem
