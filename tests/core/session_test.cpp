// Sessions: a request among others is the request alone, steps are prefill, rollback and fork leave no trace, and no slot leaks.
#include "linearmem/session.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "core/session_driver.hpp"

namespace linearmem {
namespace {

using test::ConvDeltaLayer;
using test::Feed;
using test::kNaN;
using test::must;
using test::Numbers;
using test::relative_difference;
using test::equal_bits;
using test::SessionDriver;
using test::tolerance;
using test::WatchedLayer;

template <typename T>
class Session : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Session, Precisions);

// The requests go on in drawn subsets, orders and lengths, 0 among them; each has a session of its own to compare with.
TYPED_TEST(Session, PackedRequestsHaveTheBitsOfEachAlone) {
  constexpr std::int64_t R = 6;
  SessionDriver<TypeParam> shared({.requests = R});
  std::deque<SessionDriver<TypeParam>> alone;
  std::vector<RequestHandle> handles, own;
  std::vector<std::int64_t> at(R, 0);
  for (std::int64_t r = 0; r < R; ++r) {
    handles.push_back(must(shared->open()));
    alone.emplace_back(SessionSettings{});
    own.push_back(must(alone.back()->open()));
  }
  Numbers numbers(3);
  for (int call = 0; call < 60; ++call) {
    std::vector<Feed> feeds;
    std::vector<std::size_t> of;
    for (std::int64_t i = 0, first = numbers.whole(0, R - 1); i < R; ++i) {
      const auto r = static_cast<std::size_t>((first + i) % R);
      if (numbers.whole(0, 1)) continue;
      const std::int64_t length = numbers.whole(0, 4) == 0 ? 0 : numbers.whole(1, 9);
      feeds.push_back({handles[r], r, at[r], at[r] + length});
      at[r] += length;
      of.push_back(r);
    }
    const auto together = shared.run(feeds);
    for (std::size_t n = 0; n < feeds.size(); ++n) {
      const std::size_t r = of[n];
      ASSERT_TRUE(equal_bits(together[n], alone[r].run(Feed{own[r], r, feeds[n].begin, feeds[n].end}))) << call << " " << r;
      ASSERT_TRUE(equal_bits(shared.state(handles[r]), alone[r].state(own[r]))) << call << " " << r;
      ASSERT_EQ(must(shared->tokens(handles[r])), at[r]);
    }
  }
}

TYPED_TEST(Session, StepsAndPiecesOfAnySizeEqualPrefill) {
  constexpr std::int64_t L = 23;
  SessionDriver<TypeParam> driver({.requests = 3});
  const RequestHandle whole = must(driver->open()), steps = must(driver->open()), pieces = must(driver->open());
  const auto expected = driver.run(Feed{whole, 9, 0, L});
  std::vector<TypeParam> stepped, pieced;
  for (std::int64_t t = 0; t < L; ++t)
    for (TypeParam value : driver.run(Feed{steps, 9, t, t + 1})) stepped.push_back(value);
  for (std::int64_t t = 0, n = 0; t < L; t += n, n = (n + 3) % 8)
    for (TypeParam value : driver.run(Feed{pieces, 9, t, std::min(L, t + n)})) pieced.push_back(value);
  const auto view = [](const std::vector<TypeParam>& values) { return View<const TypeParam, 1>(values.data(), {static_cast<std::int64_t>(values.size())}); };
  for (const auto* got : {&stepped, &pieced}) {
    ASSERT_EQ(got->size(), expected.size());
    EXPECT_LE(relative_difference(view(*got), view(expected)), tolerance<TypeParam>());
  }
  EXPECT_LE(relative_difference(view(driver.state(steps)), view(driver.state(whole))), tolerance<TypeParam>());
}

// [B,T,M] without cu_seqlens: request n is row n.
TYPED_TEST(Session, ABatchOfRowsHasTheBitsOfPackedRequests) {
  SessionDriver<TypeParam> rows({.requests = 3}), packed({.requests = 3});
  std::vector<RequestHandle> in_rows, in_pack;
  for (int r = 0; r < 3; ++r) in_rows.push_back(must(rows->open())), in_pack.push_back(must(packed->open()));
  Tensor<TypeParam, 3> hidden({3, 4, 22}), out({3, 4, 22}, static_cast<TypeParam>(kNaN));
  for (std::int64_t r = 0; r < 3; ++r)
    for (std::int64_t t = 0; t < 4; ++t) std::copy_n(test::token_of<TypeParam>(static_cast<std::uint64_t>(r), t, 22).data(), 22, &hidden(r, t, 0));
  must(rows->forward({.requests = in_rows, .hidden = hidden.view(), .out = out.view()}));
  const auto pieces = packed.run({{in_pack[0], 0, 0, 4}, {in_pack[1], 1, 0, 4}, {in_pack[2], 2, 0, 4}});
  std::vector<TypeParam> joined;
  for (const auto& piece : pieces) joined.insert(joined.end(), piece.begin(), piece.end());
  EXPECT_TRUE(equal_bits(out.values(), joined));
  for (std::size_t r = 0; r < 3; ++r) EXPECT_TRUE(equal_bits(rows.state(in_rows[r]), packed.state(in_pack[r])));
}

TYPED_TEST(Session, AfterRollbackItIsAsIfTheRequestHadNeverGoneOn) {
  SessionDriver<TypeParam> driver({.requests = 2, .checkpoints = 3});
  const RequestHandle plain = must(driver->open()), drafted = must(driver->open());
  const CheckpointHandle empty = must(driver->checkpoint(drafted));
  for (const RequestHandle request : {plain, drafted}) driver.run(Feed{request, 4, 0, 6});
  const auto at_six = driver.state(plain);
  const CheckpointHandle six = must(driver->checkpoint(drafted));
  driver.run(Feed{drafted, 5, 6, 8});
  const CheckpointHandle eight = must(driver->checkpoint(drafted));
  for (int draft = 0; draft < 3; ++draft) {
    driver.run(Feed{drafted, 6, 8, 9 + draft});
    must(driver->rollback(draft == 0 ? eight : six));
  }
  EXPECT_EQ(must(driver->tokens(drafted)), 6);
  EXPECT_EQ(driver->kept_checkpoints(), 2);
  EXPECT_TRUE(equal_bits(driver.state(drafted), at_six));
  for (std::int64_t t = 6; t < 12; t += 2)
    EXPECT_TRUE(equal_bits(driver.run(Feed{drafted, 4, t, t + 2}), driver.run(Feed{plain, 4, t, t + 2})));
  EXPECT_TRUE(equal_bits(driver.state(drafted), driver.state(plain)));
  must(driver->rollback(empty));
  EXPECT_EQ(must(driver->tokens(drafted)), 0);
  for (TypeParam value : driver.state(drafted)) EXPECT_EQ(value, TypeParam{0});
}

TYPED_TEST(Session, CheckpointsAreDiscardedInOrder) {
  SessionDriver<TypeParam> driver({.requests = 2, .checkpoints = 4});
  const RequestHandle request = must(driver->open()), other = must(driver->open());
  std::vector<CheckpointHandle> kept;
  for (std::int64_t t = 0; t < 3; ++t) {
    kept.push_back(must(driver->checkpoint(request)));
    driver.run(Feed{request, 1, t, t + 1});
  }
  const CheckpointHandle others = must(driver->checkpoint(other));
  EXPECT_EQ(driver->checkpoint(other).status().message(), "sessions: full: 4 checkpoints kept at once may be, 4 are");
  must(driver->discard(kept[1]));
  EXPECT_EQ(driver->kept_checkpoints(), 2);
  EXPECT_EQ(driver->rollback(kept[0]).message(), "sessions: the request in slot 0 has no checkpoint 0; the newest is 2");
  EXPECT_EQ(driver->discard(kept[1]).message(), "sessions: the request in slot 0 has no checkpoint 1; the newest is 2");
  must(driver->rollback(kept[2]));
  EXPECT_EQ(must(driver->tokens(request)), 2);
  must(driver->reset(request));
  EXPECT_EQ(driver->rollback(kept[2]).message(), "sessions: the request in slot 0 has no checkpoint 2; none is kept");
  must(driver->rollback(others));
  must(driver->close(other));
  EXPECT_EQ(driver->kept_checkpoints(), 0);
}

TYPED_TEST(Session, AForkAndItsOriginGoOnAsTwoRequestsThatNeverMet) {
  SessionDriver<TypeParam> driver({.requests = 6});
  const RequestHandle origin = must(driver->open());
  driver.run(Feed{origin, 1, 0, 5});
  const RequestHandle left = must(driver->fork(origin)), right = must(driver->fork(left));
  EXPECT_EQ(must(driver->tokens(right)), 5);
  std::vector<std::vector<TypeParam>> ends;
  const auto forked = driver.run({{right, 7, 5, 9}, {origin, 1, 5, 6}, {left, 8, 5, 8}});
  for (std::uint64_t text : {7, 1, 8}) {
    const RequestHandle separate = must(driver->open());
    driver.run(Feed{separate, 1, 0, 5});
    const std::int64_t end = text == 7 ? 9 : text == 1 ? 6 : 8;
    EXPECT_TRUE(equal_bits(driver.run(Feed{separate, text, 5, end}), forked[ends.size()]));
    ends.push_back(driver.state(separate));
  }
  EXPECT_TRUE(equal_bits(driver.state(right), ends[0]) && equal_bits(driver.state(origin), ends[1]) && equal_bits(driver.state(left), ends[2]));
  EXPECT_EQ(driver->fork(origin).status().message(), "sessions: full: 6 requests open at once may be, 6 are");
}

// Every row that the call does not name is filled with NaN behind the session's back; then all slots are used again.
TYPED_TEST(Session, ARecycledSlotFullOfNaNIsAsAFreshOne) {
  ConvDeltaLayer<TypeParam> inner("first", 2, 3, 5, 1), second("second", 1, 7, 8, 2);
  WatchedLayer<TypeParam> first(inner);
  SessionDriver<TypeParam> used({.requests = 3, .checkpoints = 1}, {&first, &second}), fresh({.requests = 3, .checkpoints = 1});
  for (int r = 0; r < 3; ++r) must(used.step({must(used->open())}));
  must(used->checkpoint({1, 1}));
  for (std::int64_t r = 0; r < 3; ++r) must(used->close({r, 1}));
  const RequestHandle spoiler = must(used->open());
  std::int64_t spoilt = 0;
  first.before = [&](const LayerCall<TypeParam>& call) {
    for (const StateRows<TypeParam>& part : call.states)
      for (std::int64_t row = 0; row < part.rows; ++row)
        if (row != call.slots[0]) std::fill_n(part.data + row * part.stride, part.stride, static_cast<TypeParam>(kNaN)), ++spoilt;
    return Status();
  };
  must(used.step({spoiler}));
  EXPECT_EQ(spoilt, 2 * 3);
  first.before = [](const LayerCall<TypeParam>& call) {  // not even a layer that looks before the first token finds anything
    for (const StateRows<TypeParam>& part : call.states)
      for (std::int64_t slot : call.slots)
        for (std::int64_t i = 0; i < part.stride; ++i)
          if (part.data[slot * part.stride + i] != TypeParam{0}) return Status::invalid("the row is not zeros");
    return Status();
  };
  must(used->close(spoiler));
  std::vector<Feed> feeds, expected;
  for (std::uint64_t r = 0; r < 3; ++r) {
    feeds.push_back({must(used->open()), r, 0, 4});
    for (TypeParam value : used.state(feeds.back().request)) ASSERT_EQ(value, TypeParam{0});
    expected.push_back({must(fresh->open()), r, 0, 4});
  }
  EXPECT_EQ(used.run(feeds), fresh.run(expected));
  for (std::size_t r = 0; r < 3; ++r) EXPECT_TRUE(equal_bits(used.state(feeds[r].request), fresh.state(expected[r].request)));
}

TYPED_TEST(Session, EveryLayerGetsMemoryOfItsOwnForItsOutputAndTheCallsExecutor) {
  struct Calling final : Executor {
    std::int64_t width() const override { return 1; }
    void run(std::int64_t count, Item item, const void* context) const override {
      for (std::int64_t index = 0; index < count; ++index) item(context, index);
    }
  } executor;
  const ConvDeltaLayer<TypeParam> inner("inner", 1, 2, 3, 1);
  std::deque<WatchedLayer<TypeParam>> watched;
  std::vector<const Layer<TypeParam>*> layers;
  std::vector<const TypeParam*> ins, outs;
  for (int layer = 0; layer < 4; ++layer) {
    watched.emplace_back(inner);
    layers.push_back(&watched.back());
    watched.back().before = [&](const LayerCall<TypeParam>& call) {
      ins.push_back(call.hidden.data());
      outs.push_back(call.out.data());
      return call.executor == &executor ? Status() : Status::invalid("another executor");
    };
  }
  SessionDriver<TypeParam> driver({.requests = 1}, layers);
  const RequestHandle request = must(driver->open());
  const Tensor<TypeParam, 3> hidden({1, 2, 7}, TypeParam{1});
  Tensor<TypeParam, 3> out({1, 2, 7});
  must(driver->forward({.requests = {&request, 1}, .hidden = hidden.view(), .executor = &executor, .out = out.view()}));
  ASSERT_EQ(ins.size(), 4u);
  EXPECT_EQ(outs[3], out.data());
  for (std::size_t layer = 0; layer < 4; ++layer) {
    EXPECT_NE(ins[layer], outs[layer]);
    EXPECT_EQ(ins[layer], layer == 0 ? hidden.data() : outs[layer - 1]);
  }
}

TYPED_TEST(Session, ARequestThatBecameNaNReachesNoOther) {
  SessionDriver<TypeParam> driver({.requests = 3}), clean({.requests = 1});
  const RequestHandle before = must(driver->open()), sick = must(driver->open()), after = must(driver->open()), expected = must(clean->open());
  must(driver.step({sick}, kNaN));
  EXPECT_TRUE(std::isnan(driver.state(sick).back()));
  for (int step = 0; step < 4; ++step) {
    must(driver.step({before, sick, after}));
    const std::vector<TypeParam> out = driver.last_out();
    EXPECT_TRUE(std::isnan(out[22]));
    must(clean.step({expected}));
    EXPECT_TRUE(equal_bits(std::vector(out.begin(), out.begin() + 22), clean.last_out()));
    EXPECT_TRUE(equal_bits(std::vector(out.begin() + 44, out.end()), clean.last_out()));
  }
  must(driver->reset(sick));
  must(driver.step({sick}));
  SessionDriver<TypeParam> again({.requests = 1});
  must(again.step({must(again->open())}));
  EXPECT_TRUE(equal_bits(driver.last_out(), again.last_out()));
}

TYPED_TEST(Session, ARefusalOfTheFirstLayerChangesNothingAndOneOfALaterStopsTheRequest) {
  ConvDeltaLayer<TypeParam> one("one", 2, 3, 5, 1), two("two", 1, 7, 8, 2);
  WatchedLayer<TypeParam> first(one), second(two);
  SessionDriver<TypeParam> driver({.requests = 3, .checkpoints = 1}, {&first, &second}), calm({.requests = 1}, {&one, &two});
  const RequestHandle request = must(driver->open()), other = must(driver->open()), expected = must(calm->open());
  driver.run(Feed{request, 1, 0, 3});
  calm.run(Feed{expected, 1, 0, 3});
  const auto refuse = [](const LayerCall<TypeParam>&) { return Status::unavailable("not now"); };
  const auto expect_refused = [&](const char* message) {
    const Status status = driver.step({request});
    EXPECT_EQ(status.message(), message);
    EXPECT_EQ(status.code(), StatusCode::unavailable);
    for (TypeParam value : driver.last_out()) ASSERT_TRUE(std::isnan(value));
  };
  first.before = refuse;
  expect_refused("sessions: layer 0 (one): not now");
  first.before = {};
  EXPECT_TRUE(equal_bits(driver.state(request), calm.state(expected)));
  const CheckpointHandle kept = must(driver->checkpoint(request));
  second.before = refuse;
  expect_refused("sessions: layer 1 (two): not now");
  second.before = {};
  const char* broken = "sessions: the request in slot 0 had a forward that failed midway; reset it, roll it back or close it";
  EXPECT_EQ(driver.step({other, request}).message(), broken);
  EXPECT_EQ(driver->fork(request).status().message(), broken);
  EXPECT_EQ(driver->checkpoint(request).status().message(), broken);
  EXPECT_EQ(driver->save(std::vector<SavedRequest>{{1, request}}).status().message(), broken);
  must(driver.step({other}));
  must(driver->rollback(kept));
  EXPECT_TRUE(equal_bits(driver.run(Feed{request, 1, 3, 5}), calm.run(Feed{expected, 1, 3, 5})));
}

}  // namespace
}  // namespace linearmem
