#include "experiments/recall.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "foundation/unit_rows.hpp"
#include "linearmem/associative_memory.hpp"
#include "linearmem/delta_rule.hpp"
#include "linearmem/ledger.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem {
namespace {

// One sequence of one head: the pairs, then the queries, which read and write nothing.
struct Sequence {
  Sequence(const RecallPairs& pairs, const Tensor<double, 2>& queries)
      : M(pairs.keys.extents()[0]),
        Q(queries.extents()[0]),
        K(queries.extents()[1]),
        V(pairs.values.extents()[1]),
        T(M + Q),
        keys(pairs.keys.values()),
        values(pairs.values.values()),
        o(static_cast<std::size_t>(T * V)) {
    keys.insert(keys.end(), queries.values().begin(), queries.values().end());
    values.resize(static_cast<std::size_t>(T * V));
  }
  View<const double, 4> k() const { return {keys.data(), {1, T, 1, K}}; }
  View<const double, 4> v() const { return {values.data(), {1, T, 1, V}}; }
  View<double, 4> out() { return {o.data(), {1, T, 1, V}}; }

  // `pair` for every pair, `query` for every query: [T]
  std::vector<double> scalars(double pair, double query) const {
    std::vector<double> list(static_cast<std::size_t>(T), pair);
    std::fill(list.begin() + M, list.end(), query);
    return list;
  }
  Tensor<double, 2> reads() const { return {{Q, V}, std::vector<double>(o.begin() + M * V, o.end())}; }

  std::int64_t M, Q, K, V, T;
  std::vector<double> keys, values, o;
};

Status read_linear(const RecallMemory& memory, Sequence& in) {
  const bool plain = memory.kind == Recalling::outer_product;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(in.T), 1);
  std::fill(mask.begin() + in.M, mask.end(), std::uint8_t{0});
  return linear_attention(LinearAttentionArguments<double>{.q = in.k(),
                                                           .k = in.k(),
                                                           .v = in.v(),
                                                           .key_mask = {mask.data(), {1, in.T}},
                                                           .feature = plain ? Feature::identity : Feature::elu1,
                                                           .normalize = !plain,
                                                           .form = Form::recurrent,
                                                           .state_type = memory.state,
                                                           .o = in.out()});
}

Status read_delta(const RecallMemory& memory, Sequence& in) {
  const std::vector<double> beta = in.scalars(1, 0), g = in.scalars(memory.kind == Recalling::gated_delta ? std::log(memory.alpha) : 0, 0);
  return delta_rule(DeltaRuleArguments<double>{.q = in.k(),
                                               .k = in.k(),
                                               .v = in.v(),
                                               .beta = {beta.data(), {1, in.T, 1}},
                                               .g = {g.data(), {1, in.T, 1}},
                                               .scale = 1.0,
                                               .form = Form::recurrent,
                                               .state_type = memory.state,
                                               .o = in.out()});
}

// A step of 1 for each pair, so that A is the decay's logarithm and a write has full weight; a step of 0 for a query.
Status read_ssd(const RecallMemory& memory, Sequence& in) {
  const std::vector<double> dt = in.scalars(1, 0);
  const double A = std::log(memory.alpha);
  return ssd(SsdArguments<double>{
      .x = in.v(), .dt = {dt.data(), {1, in.T, 1}}, .A = {&A, {1}}, .B = in.k(), .C = in.k(), .form = Form::recurrent, .y = in.out()});
}

// Memories that keep pairs or see all of them at once.
Status read_items(const RecallMemory& memory, const RecallPairs& pairs, const Tensor<double, 2>& queries, Tensor<double, 2>& reads) {
  const std::int64_t M = pairs.keys.extents()[0], K = pairs.keys.extents()[1], V = pairs.values.extents()[1];
  const std::int64_t first = memory.kind == Recalling::window ? std::max<std::int64_t>(0, M - memory.window) : 0;
  const ResponseRule rule{.response = memory.kind == Recalling::least_squares ? Response::least_squares : Response::softmax,
                          .beta = memory.beta};
  return associative_read(AssociativeReadArguments<double>{.keys = {pairs.keys.data() + first * K, {M - first, K}},
                                                           .values = {pairs.values.data() + first * V, {M - first, V}},
                                                           .queries = queries.view(),
                                                           .rule = rule,
                                                           .o = reads.view()});
}

}  // namespace

RecallPairs random_pairs(Generator& generator, std::int64_t M, std::int64_t K, std::int64_t V) {
  RecallPairs pairs{Tensor<double, 2>({M, K}), Tensor<double, 2>({M, V})};
  draw_unit_rows(generator, pairs.keys.data(), M, K);
  draw_unit_rows(generator, pairs.values.data(), M, V);
  return pairs;
}

