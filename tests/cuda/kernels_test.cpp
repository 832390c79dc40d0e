// The kernels at the edges of their sizes, against the definition: the conformance cases and the properties are small. On an emulated device
// or a real one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "core/support.hpp"
#include "cuda/backends.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/knn_memory.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/selective_scan.hpp"
#include "linearmem/softmax_attention.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using test::relative_difference;

constexpr double kTolerance = 1e-5;

// The first and the last of those under test: of the emulator one that goes by phases and one that goes by threads.
std::vector<const Backend*> ends_of(const std::vector<test::NamedBackend>& all) {
  std::vector<const Backend*> some = {all.front().backend};
  if (all.size() > 1) some.push_back(all.back().backend);
  return some;
}
std::vector<const Backend*> some_backends() { return ends_of(test::backends()); }
// Those with more shared memory than the least there is, where there are any.
std::vector<const Backend*> wide_backends() { return ends_of(test::bfloat_backends().empty() ? test::backends() : test::bfloat_backends()); }

std::int64_t shared_bytes_of(const Backend* backend) {
  return dynamic_cast<const cuda::DeviceBackend&>(*backend).device().limits().shared_bytes_per_block;
}

// Calls the door on the backend and by definition; the sum of the differences of the outputs named, so that NaN in one stays.
template <typename Arguments, typename Door, typename... Output>
double difference_on(const Backend* backend, Arguments a, Door door, Output Arguments::*... outputs) {
  a.backend = backend;
  const Status status = door(a);
  EXPECT_TRUE(status.ok()) << status.message();
  double sum = 0;
  Arguments exact = a;
  exact.backend = nullptr;
  exact.form = Form::reference;
  const auto room = [&](auto output) {
    auto tensor = std::make_unique<Tensor<float, std::tuple_size_v<std::decay_t<decltype((a.*output).extents())>>>>((a.*output).extents());
    exact.*output = tensor->view();
    return tensor;
  };
  const auto rooms = std::make_tuple(room(outputs)...);
  EXPECT_TRUE(door(exact).ok());
  ((sum += relative_difference(a.*outputs, exact.*outputs)), ...);
  return sum;
}

Status call_delta(const DeltaRuleArguments<float>& a) { return delta_rule(a); }
Status call_linear(const LinearAttentionArguments<float>& a) { return linear_attention(a); }
Status call_softmax(const SoftmaxAttentionArguments<float>& a) { return softmax_attention(a); }
Status call_ssd(const SsdArguments<float>& a) { return ssd(a); }
Status call_mamba(const MambaScanArguments<float>& a) { return mamba_scan(a); }

// 35 tokens are two full stages and a part of one.
TEST(CudaKernels, DeltaRuleAtTheEdgesOfEveryKeyWidth) {
  for (const Backend* backend : some_backends()) {
    Numbers numbers(1);
    for (std::int64_t K : {1, 15, 16, 17, 64, 65, 128, 129, 256})
      for (std::int64_t V : {1, 9, 33}) {
        const std::int64_t T = 35;
        const float longest = 1 / std::sqrt(static_cast<float>(K));
        Guarded<float, 4> q({1, T, 1, K}), k({1, T, 1, K}), v({1, T, 2, V}), g_key({1, T, 2, K}), state({1, 2, K, V});
        Guarded<float, 4> o({1, T, 2, V}), reads({1, T, 2, V}), last({1, 2, K, V});
        Guarded<float, 3> beta({1, T, 2}), g({1, T, 2});
        for (auto* tensor : {&q, &v, &state}) tensor->fill(numbers, -1, 1);
        k.fill(numbers, -longest, longest), beta.fill(numbers, 0, 1), g.fill(numbers, -1, 0), g_key.fill(numbers, -1, 0);
        DeltaRuleArguments<float> a{.q = q.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .state = state.view(), .l2norm = V == 9,
                                    .o = o.view(), .reads = reads.view(), .final_state = last.view()};
        using A = DeltaRuleArguments<float>;
        for (int gates : {0, 1, 2}) {
          a.g = gates == 1 ? View<const float, 3>(g.view()) : View<const float, 3>();
          a.g_key = gates == 2 ? View<const float, 4>(g_key.view()) : View<const float, 4>();
          EXPECT_LE(difference_on(backend, a, call_delta, &A::o, &A::reads, &A::final_state), kTolerance) << K << " " << V << " " << gates;
        }
        EXPECT_TRUE(o.guards_intact() && reads.guards_intact() && last.guards_intact());
      }
  }
}

