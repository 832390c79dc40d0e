#include "claims/associative_items.hpp"

#include <limits>

namespace linearmem {
namespace {

Tensor<float, 2> narrowed(const Matrix& matrix) {
  return {matrix.extents(), std::vector<float>(matrix.values().begin(), matrix.values().end())};
}

}  // namespace

Items random_items(std::uint64_t seed, std::int64_t M, std::int64_t K, std::int64_t V) {
  RandomMatrices random(seed);
  Items items;
  items.keys = random.unit_rows(M, K);
  items.values = random.unit_rows(M, V);
  return items;
}

Items two_items() { return {rows({{1, 0}, {0.6, 0.8}}), rows({{1, 0}, {0, 1}})}; }

Matrix associative_read(const Items& items, const Matrix& queries, const ResponseRule& rule, Form form) {
  Matrix o = missing(queries.extents()[0], items.values.extents()[1]);
  const Status status = associative_read(AssociativeReadArguments<double>{
      .keys = items.keys.view(), .values = items.values.view(), .queries = queries.view(), .rule = rule, .form = form, .o = o.view()});
  return status.ok() ? o : missing(o.extents()[0], o.extents()[1]);
}

Matrix associative_read_float32(const Items& items, const Matrix& queries, const ResponseRule& rule, Form form) {
  const Tensor<float, 2> keys = narrowed(items.keys), values = narrowed(items.values), narrow_queries = narrowed(queries);
  Tensor<float, 2> o({queries.extents()[0], items.values.extents()[1]}, std::numeric_limits<float>::quiet_NaN());
  const Status status = associative_read(AssociativeReadArguments<float>{
      .keys = keys.view(), .values = values.view(), .queries = narrow_queries.view(), .rule = rule, .form = form, .o = o.view()});
  return status.ok() ? Matrix(o.extents(), std::vector<double>(o.values().begin(), o.values().end()))
                     : missing(o.extents()[0], o.extents()[1]);
}

Matrix associative_weights(const Matrix& keys, const Matrix& queries, const ResponseRule& rule) {
  Matrix weights = missing(queries.extents()[0], keys.extents()[0]);
  const Status status = associative_weights(
      AssociativeWeightsArguments{.keys = keys.view(), .queries = queries.view(), .rule = rule, .weights = weights.view()});
  return status.ok() ? weights : missing(weights.extents()[0], weights.extents()[1]);
}

Written associative_write(const Items& items, WriteRule rule) {
  Written written{missing(items.keys.extents()[1], items.values.extents()[1]), {}};
  const Status status = associative_write(AssociativeWriteArguments<double>{
      .keys = items.keys.view(), .values = items.values.view(), .rule = rule, .S = written.S.view(), .report = &written.report});
  if (!status.ok())
    written = {missing(written.S.extents()[0], written.S.extents()[1]), {.residual = std::numeric_limits<double>::quiet_NaN()}};
  return written;
}

Matrix transposed(const Matrix& matrix) {
  Matrix other({matrix.extents()[1], matrix.extents()[0]});
  for (std::int64_t i = 0; i < matrix.extents()[0]; ++i)
    for (std::int64_t j = 0; j < matrix.extents()[1]; ++j) other(j, i) = matrix(i, j);
  return other;
}

Split interference(const Matrix& weights, const Matrix& values, const std::vector<std::int64_t>& targets) {
  const std::int64_t Q = weights.extents()[0], V = values.extents()[1];
  Split split{missing(Q, V), missing(Q, V), missing(1, Q)};
  const Status status = interference(InterferenceArguments{.weights = weights.view(),
                                                           .values = values.view(),
                                                           .targets = {targets.data(), {Q}},
                                                           .target_part = split.target_part.view(),
                                                           .others = split.others.view(),
                                                           .ratio = {split.ratio.data(), {Q}}});
  return status.ok() ? split : Split{missing(Q, V), missing(Q, V), missing(1, Q)};
}

}  // namespace linearmem
