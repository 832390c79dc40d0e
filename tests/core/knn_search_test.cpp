// The search of the kNN memory: exact, in one order, the same alone and in any batch, form and layout; and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/carried_state.hpp"
#include "linearmem/knn_memory.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;

struct Answer {
  std::vector<std::int64_t> ids;
  std::vector<double> distances;
  bool operator==(const Answer&) const = default;
};

template <typename T>
struct Ask {
  View<const T, 2> keys, queries;
  std::int64_t k = 1;
  bool at_most_k = false;
  Metric metric = Metric::squared_l2;
  Form form = Form::automatic;
};

template <typename T>
Status search(const Ask<T>& ask, Answer& answer) {
  const Extents<2> extents = {ask.queries.extent(0), std::max<std::int64_t>(knn_columns(ask.keys.extent(0), ask.k, ask.at_most_k), 0)};
  answer.ids.assign(static_cast<std::size_t>(extents[0] * extents[1]), -1);
  answer.distances.assign(answer.ids.size(), std::nan(""));
  return knn_search(KnnSearchArguments<T>{.keys = ask.keys,
                                          .queries = ask.queries,
                                          .k = ask.k,
                                          .at_most_k = ask.at_most_k,
                                          .metric = ask.metric,
                                          .form = ask.form,
                                          .ids = {answer.ids.data(), extents},
                                          .distances = {answer.distances.data(), extents}});
}

template <typename T>
Answer found(const Ask<T>& ask) {
  Answer answer;
  const Status status = search(ask, answer);
  EXPECT_TRUE(status.ok()) << status.message();
  return answer;
}

template <typename T>
std::string refusal(const Ask<T>& ask) {
  Answer answer;
  const Status status = search(ask, answer);
  return status.ok() ? "accepted" : status.message();
}

// Rows [first, first + count) of an answer with k columns.
Answer rows_of(const Answer& answer, std::int64_t first, std::int64_t count, std::int64_t k) {
  return {{answer.ids.begin() + first * k, answer.ids.begin() + (first + count) * k},
          {answer.distances.begin() + first * k, answer.distances.begin() + (first + count) * k}};
}

// The definition once more, told apart from the library's: distances in long double, a full sort.
template <typename T>
Answer sorted_answer(const Ask<T>& ask) {
  Answer answer;
  const std::int64_t k = knn_columns(ask.keys.extent(0), ask.k, ask.at_most_k);
  for (std::int64_t q = 0; q < ask.queries.extent(0); ++q) {
    std::vector<std::pair<long double, std::int64_t>> all;
    for (std::int64_t i = 0; i < ask.keys.extent(0); ++i) {
      long double sum = 0;
      for (std::int64_t d = 0; d < ask.keys.extent(1); ++d) {
        const long double key = ask.keys(i, d), query = ask.queries(q, d);
        sum += ask.metric == Metric::squared_l2 ? (key - query) * (key - query) : -key * query;
      }
      all.push_back({sum, i});
    }
    std::sort(all.begin(), all.end());
    for (std::int64_t r = 0; r < k; ++r) {
      answer.ids.push_back(all[static_cast<std::size_t>(r)].second);
      answer.distances.push_back(static_cast<double>(all[static_cast<std::size_t>(r)].first));
    }
  }
  return answer;
}

double largest_gap(const Answer& a, const Answer& b) {
  double most = 1, gap = 0;
  for (std::size_t i = 0; i < b.distances.size(); ++i) {
    most = std::max(most, std::abs(b.distances[i]));
    const double here = std::abs(a.distances[i] - b.distances[i]);
    if (std::isnan(here)) return here;
    gap = std::max(gap, here);
  }
  return gap / most;
}

template <typename T>
class KnnSearch : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(KnnSearch, Precisions);

constexpr Form kForms[] = {Form::automatic, Form::reference, Form::streaming};
constexpr Metric kMetrics[] = {Metric::squared_l2, Metric::inner_product};

