// What a device refuses and what happens when it fails: one sentence, the caller's memory as it was, nothing left on the device.
#include <gtest/gtest.h>

#include <string>

#include "core/support.hpp"
#include "cuda/emulated.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/knn_memory.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/mechanisms.hpp"

namespace linearmem {
namespace {

using test::Emulated;
using test::Guarded;
using test::Numbers;

struct Call {
  Guarded<float, 4> q{{1, 20, 2, 8}}, k{{1, 20, 2, 8}}, v{{1, 20, 2, 9}}, o{{1, 20, 2, 9}}, last{{1, 2, 8, 9}};
  Guarded<float, 3> beta{{1, 20, 2}};

  Call() {
    Numbers numbers(1);
    for (auto* tensor : {&q, &v}) tensor->fill(numbers, -1, 1);
    k.fill(numbers, -0.3, 0.3), beta.fill(numbers, 0, 1);
  }
  DeltaRuleArguments<float> arguments(const Backend* backend) {
    return {.q = q.view(), .k = k.view(), .v = v.view(), .beta = beta.view(), .backend = backend, .o = o.view(), .final_state = last.view()};
  }
  bool untouched() const {
    const Call fresh;
    return o.same_bits(fresh.o) && last.same_bits(fresh.last) && q.same_bits(fresh.q);
  }
};

TEST(CudaDevice, MemoryThatIsNotThereIsRefusedWithBothNumbers) {
  const Emulated emulated({.memory_bytes = 5000});
  Call call;
  const Status status = delta_rule(call.arguments(emulated.backend()));
  EXPECT_EQ(status.code(), StatusCode::out_of_memory);
  EXPECT_EQ(status.message(), "backend cuda: 1440 bytes are needed, 840 of 5000 are free on the emulated device");
  EXPECT_TRUE(call.untouched());
  EXPECT_EQ(emulated.device().used(), 0);
}

TEST(CudaDevice, ALostDeviceLeavesTheCallersMemoryAsItWas) {
  const Emulated emulated({.launches_before_failure = 1});
  Call first, second;
  EXPECT_TRUE(delta_rule(first.arguments(emulated.backend())).ok());
  for (int again = 0; again < 2; ++again) {
    const Status status = delta_rule(second.arguments(emulated.backend()));
    EXPECT_EQ(status.code(), StatusCode::unavailable);
    EXPECT_EQ(status.message(), "backend cuda: the emulated device is lost");
    EXPECT_TRUE(second.untouched());
    EXPECT_EQ(emulated.device().used(), 0);
  }
}

TEST(CudaDevice, TwoDevicesDoNotMeet) {
  const Emulated one, lost({.launches_before_failure = 0});
  Call a, b;
  EXPECT_FALSE(delta_rule(a.arguments(lost.backend())).ok());
  EXPECT_TRUE(delta_rule(b.arguments(one.backend())).ok());
  EXPECT_EQ(one.device().launches(), 1);
}

TEST(CudaDevice, WhatItDoesNotComputeIsRefusedByName) {
  const Emulated emulated;
  Call call;
  auto a = call.arguments(emulated.backend());
  a.form = Form::chunked;
  EXPECT_EQ(delta_rule(a).message(), "delta_rule: backend cuda has form chunked in matrix precision bf16 only, this one has f32; in f32 it has automatic, recurrent");
  a.form = Form::recurrent, a.state_type = StateType::bfloat16;
  EXPECT_EQ(delta_rule(a).message(), "delta_rule: state_type is bf16; backend cuda keeps states in f32");
  a.state_type = StateType::float32;
  EXPECT_TRUE(delta_rule(a).ok());
  const Tensor<double, 4> q({1, 1, 1, 1});
  const Tensor<double, 3> beta({1, 1, 1});
  Tensor<double, 4> o({1, 1, 1, 1});
  const DeltaRuleArguments<double> wide{.q = q.view(), .k = q.view(), .v = q.view(), .beta = beta.view(), .backend = emulated.backend(), .o = o.view()};
  EXPECT_EQ(delta_rule(wide).message(), "delta_rule: backend cuda computes in float32, the arguments are float64");
  const std::vector<float> one = {1};
  const auto conv = run_mechanism("causal-conv", {{"x", to_named(one, {1, 1, 1})}, {"weight", to_named(one, {1, 1})}}, {.backend = emulated.backend()});
  EXPECT_EQ(conv.status().code(), StatusCode::unavailable);
  EXPECT_EQ(conv.status().message(),
            "causal-conv: backend cuda does not compute it; it has softmax-attention, linear-attention, delta-rule, gated-delta-rule, "
            "selective-scan, mamba-scan, ssd, knn");
  EXPECT_EQ(emulated.device().launches(), 1);
}

TEST(CudaDevice, BadInputIsRefusedByTheDoorBeforeTheDeviceHearsOfIt) {
  const Emulated emulated;
  Call call;
  auto a = call.arguments(emulated.backend());
  a.k = {call.k.data(), {1, 20, 2, 7}};
  EXPECT_EQ(delta_rule(a).message(), "delta_rule: K differs: q has 8, k has 7");
  EXPECT_EQ(emulated.device().launches(), 0);
}

TEST(CudaDevice, ASearchNamesTheKeyThatIsNotFinite) {
  const Emulated emulated;
  Tensor<float, 2> keys({300, 2}, 1);
  keys(299, 1) = std::nanf("");
  const Tensor<float, 2> query({1, 2});
  Tensor<std::int64_t, 2> ids({1, 3}, -7);
  Tensor<double, 2> distances({1, 3});
  KnnSearchArguments<float> a{.keys = keys.view(), .queries = query.view(), .k = 3, .backend = emulated.backend(), .ids = ids.view(),
                              .distances = distances.view()};
  EXPECT_EQ(knn_search(a).message(), "knn_search: keys[299,1] is nan; every number must be finite");
  EXPECT_EQ(ids(0, 0), -7);
  Tensor<float, 2> many({1100, 2});
  Tensor<std::int64_t, 2> many_ids({1, 1025});
  Tensor<double, 2> many_distances({1, 1025});
  a.keys = many.view(), a.k = 1025, a.ids = many_ids.view(), a.distances = many_distances.view();
  EXPECT_EQ(knn_search(a).message(), "knn_search: k is 1025, backend cuda finds at most 1024");
}

TEST(CudaDevice, StridedViewsEqualPackedCopies) {
  const Emulated emulated;
  Call call;
  ASSERT_TRUE(delta_rule(call.arguments(emulated.backend())).ok());
  const test::Turned<float, 4> q(call.q.view()), k(call.k.view()), v(call.v.view());
  test::Turned<float, 4> o(call.o.view().extents()), last(call.last.view().extents());
  auto turned_q = q, turned_k = k, turned_v = v;
  auto a = call.arguments(emulated.backend());
  a.q = turned_q.view(), a.k = turned_k.view(), a.v = turned_v.view(), a.o = o.view(), a.final_state = last.view();
  ASSERT_TRUE(delta_rule(a).ok());
  EXPECT_EQ(test::relative_difference(o.view(), call.o.view()), 0);
  EXPECT_EQ(test::relative_difference(last.view(), call.last.view()), 0);
}

TEST(CudaDevice, TheStateMayBeUpdatedWhereItLies) {
  const Emulated emulated;
  Call call, in_place;
  Guarded<float, 4> state({1, 2, 8, 9});
  Numbers numbers(9);
  state.fill(numbers, -1, 1);
  auto a = call.arguments(emulated.backend()), b = in_place.arguments(emulated.backend());
  a.state = state.view();
  ASSERT_TRUE(delta_rule(a).ok());
  b.state = b.final_state = state.view();
  ASSERT_TRUE(delta_rule(b).ok());
  EXPECT_TRUE(state.same_bits(call.last));
  EXPECT_TRUE(in_place.o.same_bits(call.o));
}

}  // namespace
}  // namespace linearmem
