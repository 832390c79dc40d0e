// Singular values by one-sided Jacobi rotations (Hestenes 1958): the columns of a matrix are turned pair by pair until all are
// orthogonal. Slower than a bidiagonal reduction and accurate to the last bits also for the small values.
#pragma once

#include <cstdint>
#include <vector>

namespace linearmem::associative {

// A matrix by columns: column j is columns[j * rows .. (j + 1) * rows).
struct ColumnMatrix {
  std::int64_t rows, count;
  std::vector<double> values;

  ColumnMatrix(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count), count(column_count), values(static_cast<std::size_t>(row_count * column_count)) {}
  double* column(std::int64_t j) { return values.data() + j * rows; }
  const double* column(std::int64_t j) const { return values.data() + j * rows; }
};

// A = U diag(sigma) W': turned = U diag(sigma), W [count,count]. Values are in no order.
struct Decomposition {
  ColumnMatrix turned, W;
  std::vector<double> sigma;
};
Decomposition decompose(ColumnMatrix a);

// Householder reflections turn the first `width` columns of a (rows >= width) into a triangle and are applied to all columns.
void triangularize(ColumnMatrix& a, std::int64_t width);

}  // namespace linearmem::associative