Result<Tensor<double, 2>> recall_reads(const RecallMemory& memory, const RecallPairs& pairs, const Tensor<double, 2>& queries) {
  if (memory.kind == Recalling::softmax || memory.kind == Recalling::window || memory.kind == Recalling::least_squares) {
    Tensor<double, 2> reads({queries.extents()[0], pairs.values.extents()[1]});
    if (Status status = read_items(memory, pairs, queries, reads); !status.ok()) return status;
    return reads;
  }
  Sequence in(pairs, queries);
  const bool linear = memory.kind == Recalling::outer_product || memory.kind == Recalling::linear_attention;
  const Status status = linear ? read_linear(memory, in) : memory.kind == Recalling::ssd ? read_ssd(memory, in) : read_delta(memory, in);
  if (!status.ok()) return status;
  return in.reads();
}

std::int64_t nearest_row(const Tensor<double, 2>& values, const double* read) {
  const std::int64_t width = values.extents()[1];
  std::int64_t nearest = 0;
  double largest = -INFINITY;
  for (std::int64_t i = 0; i < values.extents()[0]; ++i) {
    double product = 0;
    for (std::int64_t c = 0; c < width; ++c) product += values.data()[i * width + c] * read[c];
    if (product > largest) {
      largest = product;
      nearest = i;
    }
  }
  return nearest;
}

Result<std::vector<std::int64_t>> recall_answers(const RecallMemory& memory, const RecallPairs& pairs,
                                                 const std::vector<std::int64_t>& asked) {
  const std::int64_t K = pairs.keys.extents()[1], V = pairs.values.extents()[1];
  Tensor<double, 2> queries({static_cast<std::int64_t>(asked.size()), K});
  for (std::size_t i = 0; i < asked.size(); ++i)
    std::copy_n(pairs.keys.data() + asked[i] * K, K, queries.data() + static_cast<std::int64_t>(i) * K);
  const auto reads = recall_reads(memory, pairs, queries);
  if (!reads.ok()) return reads.status();
  std::vector<std::int64_t> answers;
  for (std::size_t i = 0; i < asked.size(); ++i)
    answers.push_back(nearest_row(pairs.values, reads.value().data() + static_cast<std::int64_t>(i) * V));
  return answers;
}

Result<std::int64_t> recalled(const RecallMemory& memory, const RecallPairs& pairs, const Questions& questions) {
  const auto answers = recall_answers(memory, pairs, questions.asked);
  if (!answers.ok()) return answers.status();
  std::int64_t hits = 0;
  for (std::size_t i = 0; i < questions.expected.size(); ++i) hits += answers.value()[i] == questions.expected[i];
  return hits;
}

std::int64_t recall_bytes(const RecallMemory& memory, std::int64_t M, std::int64_t K, std::int64_t V) {
  constexpr int bits = 32;
  LayerShape shape{.heads = 1, .key_width = K, .value_width = V};
  if (memory.kind == Recalling::window) {
    shape.kind = LayerKind::window_attention;
    shape.window = memory.window;
  } else if (memory.kind != Recalling::softmax) {
    shape.kind = LayerKind::linear_attention;
    shape.normalizer = memory.kind == Recalling::linear_attention;
  }
  const auto bytes = layer_bytes(shape, M, {.kv_bits = bits, .state_bits = bits});
  return bytes.ok() ? bytes.value() : 0;  // no width: nothing is kept
}

double recall_work(Recalling kind, std::int64_t M, std::int64_t Q, std::int64_t K, std::int64_t V) {
  const auto m = static_cast<double>(M), q = static_cast<double>(Q), k = static_cast<double>(K), v = static_cast<double>(V);
  const double drawing = 20 * m * (k + v), decoding = q * m * v;
  switch (kind) {
    case Recalling::softmax:
    case Recalling::window:
      return drawing + decoding + q * m * (k + v + 20);
    case Recalling::least_squares:
      return drawing + decoding + 20 * m * k * std::min(m, k) + q * k * v;
    default:
      return drawing + decoding + 3 * (m + q) * k * v;
  }
}

Share wilson(double hits, double tries) {
  constexpr double z = 1.959963984540054;
  const double p = hits / tries, middle = (p + z * z / (2 * tries)) / (1 + z * z / tries);
  const double half = z / (1 + z * z / tries) * std::sqrt(p * (1 - p) / tries + z * z / (4 * tries * tries));
  return {p, std::min(p, middle - half), std::max(p, middle + half)};  // at 0 and 1 the ends differ from p by rounding alone
}

}  // namespace linearmem
