// Writing: least squares by Penrose's four conditions, which only the pseudo-inverse meets; the delta rule; degenerate keys.
#include <gtest/gtest.h>

#include <string>

#include "core/support.hpp"
#include "linearmem/associative_memory.hpp"

namespace linearmem {
namespace {

using test::Guarded;
using test::Numbers;
using Matrix = Tensor<double, 2>;

Matrix random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  Numbers numbers(seed);
  Matrix matrix({rows, columns});
  for (double& value : matrix.values()) value = numbers.uniform(-1, 1);
  return matrix;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c({a.extents()[0], b.extents()[1]});
  for (std::int64_t i = 0; i < a.extents()[0]; ++i)
    for (std::int64_t j = 0; j < b.extents()[1]; ++j)
      for (std::int64_t k = 0; k < a.extents()[1]; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}

double asymmetry(const Matrix& a) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.extents()[0]; ++i)
    for (std::int64_t j = 0; j < a.extents()[1]; ++j) largest = std::max(largest, std::abs(a(i, j) - a(j, i)));
  return largest;
}

struct Written {
  Matrix S;
  WriteReport report;
};

Written write(const Matrix& keys, const Matrix& values, WriteRule rule = WriteRule::least_squares, double beta = 1) {
  Written written{Matrix({keys.extents()[1], values.extents()[1]}, std::nan("")), {}};
  const Status status = associative_write(AssociativeWriteArguments<double>{
      .keys = keys.view(), .values = values.view(), .rule = rule, .beta = beta, .S = written.S.view(), .report = &written.report});
  EXPECT_TRUE(status.ok()) << status.message();
  return written;
}

Matrix unit(std::int64_t size) {
  Matrix matrix({size, size});
  for (std::int64_t i = 0; i < size; ++i) matrix(i, i) = 1;
  return matrix;
}

// Values I make S the pseudo-inverse itself.
void expect_pseudo_inverse(const Matrix& A, std::int64_t rank) {
  const Written written = write(A, unit(A.extents()[0]));
  const Matrix AX = product(A, written.S), XA = product(written.S, A);
  const double tolerance = 1e-13 * written.report.condition * (1 + written.report.condition);
  EXPECT_LE(test::relative_difference(product(AX, A).view(), A.view()), tolerance);
  EXPECT_LE(test::relative_difference(product(XA, written.S).view(), written.S.view()), tolerance);
  EXPECT_LE(asymmetry(AX), tolerance);
  EXPECT_LE(asymmetry(XA), tolerance);
  EXPECT_EQ(written.report.rank, rank);
}

TEST(LeastSquares, IsThePseudoInverseTallWideAndSquare) {
  for (const auto& [M, K] : std::vector<Extents<2>>{{1, 1}, {2, 5}, {5, 2}, {6, 6}, {31, 17}, {17, 31}, {90, 3}})
    expect_pseudo_inverse(random_matrix(M, K, static_cast<std::uint64_t>(M * 100 + K)), std::min(M, K));
}

TEST(LeastSquares, AlsoWhenKeysDependOnEachOther) {
  Matrix low = product(random_matrix(20, 3, 1), random_matrix(3, 8, 2));
  expect_pseudo_inverse(low, 3);
  Matrix wide = product(random_matrix(6, 2, 3), random_matrix(2, 9, 4));
  expect_pseudo_inverse(wide, 2);
}

TEST(LeastSquares, ConditionAndResidualAreThoseOfTheKeys) {
  const Matrix keys({3, 2}, {3, 0, 0, 0.5, 0, 0}), values({3, 1}, {6, 1, 7});
  const Written written = write(keys, values);
  EXPECT_EQ(written.report.rank, 2);
  EXPECT_DOUBLE_EQ(written.report.condition, 6);
  EXPECT_DOUBLE_EQ(written.report.residual, 7);  // the zero key's value cannot be stored
  EXPECT_DOUBLE_EQ(written.S(0, 0), 2);
  EXPECT_DOUBLE_EQ(written.S(1, 0), 2);
  EXPECT_DOUBLE_EQ(write(keys, values, WriteRule::outer_product).report.condition, 6);  // whatever was written
}