// Where |q|^2 + |k|^2 - 2 q k^T would cancel to nothing in float32.
TYPED_TEST(KnnSearch, FindsNearKeysFarFromTheOrigin) {
  const std::vector<TypeParam> keys = {10100, 10100, 10004, 10006, 10001, 10002, 10000, 10000};
  for (Form form : kForms)
    for (std::int64_t batch = 1; batch <= 65; ++batch) {
      const std::vector<TypeParam> queries(static_cast<std::size_t>(2 * batch), 10000);
      const Answer answer =
          found<TypeParam>({.keys = {keys.data(), {4, 2}}, .queries = {queries.data(), {batch, 2}}, .k = 4, .form = form});
      for (std::int64_t q = 0; q < batch; ++q)
        ASSERT_EQ(rows_of(answer, q, 1, 4), (Answer{{3, 2, 1, 0}, {0, 5, 52, 20000}})) << form_name(form) << " " << batch << " " << q;
    }
}

TYPED_TEST(KnnSearch, EqualKeysComeInTheOrderOfTheirIds) {
  const std::vector<TypeParam> keys(12, TypeParam{3}), queries(2, TypeParam{1});
  for (Form form : kForms)
    EXPECT_EQ(found<TypeParam>({.keys = {keys.data(), {6, 2}}, .queries = {queries.data(), {1, 2}}, .k = 3, .form = form}),
              (Answer{{0, 1, 2}, {8, 8, 8}}));
}

// Many keys, few distances: ties within a block of keys, across blocks, and at the last place.
TYPED_TEST(KnnSearch, TiesGoToTheSmallerIdWhereverTheyStand) {
  Numbers numbers(5);
  std::vector<TypeParam> keys(1000), queries(70);
  for (TypeParam& key : keys) key = static_cast<TypeParam>(numbers.whole(0, 3));
  for (TypeParam& query : queries) query = static_cast<TypeParam>(numbers.whole(0, 3));
  for (Metric metric : kMetrics)
    for (std::int64_t k : {1, 7, 200, 500}) {
      const Ask<TypeParam> ask{.keys = {keys.data(), {500, 2}}, .queries = {queries.data(), {35, 2}}, .k = k, .metric = metric};
      ASSERT_EQ(found(ask), sorted_answer(ask)) << k;
    }
}

TYPED_TEST(KnnSearch, AgreesWithASortOfAllDistances) {
  Numbers numbers(6);
  for (std::int64_t D : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 129})
    for (std::int64_t M : {1, 3, 4, 95, 96, 97, 191, 193, 300})
      for (Metric metric : kMetrics) {
        const std::int64_t Q = numbers.whole(1, 9);
        Guarded<TypeParam, 2> keys({M, D}), queries({Q, D});
        keys.fill(numbers, -1, 1), queries.fill(numbers, -1, 1);
        const Ask<TypeParam> ask{
            .keys = keys.view(), .queries = queries.view(), .k = numbers.whole(1, std::min<std::int64_t>(M, 20)), .metric = metric};
        const Answer answer = found(ask), expected = sorted_answer(ask);
        ASSERT_EQ(answer.ids, expected.ids) << M << " " << D;
        ASSERT_LE(largest_gap(answer, expected), 1e-12) << M << " " << D;
        Ask<TypeParam> plain = ask;
        plain.form = Form::reference;
        ASSERT_EQ(answer, found(plain)) << "bits of the definition, " << M << " " << D;
      }
}

// Keys that come ever nearer: each passes the filter.
TYPED_TEST(KnnSearch, KeysThatComeEverNearerAreAllMeasured) {
  constexpr std::int64_t M = 2000, D = 24;
  std::vector<TypeParam> keys;
  for (std::int64_t i = 0; i < M * D; ++i) keys.push_back(static_cast<TypeParam>(M - i / D));
  for (std::int64_t batch : {1, 8}) {
    const std::vector<TypeParam> queries(static_cast<std::size_t>(D * batch), TypeParam{0});
    Ask<TypeParam> ask{.keys = {keys.data(), {M, D}}, .queries = {queries.data(), {batch, D}}, .k = 50};
    const Answer streamed = found(ask);
    ask.form = Form::reference;
    ASSERT_EQ(streamed, found(ask)) << batch;
  }
}

