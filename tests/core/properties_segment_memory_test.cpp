// Segment memory on random shapes. It keeps rows, not a state over tokens: what stands in properties.hpp is said here for rows.
#include "core/properties.hpp"

namespace linearmem {
namespace {

using test::edgy;
using test::Numbers;
using test::random_tensor;
using test::RandomCase;

// Sequences of the same M and T, so that they can be rows of one batch.
RandomCase memory_case(const Mechanism& mechanism, Numbers& numbers) {
  const std::int64_t M = edgy(numbers, 0, 9), T = test::random_length(numbers), D = edgy(numbers, 1, 12);
  const bool remembering = numbers.whole(0, 3) > 0;
  RandomCase c{&mechanism, {}, {}};
  for (std::int64_t n = numbers.whole(2, 3); n > 0; --n) {
    NamedTensors s = {{"hidden", random_tensor(numbers, {1, T, D}, -1, 1)}};
    if (remembering) s["memory"] = random_tensor(numbers, {1, M, D}, -1, 1);
    c.sequences.push_back(std::move(s));
  }
  if (numbers.whole(0, 3) > 0) c.settings.options["limit"] = std::to_string(numbers.whole(0, M + T + 1));
  return c;
}

// [memory; hidden]: all rows there are, of which the newest are kept.
NamedTensor all_rows(const NamedTensors& sequence) {
  NamedTensor all = sequence.at("hidden");
  if (!sequence.count("memory")) return all;
  all = sequence.at("memory");
  test::append(all, sequence.at("hidden"), 1);
  return all;
}

std::int64_t kept_of(const RandomCase& c, std::int64_t rows) {
  const auto limit = c.settings.options.find("limit");
  return limit == c.settings.options.end() ? rows : std::min<std::int64_t>(rows, std::stoll(limit->second));
}

void check_newest_rows(const RandomCase& c, Numbers&) {
  const NamedTensor all = all_rows(c.sequences[0]);
  const std::int64_t rows = all.shape[1];
  EXPECT_TRUE(test::same_bits(test::run_case(c, c.sequences[0]), {{"memory", test::cut(all, 1, rows - kept_of(c, rows), rows)}}));
}

// Two segments one after the other leave what one long segment leaves.
void check_segments(const RandomCase& c, Numbers& numbers) {
  const NamedTensors& whole = c.sequences[0];
  const std::int64_t T = whole.at("hidden").shape[1], at = numbers.whole(0, T);
  NamedTensors first = whole, second = whole;
  first["hidden"] = test::cut(whole.at("hidden"), 1, 0, at);
  second["hidden"] = test::cut(whole.at("hidden"), 1, at, T);
  second["memory"] = test::run_case(c, first).at("memory");
  EXPECT_TRUE(test::same_bits(test::run_case(c, second), test::run_case(c, whole))) << "cut at " << at << " of " << T;
}

void check_rows_of_a_batch(const RandomCase& given, Numbers&) {
  RandomCase c = given;
  c.sequences.push_back(test::all_nan(*c.mechanism, c.sequences[0]));
  const std::size_t garbage = c.sequences.size() - 1;
  std::vector<std::size_t> order = {garbage}, reversed = {garbage};
  for (std::size_t n = 0; n < garbage; ++n) {
    order.push_back(n);
    reversed.insert(reversed.begin(), n);
  }
  for (const std::vector<std::size_t>& places : {order, reversed}) {
    std::vector<NamedTensors> list;
    for (std::size_t n : places) list.push_back(c.sequences[n]);
    const NamedTensors all = test::run_case(c, test::joined(*c.mechanism, list, false));
    for (std::size_t at = 0; at < places.size(); ++at) {
      if (places[at] == garbage) continue;
      EXPECT_TRUE(test::same_bits(test::outputs_of(c, all, places, at, false), test::run_case(c, c.sequences[places[at]]))) << at;
    }
  }
}

void check_dropped_rows_are_not_looked_at(const RandomCase& c, Numbers&) {
  NamedTensors hidden = c.sequences[0];
  std::int64_t dropped = all_rows(hidden).shape[1] - kept_of(c, all_rows(hidden).shape[1]);
  for (const char* name : {"memory", "hidden"}) {
    if (!hidden.count(name)) continue;
    const std::int64_t rows = std::min(dropped, hidden[name].shape[1]);
    std::fill_n(hidden[name].bytes.begin(), rows * test::bytes_below(hidden[name], 1), std::byte{0xff});
    dropped -= rows;
  }
  EXPECT_TRUE(test::same_bits(test::run_case(c, hidden), test::run_case(c, c.sequences[0])));
}

void hold(void (*check)(const RandomCase&, Numbers&)) { test::for_each_case("segment-memory", memory_case, check); }

TEST(SegmentMemoryProperties, TheNewestRowsAreKept) { hold(check_newest_rows); }
TEST(SegmentMemoryProperties, EverySplitIntoSegmentsEqualsTheWhole) { hold(check_segments); }
TEST(SegmentMemoryProperties, CompanyChangesNothing) { hold(check_rows_of_a_batch); }
TEST(SegmentMemoryProperties, DroppedRowsAreNotLookedAt) { hold(check_dropped_rows_are_not_looked_at); }

}  // namespace
}  // namespace linearmem