TEST(LeastSquares, UnderdeterminedGivesTheSmallestMatrix) {
  const Matrix keys({1, 2}, {3, 4}), values({1, 1}, std::vector<double>{50});
  const Written written = write(keys, values);  // all S with 3 a + 4 b = 50; the smallest is along the key
  EXPECT_NEAR(written.S(0, 0), 6, 1e-13);
  EXPECT_NEAR(written.S(1, 0), 8, 1e-13);
  EXPECT_NEAR(written.report.residual, 0, 1e-12);
}

TEST(LeastSquares, DegenerateItems) {
  const Written none = write(Matrix({0, 3}), Matrix({0, 2}));
  EXPECT_EQ(none.report.rank, 0);
  EXPECT_EQ(none.report.condition, 0);
  EXPECT_EQ(none.S.values(), std::vector<double>(6, 0.0));
  const Written zeros = write(Matrix({2, 2}), Matrix({2, 1}, {1, 2}));
  EXPECT_EQ(zeros.report.rank, 0);
  EXPECT_EQ(zeros.S.values(), std::vector<double>(2, 0.0));
  EXPECT_DOUBLE_EQ(zeros.report.residual, std::sqrt(5.0));
  const Written duplicate = write(Matrix({2, 2}, {1, 0, 1, 0}), Matrix({2, 1}, {1, 3}));  // the two share their mean
  EXPECT_EQ(duplicate.report.rank, 1);
  EXPECT_NEAR(duplicate.S(0, 0), 2, 1e-14);
  EXPECT_EQ(duplicate.S(1, 0), 0);
}

TEST(DeltaWrite, CorrectsWhereTheOuterProductAdds) {
  const Matrix keys({2, 1}, {1, 1}), values({2, 1}, {1, 5});
  EXPECT_EQ(write(keys, values, WriteRule::outer_product).S(0, 0), 6);
  EXPECT_EQ(write(keys, values, WriteRule::delta).S(0, 0), 5);
  EXPECT_EQ(write(keys, values, WriteRule::delta, 0.5).S(0, 0), 2.75);
}

TEST(DeltaWrite, RepeatedOnUnitKeysApproachesLeastSquares) {
  Matrix keys({3, 4}, {1, 0, 0, 0, 0.6, 0.8, 0, 0, 0, 0.6, 0.8, 0}), values = random_matrix(3, 2, 5), many({300, 4}), more({300, 2});
  for (std::int64_t i = 0; i < 300; ++i) {
    for (std::int64_t c = 0; c < 4; ++c) many(i, c) = keys(i % 3, c);
    for (std::int64_t j = 0; j < 2; ++j) more(i, j) = values(i % 3, j);
  }
  EXPECT_LE(test::relative_difference(write(many, more, WriteRule::delta).S.view(), write(keys, values).S.view()), 1e-10);
}

TEST(AssociativeWrite, Float32IsTheFloat64ResultRounded) {
  Numbers numbers(6);
  Guarded<float, 2> keys({9, 4}), values({9, 3}), S({4, 3});
  keys.fill(numbers, -1, 1);
  values.fill(numbers, -1, 1);
  ASSERT_TRUE(associative_write(AssociativeWriteArguments<float>{
                                    .keys = keys.view(), .values = values.view(), .rule = WriteRule::least_squares, .S = S.view()})
                  .ok());
  Matrix wide_keys({9, 4}), wide_values({9, 3});
  convert(View<const float, 2>(keys.view()), wide_keys.view());
  convert(View<const float, 2>(values.view()), wide_values.view());
  const Written wide = write(wide_keys, wide_values);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(S.view()(i, j), static_cast<float>(wide.S(i, j)));
  EXPECT_TRUE(S.guards_intact());
}

TEST(AssociativeWrite, BadInputIsRefusedByName) {
  const Matrix keys({2, 3}, 1.0), values({2, 2}, 1.0), odd({1, 2}, 1.0);
  Matrix S({3, 2}), infinite = values;
  infinite(1, 0) = -HUGE_VAL;
  const auto message = [&](const Matrix& v, double beta) {
    return associative_write(AssociativeWriteArguments<double>{
                                 .keys = keys.view(), .values = v.view(), .rule = WriteRule::delta, .beta = beta, .S = S.view()})
        .message();
  };
  EXPECT_EQ(message(odd, 1), "associative_write: M differs: keys has 2, values has 1");
  EXPECT_EQ(message(infinite, 1), "associative_write: values[1,0] is -inf; every number must be finite");
  EXPECT_EQ(message(values, HUGE_VAL), "associative_write: beta is inf, must be finite");
}

}  // namespace
}  // namespace linearmem