// Keys that are one key with its columns in other orders: equally far but for the last bits, which the rounded scores do not have.
TYPED_TEST(KnnSearch, LosesNoKeyThatRoundingHides) {
  constexpr std::int64_t M = 2000, D = 75;
  Numbers numbers(7);
  std::vector<TypeParam> one, keys;
  for (std::int64_t d = 0; d < D; ++d) one.push_back(static_cast<TypeParam>(numbers.uniform(-1, 1)));
  for (std::int64_t i = 0; i < M; ++i) {
    for (std::int64_t d = D - 1; d > 0; --d)
      std::swap(one[static_cast<std::size_t>(d)], one[static_cast<std::size_t>(numbers.whole(0, d))]);
    keys.insert(keys.end(), one.begin(), one.end());
  }
  for (Metric metric : kMetrics)
    for (std::int64_t batch : {1, 8}) {
      const std::vector<TypeParam> queries(static_cast<std::size_t>(D * batch), TypeParam{1});
      Ask<TypeParam> ask{.keys = {keys.data(), {M, D}}, .queries = {queries.data(), {batch, D}}, .k = 50, .metric = metric};
      const Answer streamed = found(ask);
      ask.form = Form::reference;
      ASSERT_EQ(streamed, found(ask)) << metric_name(metric) << " " << batch;
    }
}

TYPED_TEST(KnnSearch, EachQueryIsTheSameAloneAndInEveryBatch) {
  constexpr std::int64_t M = 700, D = 37, Q = 65, k = 9;
  Numbers numbers(8);
  Guarded<TypeParam, 2> keys({M, D}), queries({Q, D});
  keys.fill(numbers, -1, 1), queries.fill(numbers, -1, 1);
  const View<const TypeParam, 2> all = queries.view();
  for (Metric metric : kMetrics) {
    const Answer whole = found<TypeParam>({.keys = keys.view(), .queries = all, .k = k, .metric = metric});
    for (std::int64_t batch = 1; batch <= Q; ++batch)
      for (std::int64_t first = 0; first + batch <= Q; first += batch)
        ASSERT_EQ(found<TypeParam>({.keys = keys.view(), .queries = test::part(all, 0, first, first + batch), .k = k, .metric = metric}),
                  rows_of(whole, first, batch, k))
            << batch << " " << first;
  }
}

TYPED_TEST(KnnSearch, StridedViewsEqualPackedCopies) {
  Numbers numbers(9);
  for (std::int64_t Q : {2, 11}) {
    Guarded<TypeParam, 2> keys({301, 13}), queries({Q, 13});
    keys.fill(numbers, -1, 1), queries.fill(numbers, -1, 1);
    test::Turned<TypeParam, 2> turned(View<const TypeParam, 2>(keys.view())), turned_queries(View<const TypeParam, 2>(queries.view()));
    const View<const TypeParam, 2> every_third(keys.data(), {100, 13}, {39, 1});
    std::vector<TypeParam> copy;
    for (std::int64_t i = 0; i < 100; ++i) copy.insert(copy.end(), &every_third(i, 0), &every_third(i, 0) + 13);
    EXPECT_EQ(found<TypeParam>({.keys = turned.view(), .queries = turned_queries.view(), .k = 5}),
              found<TypeParam>({.keys = keys.view(), .queries = queries.view(), .k = 5}));
    EXPECT_EQ(found<TypeParam>({.keys = every_third, .queries = queries.view(), .k = 5}),
              found<TypeParam>({.keys = {copy.data(), {100, 13}}, .queries = queries.view(), .k = 5}));
  }
}

TYPED_TEST(KnnSearch, AtMostKTakesAllThereAre) {
  const std::vector<TypeParam> keys = {0, 3}, query = {1};
  for (Form form : kForms) {
    EXPECT_EQ(found<TypeParam>({.keys = {keys.data(), {2, 1}}, .queries = {query.data(), {1, 1}}, .k = 5, .at_most_k = true, .form = form}),
              (Answer{{0, 1}, {1, 4}}));
    EXPECT_EQ(found<TypeParam>({.keys = {keys.data(), {0, 1}}, .queries = {query.data(), {1, 1}}, .k = 5, .at_most_k = true, .form = form}),
              Answer{});
  }
}