TEST(CudaKernels, LinearAttentionAtTheEdgesOfEveryKeyWidth) {
  for (const Backend* backend : some_backends()) {
    Numbers numbers(2);
    for (std::int64_t K : {1, 16, 17, 64, 65, 129, 256})
      for (bool causal : {true, false}) {
        const std::int64_t T = 33, V = 19;
        Guarded<float, 4> q({2, T, 2, K}), k({2, T, 1, K}), v({2, T, 1, V}), o({2, T, 2, V}), last({2, 2, K, V});
        Guarded<float, 3> last_z({2, 2, K});
        for (auto* tensor : {&q, &k, &v}) tensor->fill(numbers, -1, 1);
        const LinearAttentionArguments<float> a{.q = q.view(), .k = k.view(), .v = v.view(), .causal = causal, .o = o.view(), .final_state = last.view(),
                                                .final_z = last_z.view()};
        using A = LinearAttentionArguments<float>;
        EXPECT_LE(difference_on(backend, a, call_linear, &A::o, &A::final_state, &A::final_z), kTolerance) << K << " " << causal;
        EXPECT_TRUE(o.guards_intact() && last.guards_intact() && last_z.guards_intact());
      }
  }
}

TEST(CudaKernels, CheckpointsOfPackedSequences) {
  for (const Backend* backend : some_backends()) {
    Numbers numbers(3);
    const std::int64_t T = 40, K = 17, V = 5, every = 4;
    const std::int64_t bounds[] = {0, 9, 9, 12, 40};
    Guarded<float, 4> q({1, T, 2, K}), k({1, T, 2, K}), v({1, T, 2, V}), o({1, T, 2, V}), checkpoints({2 + 0 + 0 + 7, 2, K, V});
    Guarded<float, 3> beta({1, T, 2});
    for (auto* tensor : {&q, &v}) tensor->fill(numbers, -1, 1);
    k.fill(numbers, -0.2, 0.2), beta.fill(numbers, 0, 1);
    using A = DeltaRuleArguments<float>;
    const A a{.q = q.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .cu_seqlens = {bounds, {5}}, .checkpoint_every = every, .o = o.view(),
              .checkpoints = checkpoints.view()};
    EXPECT_LE(difference_on(backend, a, call_delta, &A::o, &A::checkpoints), kTolerance);
    EXPECT_TRUE(checkpoints.guards_intact());
  }
}

TEST(CudaKernels, AttentionAtTheEdgesOfTiles) {
  for (const Backend* backend : wide_backends()) {
    Numbers numbers(4);
    for (std::int64_t V : {1, 16, 17, 65, 128, 256})
      for (std::int64_t T : {1, 31, 33, 65})
        for (std::optional<std::int64_t> window : {std::optional<std::int64_t>(), std::optional<std::int64_t>(17)}) {
          const std::int64_t K = V == 1 ? 130 : V;
          if (4 * cuda::attention_shared_floats(K, V) > shared_bytes_of(backend)) continue;
          Guarded<float, 4> q({1, T, 2, K}), k({1, T, 1, K}), v({1, T, 1, V}), o({1, T, 2, V});
          for (auto* tensor : {&q, &k, &v}) tensor->fill(numbers, -2, 2);
          using A = SoftmaxAttentionArguments<float>;
          const A a{.q = q.view(), .k = k.view(), .v = v.view(), .causal = T != 33 || window, .window = window, .o = o.view()};
          EXPECT_LE(difference_on(backend, a, call_softmax, &A::o), kTolerance) << V << " " << T;
          EXPECT_TRUE(o.guards_intact());
        }
  }
}

TEST(CudaKernels, AttentionDoesNotLookAtLaterOrMaskedTokens) {
  for (const Backend* backend : some_backends()) {
    Numbers numbers(5);
    const std::int64_t T = 50, K = 6;
    Guarded<float, 4> q({1, T, 1, K}), k({1, T, 1, K}), v({1, T, 1, K}), o({1, T, 1, K});
    for (auto* tensor : {&q, &k, &v}) tensor->fill(numbers, -1, 1);
    std::vector<std::uint8_t> mask(T, 1);
    mask[3] = 0;
    for (std::int64_t i = 0; i < K; ++i)
      for (std::int64_t t : {std::int64_t{3}, T - 1}) k.view()(0, t, 0, i) = v.view()(0, t, 0, i) = std::nanf("");
    ASSERT_TRUE(softmax_attention(SoftmaxAttentionArguments<float>{.q = q.view(), .k = k.view(), .v = v.view(), .key_mask = {mask.data(), {1, T}},
                                                                   .backend = backend, .o = o.view()})
                    .ok());
    for (std::int64_t t = 0; t < T - 1; ++t) EXPECT_TRUE(std::isfinite(o.view()(0, t, 0, 0))) << t;
    EXPECT_TRUE(std::isnan(o.view()(0, T - 1, 0, 0)));
  }
}

