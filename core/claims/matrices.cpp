#include <algorithm>
#include <cmath>
#include <limits>

#include "claims/checks.hpp"
#include "claims/memories.hpp"
#include "foundation/unit_rows.hpp"

namespace linearmem {

Matrix rows(std::initializer_list<std::vector<double>> values) {
  const auto columns = static_cast<std::int64_t>(values.begin()->size());
  std::vector<double> flat;
  for (const auto& row : values) flat.insert(flat.end(), row.begin(), row.end());
  return Matrix({static_cast<std::int64_t>(values.size()), columns}, flat);
}

Matrix identity(std::int64_t size) {
  Matrix matrix({size, size});
  for (std::int64_t i = 0; i < size; ++i) matrix(i, i) = 1;
  return matrix;
}

Matrix missing(std::int64_t row_count, std::int64_t columns) {
  return Matrix({row_count, columns}, std::numeric_limits<double>::quiet_NaN());
}

double largest_difference(const Matrix& a, const Matrix& b) {
  if (a.extents() != b.extents()) return std::numeric_limits<double>::quiet_NaN();
  double largest = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) largest = worse(largest, std::abs(a.values()[i] - b.values()[i]));
  return largest;
}

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix product({a.extents()[0], b.extents()[1]});
  for (std::int64_t i = 0; i < a.extents()[0]; ++i)
    for (std::int64_t j = 0; j < b.extents()[1]; ++j)
      for (std::int64_t c = 0; c < a.extents()[1]; ++c) product(i, j) += a(i, c) * b(c, j);
  return product;
}

Matrix slice(const Matrix& matrix, std::int64_t begin, std::int64_t end) {
  const std::int64_t columns = matrix.extents()[1];
  return Matrix({end - begin, columns}, std::vector<double>(matrix.values().begin() + begin * columns, matrix.values().begin() + end * columns));
}

Matrix RandomMatrices::next(std::int64_t row_count, std::int64_t columns) {
  Matrix matrix({row_count, columns});
  for (double& value : matrix.values()) value = generator_.standard_normal();
  return matrix;
}

Matrix RandomMatrices::unit_rows(std::int64_t row_count, std::int64_t columns) {
  Matrix matrix = next(row_count, columns);
  for (std::int64_t i = 0; i < row_count; ++i) divide_by_length(matrix.data() + i * columns, columns);
  return matrix;
}

NotesInputs notes_inputs() {
  RandomMatrices random(7);
  NotesInputs in;
  in.q = random.next(8, 4);
  in.k = random.next(8, 4);
  in.v = random.next(8, 3);
  return in;
}

}  // namespace linearmem
