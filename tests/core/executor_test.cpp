// Work on an executor: the same bits whatever its width and order, one head of one sequence falls apart, and memory that runs out in
// a piece reaches the caller once.
#include <gtest/gtest.h>

#include <new>
#include <numeric>

#include "core/executor_cases.hpp"
#include "foundation/work_split.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem {
namespace {

// Runs the last item first, on the caller's thread.
class Backwards final : public Executor {
 public:
  explicit Backwards(std::int64_t width, std::int64_t least = 0) : width_(width), least_(least) {}
  std::int64_t width() const override { return width_; }
  std::int64_t least_work() const override { return least_; }
  void run(std::int64_t count, Item item, const void* context) const override {
    most_items = std::max(most_items, count);
    while (count-- > 0) item(context, count);
  }
  mutable std::int64_t most_items = 0;

 private:
  std::int64_t width_, least_;
};

TEST(Executor, GivesTheSameBitsAtAnyWidthInAnyOrder) {
#if defined(__wasm__) || defined(__SANITIZE_ADDRESS__)
  const std::vector<std::int64_t> widths = {3};  // the tests themselves run slowly there
#else
  const std::vector<std::int64_t> widths = {1, 2, 3, 7};
#endif
  test::each_executor_case([&](const test::ExecutorCase& c) {
    const NamedTensors expected = test::run_case(c, nullptr);
    for (std::int64_t width : widths) {
      SCOPED_TRACE(width);
      const Backwards executor(width);
      test::expect_same_bits(test::run_case(c, &executor), expected);
    }
  });
}

TEST(Executor, OneHeadOfOneSequenceIsSharedOut) {
  for (const Mechanism& mechanism : mechanisms()) {
    const std::string room = mechanism.room;
    if (!test::takes_executor(mechanism) || room == "segment_memory" || room == "depth_recurrence") continue;
    const Backwards two(2), seven(7);
    const test::ExecutorCase c = test::executor_case(mechanism, {1, 1, false});
    test::run_case(c, &two);
    test::run_case(c, &seven);
    EXPECT_GE(two.most_items, 2) << mechanism.name;
    EXPECT_GE(seven.most_items, two.most_items) << mechanism.name;
  }
}

// A part's columns come out even and its state is worked on where it lies; the whole's is not, and must not be paired otherwise.
TEST(Executor, FewTokensRoundAlikeInPartsAndWhole) {
  const Mechanism& mechanism = *find_mechanism("gated-delta-rule").value();
  for (std::int64_t T = 2; T <= 6; ++T) {
    auto sizes = test::sizes_for_parts(1, 1, false);
    sizes["T"] = T, sizes["N"] = 1;
    test::Numbers numbers(18);
    const test::ExecutorCase c{&mechanism, test::drawn_inputs(numbers, mechanism, sizes, "g"), {}};
    const Backwards executor(3);
    test::expect_same_bits(test::run_case(c, &executor), test::run_case(c, nullptr));
    EXPECT_EQ(executor.most_items, 3) << T;
  }
}

TEST(Executor, CheckpointsComeInTheirRows) {
  const Mechanism& mechanism = *find_mechanism("gated-delta-rule").value();
  for (const char* every : {"4", "50"}) {
    test::ExecutorCase c = test::executor_case(mechanism, {1, 3, true});
    c.settings.options = {{"checkpoint_every", every}};
    const Backwards executor(3);
    test::expect_same_bits(test::run_case(c, &executor), test::run_case(c, nullptr));
    EXPECT_GT(executor.most_items, 3);
  }
}

TEST(Executor, LittleWorkStaysWithTheCaller) {
  const test::ExecutorCase c = test::executor_case(*find_mechanism("delta-rule").value(), {3, 2, false});
  const Backwards patient(2, std::int64_t{1} << 40);
  test::run_case(c, &patient);
  EXPECT_EQ(patient.most_items, 0);
}

TEST(Executor, RefusalsComeBeforeAnyWork) {
  const Backwards executor(2);
  const double one[] = {1};
  Tensor<double, 4> o({1, 1, 1, 1});
  const Status status = delta_rule(DeltaRuleArguments<double>{.q = {one, {1, 1, 1, 1}}, .k = {one, {1, 1, 1, 1}}, .v = {one, {1, 1, 1, 1}},
                                                              .beta = {one, {1, 1, 1}}, .form = Form::streaming, .executor = &executor,
                                                              .o = o.view()});
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(executor.most_items, 0);
}

TEST(RunItems, MemoryThatRunsOutIsReportedOnce) {
  const Backwards executor(2);
  std::int64_t begun = 0;
  EXPECT_THROW(run_items(&executor, 10,
                         [&](std::int64_t index) {
                           ++begun;
                           if (index == 7) throw std::bad_alloc();
                         }),
               std::bad_alloc);
  EXPECT_EQ(begun, 3);  // items 9, 8 and 7; those not yet begun are let be
}

// The parts of an axis are neighbours, cover it, and none but the last is anything but whole grains.
TEST(Pieces, CoverAnAxisOnce) {
  for (std::int64_t extent : {0, 1, 15, 16, 17, 100})
    for (std::int64_t parts = 1; parts <= std::max<std::int64_t>((extent + 15) / 16, 1); ++parts) {
      std::int64_t next = 0;
      for (std::int64_t part = 0; part < parts; ++part) {
        const Range range = Piece{0, 0, 1, part, parts}.of(extent, 16);
        EXPECT_EQ(range.first, next);
        EXPECT_TRUE(range.count % 16 == 0 || part == parts - 1);
        EXPECT_TRUE(range.count > 0 || extent == 0);
        next += range.count;
      }
      EXPECT_EQ(next, extent);
    }
}

std::int64_t pieces_of(std::int64_t width, std::int64_t heads, const std::vector<double>& costs, std::int64_t most_parts = 100) {
  const Backwards executor(width);
  return first_items({&executor, static_cast<std::int64_t>(costs.size()), heads, most_parts}, heads, costs).back();
}

TEST(Pieces, AreCutWhereHeadsAreFew) {
  EXPECT_EQ(pieces_of(2, 1, {100}), 2);
  EXPECT_EQ(pieces_of(2, 2, {100}), 2);
  EXPECT_EQ(pieces_of(2, 3, {100}), 6);
  EXPECT_EQ(pieces_of(2, 16, {100, 100}), 32);
  EXPECT_EQ(pieces_of(2, 1, {1, 1, 1, 1000, 1}), 6);  // the long one among short ones in two
  EXPECT_EQ(pieces_of(7, 1, {100}), 7);
  EXPECT_EQ(pieces_of(7, 1, {100}, 3), 3);
  EXPECT_EQ(pieces_of(2, 3, {0, 0}), 6);
}

}  // namespace
}  // namespace linearmem