TEST(CudaKernels, ScansAtTheEdgesOfTheirStates) {
  for (const Backend* backend : some_backends()) {
    Numbers numbers(6);
    for (std::int64_t N : {1, 16, 17, 255, 256}) {
      const std::int64_t T = 9, D = 37;
      Guarded<float, 3> u({2, T, D}), delta({2, T, D}), B({2, T, N}), C({2, T, N}), y({2, T, D}), last({2, D, N});
      Guarded<float, 2> A({D, N});
      for (auto* tensor : {&u, &delta, &B, &C}) tensor->fill(numbers, -1, 1);
      A.fill(numbers, -2, 0);
      using M = MambaScanArguments<float>;
      const M a{.u = u.view(), .delta = delta.view(), .A = A.view(), .B = B.view(), .C = C.view(), .y = y.view(), .final_state = last.view()};
      EXPECT_LE(difference_on(backend, a, call_mamba, &M::y, &M::final_state), kTolerance) << N;
      Guarded<float, 4> x({2, T, 3, 5}), B4({2, T, 1, N}), C4({2, T, 1, N}), y4({2, T, 3, 5}), last4({2, 3, N, 5});
      Guarded<float, 3> dt({2, T, 3});
      Guarded<float, 1> A1({3}), D1({3});
      for (auto* tensor : {&x, &B4, &C4}) tensor->fill(numbers, -1, 1);
      dt.fill(numbers, 0, 1), A1.fill(numbers, -1, 0), D1.fill(numbers, -1, 1);
      using S = SsdArguments<float>;
      const S s{.x = x.view(), .dt = dt.view(), .A = A1.view(), .B = B4.view(), .C = C4.view(), .D = D1.view(), .y = y4.view(),
                .final_state = last4.view()};
      EXPECT_LE(difference_on(backend, s, call_ssd, &S::y, &S::final_state), kTolerance) << N;
      EXPECT_TRUE(y.guards_intact() && last.guards_intact() && y4.guards_intact() && last4.guards_intact());
    }
  }
}

TEST(CudaKernels, MoreHeadsThanAnAxisOfAGridHolds) {
  const Backend* const backend = test::backends().front().backend;
  const std::int64_t B = 257, H = 256;  // 65792 blocks
  Tensor<float, 4> q({B, 1, H, 1}, 1), k({B, 1, H, 1}, 1), v({B, 1, H, 1}), o({B, 1, H, 1});
  const Tensor<float, 3> beta({B, 1, H}, 1);
  for (std::int64_t i = 0; i < v.size(); ++i) v.data()[i] = static_cast<float>(i);
  const DeltaRuleArguments<float> a{.q = q.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .backend = backend, .o = o.view()};
  ASSERT_TRUE(delta_rule(a).ok());
  EXPECT_EQ(o.values(), v.values());  // a write at full strength is read back
}

// Ids and distances, bit for bit what this processor finds: over several rounds, with ties, with k at its most.
TEST(CudaKernels, SearchEqualsTheDefinitionBitForBit) {
  for (const Backend* backend : some_backends()) {
    Numbers numbers(7);
    for (const auto& [M, D, k] : {std::tuple{1, 1, 1}, std::tuple{130, 33, 7}, std::tuple{2049, 3, 1024}, std::tuple{6000, 40, 5}})
      for (Metric metric : {Metric::squared_l2, Metric::inner_product}) {
        Tensor<float, 2> keys({M, D}), queries({6, D});
        for (float& value : keys.values()) value = static_cast<float>(numbers.whole(-2, 2));
        for (float& value : queries.values()) value = static_cast<float>(numbers.uniform(-1, 1));
        Tensor<std::int64_t, 2> ids({6, k}), wanted_ids({6, k});
        Tensor<double, 2> distances({6, k}), wanted({6, k});
        KnnSearchArguments<float> a{.keys = keys.view(), .queries = queries.view(), .k = k, .metric = metric, .ids = wanted_ids.view(),
                                    .distances = wanted.view()};
        ASSERT_TRUE(knn_search(a).ok());
        a.backend = backend, a.ids = ids.view(), a.distances = distances.view();
        const Status status = knn_search(a);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(ids.values(), wanted_ids.values()) << M;
        EXPECT_EQ(std::memcmp(distances.data(), wanted.data(), static_cast<std::size_t>(distances.size()) * sizeof(double)), 0) << M;
      }
  }
}

}  // namespace
}  // namespace linearmem