TYPED_TEST(KnnSearch, HugeAndTinyNumbersAreMeasuredInFloat64) {
  const bool single = sizeof(TypeParam) == 4;
  const auto huge = static_cast<TypeParam>(single ? 1e30 : 1e150), tiny = static_cast<TypeParam>(single ? 1e-30 : 1e-150);
  for (Metric metric : kMetrics) {
    std::vector<TypeParam> keys;
    for (int i = 0; i < 200; ++i)
      keys.push_back(i % 3 == 0 ? huge * static_cast<TypeParam>(1 + i) / 256 : tiny * static_cast<TypeParam>(i));
    for (std::int64_t batch : {1, 7}) {
      std::vector<TypeParam> queries(static_cast<std::size_t>(batch), tiny);
      const Ask<TypeParam> ask{.keys = {keys.data(), {200, 1}}, .queries = {queries.data(), {batch, 1}}, .k = 150, .metric = metric};
      Ask<TypeParam> plain = ask;
      plain.form = Form::reference;
      EXPECT_EQ(found(ask), found(plain));
    }
  }
}

// Every place of a block, every batch way, both infinities and NaN: named, whichever query meets it.
TYPED_TEST(KnnSearch, AKeyThatIsNotFiniteIsNamed) {
  constexpr std::int64_t M = 210, D = 5;
  Numbers numbers(10);
  for (double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL})
    for (std::int64_t at : {0, 3, 95, 96, 150, 209})
      for (std::int64_t batch : {1, 7})
        for (Form form : kForms)
          for (Metric metric : kMetrics) {
            Guarded<TypeParam, 2> keys({M, D}), queries({batch, D});
            keys.fill(numbers, -1, 1), queries.fill(numbers, -1, 1);
            keys.view()(at, 2) = static_cast<TypeParam>(bad);
            const std::string text = std::isnan(bad) ? "nan" : bad > 0 ? "inf" : "-inf";
            ASSERT_EQ(refusal<TypeParam>({.keys = keys.view(), .queries = queries.view(), .k = 1, .metric = metric, .form = form}),
                      "knn_search: keys[" + std::to_string(at) + ",2] is " + text + "; every number must be finite");
          }
}

TYPED_TEST(KnnSearch, AQueryThatIsNotFiniteIsNamed) {
  const std::vector<TypeParam> keys = {0, 1}, queries = {0, 1, 2, std::numeric_limits<TypeParam>::quiet_NaN()};
  EXPECT_EQ(refusal<TypeParam>({.keys = {keys.data(), {1, 2}}, .queries = {queries.data(), {2, 2}}}),
            "knn_search: queries[1,1] is nan; every number must be finite");
}

TEST(KnnSearchRefusals, NameTheArgumentAndBothNumbers) {
  const Tensor<double, 2> keys({2, 3}), wide({2, 4}), queries({1, 3});
  EXPECT_EQ(refusal<double>({.keys = wide.view(), .queries = queries.view()}), "knn_search: D differs: keys has 4, queries has 3");
  EXPECT_EQ(refusal<double>({.keys = keys.view(), .queries = queries.view(), .k = 5}),
            "knn_search: k is 5, but there are 2 keys; allow at most k to take them all");
  for (std::int64_t k : {0, -1})
    EXPECT_EQ(refusal<double>({.keys = keys.view(), .queries = queries.view(), .k = k, .at_most_k = true}),
              "knn_search: k is " + std::to_string(k) + ", must be at least 1");
  EXPECT_EQ(refusal<double>({.keys = keys.view(), .queries = queries.view(), .form = Form::chunked}),
            "knn_search: form chunked is not one of reference, streaming");
  const Tensor<double, 2> far({2, 3}, 1e200);
  for (Form form : kForms)
    EXPECT_EQ(refusal<double>({.keys = far.view(), .queries = queries.view(), .form = form}),
              "knn_search: keys[0] is farther from queries[0] than float64 holds");
  Tensor<std::int64_t, 2> ids({1, 2});
  Tensor<double, 2> distances({1, 2});
  EXPECT_EQ(knn_search(KnnSearchArguments<double>{
                           .keys = keys.view(), .queries = queries.view(), .k = 1, .ids = ids.view(), .distances = distances.view()})
                .message(),
            "knn_search: R is 2, but 1 neighbours are found");
}

}  // namespace
}  // namespace linearmem
