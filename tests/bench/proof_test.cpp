// No time is told of a wrong result, wherever in it the mistake is.
#include <gtest/gtest.h>

#include <limits>

#include "door_workload.hpp"
#include "measure.hpp"

namespace linearmem::bench {
namespace {

constexpr MeasureOptions kQuick{.rounds = 2, .timing = {.least_seconds = 1e-6}};

// A door of one's own: y[t,h] = x[t,h], and the state is the sum over tokens. `slip` is added to one place of what it answers.
struct Echo {
  struct Arguments {
    View<const float, 2> x = {}, state = {};  // [T,H], [1,H]
    View<float, 2> y = {}, final_state = {};
    const Executor* executor = nullptr;
    Form form = Form::automatic;
    std::int64_t slip_token = -1, slip_head = -1;  // token T: the state
    float slip = 0;
    int* calls = nullptr;
    int slip_from_call = 0;
    bool slip_alone = false;  // only without an executor
  };
  static Status door(const Arguments& a) {
    const bool slips = a.form != Form::reference && a.calls && (*a.calls)++ >= a.slip_from_call && !(a.slip_alone && a.executor);
    const std::int64_t T = a.x.extent(0);
    for (std::int64_t h = 0; h < a.x.extent(1); ++h) {
      float sum = a.state.given() ? a.state(0, h) : 0;
      for (std::int64_t t = 0; t < T; ++t) {
        sum += a.x(t, h);
        a.y(t, h) = a.x(t, h) + (slips && t == a.slip_token && h == a.slip_head ? a.slip : 0);
      }
      a.final_state(0, h) = sum + (slips && a.slip_token == T && h == a.slip_head ? a.slip : 0);
    }
    return {};
  }
  static Arguments part(Arguments a, std::int64_t tokens, std::int64_t first, std::int64_t count) {
    a.x = part_of(part_of(a.x, 0, 0, tokens), 1, first, count);
    a.y = part_of(part_of(a.y, 0, 0, tokens), 1, first, count);
    a.state = part_of(a.state, 1, first, count);
    a.final_state = part_of(a.final_state, 1, first, count);
    return a;
  }
  template <typename Visit>
  static void outputs(Arguments& a, Visit visit) {
    visit(a.y);
  }
  template <typename Visit>
  static void states(Arguments& a, Visit visit) {
    visit(a.state, a.final_state);
  }
};

constexpr std::int64_t kTokens = 9, kHeads = 3;

// The proof takes 4 tokens of all heads and the last head's 9.
Case echo_case(Echo::Arguments settings, std::int64_t slots, bool in_place, std::int64_t last_tokens = kTokens) {
  Case made{.mechanism = "echo", .setting = "prefill", .shape = "small", .turn = slots};
  made.make = [=]() -> std::unique_ptr<Workload> {
    using Door = DoorWorkload<float, Echo>;
    const Door::Plan plan{.tokens = kTokens, .lanes = kHeads, .prefix_tokens = 4, .last_lanes = 1,
                          .last_tokens = last_tokens, .slots = slots, .in_place = in_place};
    return std::make_unique<Door>(plan, [&](Arrays<float>& arrays) {
      Generator generator(3);
      Echo::Arguments a = settings;
      const auto x = arrays.make(Extents<2>{kTokens, kHeads});
      fill_normal(x, generator);
      a.x = x;
      a.y = arrays.make(Extents<2>{kTokens, kHeads});
      a.final_state = arrays.states(Extents<2>{1, kHeads}, slots, in_place, generator);
      return a;
    });
  };
  return made;
}

TEST(Proof, ARightResultIsTimed) {
  for (const bool in_place : {false, true}) {
    int calls = 0;
    const auto result = measure(echo_case({.calls = &calls}, in_place ? 5 : 1, in_place), kQuick);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result.value().proof.error, 0);
    EXPECT_GT(result.value().minimum, 0);
    EXPECT_GE(result.value().median, result.value().minimum);
    EXPECT_EQ((calls - 1) % (in_place ? 5 : 1), 0) << "samples are whole turns";
  }
}

struct Slip {
  std::int64_t token, head;
};

TEST(Proof, AMistakeAnywhereItLooksIsFound) {
  for (const float slip : {0.01f, std::numeric_limits<float>::quiet_NaN()})
    for (const Slip at : {Slip{0, 0}, Slip{3, 1}, Slip{kTokens - 1, kHeads - 1}, Slip{kTokens, kHeads - 1}}) {
      int calls = 0;
      const auto result = measure(
          echo_case({.slip_token = at.token, .slip_head = at.head, .slip = slip, .calls = &calls}, 1, false), kQuick);
      ASSERT_FALSE(result.ok()) << at.token << " " << at.head << " " << slip;
      EXPECT_EQ(result.status().message().find("echo, prefill, small: no time is told: it is "), 0u) << result.status().message();
      EXPECT_EQ(calls, 1) << "a wrong result was called again";
    }
}

// A figure's proof may take fewer tokens; those it takes are looked at as closely.
TEST(Proof, FewerTokensOfTheLastHead) {
  for (const std::int64_t token : {5, 6}) {
    int calls = 0;
    const Echo::Arguments slip{.slip_token = token, .slip_head = kHeads - 1, .slip = 0.01f, .calls = &calls};
    const auto result = measure(echo_case(slip, 1, false, 6), kQuick);
    EXPECT_EQ(result.ok(), token == 6);
  }
}

TEST(Proof, ATimedCallThatDiffersIsFound) {
  int calls = 0;
  const auto result =
      measure(echo_case({.slip_token = 7, .slip_head = 0, .slip = 1e-6f, .calls = &calls, .slip_from_call = 1}, 1, false), kQuick);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(),
            "echo, prefill, small: no time is told: a timed call gave other numbers than the one that was proven right");
}

TEST(Proof, StatesAreTakenInTurnAndGoOnFromWhereTheyWere) {
  int calls = 0;
  const Case subject = echo_case({.calls = &calls}, 2, true);
  const auto workload = subject.make();
  ASSERT_TRUE(workload->prove().ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(workload->run().ok());
  // Slot 0 has been used by the proof and calls 2 and 4: a proof now starts from three sums and still agrees.
  const auto again = workload->prove();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.value().error, 0);
}

TEST(Proof, ThreadsMustGiveTheSameBits) {
  struct Two final : Executor {
    std::int64_t width() const override { return 2; }
    void run(std::int64_t count, Item item, const void* context) const override {
      for (std::int64_t i = 0; i < count; ++i) item(context, i);
    }
  } two;
  MeasureOptions options = kQuick;
  options.executor = &two;
  int calls = 0;
  const auto right = measure(echo_case({.calls = &calls}, 1, false), options);
  ASSERT_TRUE(right.ok()) << right.status().message();
  EXPECT_GT(right.value().speed_up, 0);
  const Echo::Arguments slip{.slip_token = 7, .slip_head = 0, .slip = 1e-6f, .calls = &calls, .slip_alone = true};
  const auto wrong = measure(echo_case(slip, 1, false), options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find("a timed call gave other numbers"), std::string::npos);
}

}  // namespace
}  // namespace linearmem::bench
