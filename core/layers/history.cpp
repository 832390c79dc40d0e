// Two ways to the same sums. Many new tokens: the kept rows stand in front of them and the attention room does all, with queries of zeros
// for the kept rows, whose answers are dropped. Few: every query by itself against the rows where they lie.
#include "layers/history.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "foundation/precision.hpp"
#include "foundation/work_split.hpp"
#include "linearmem/softmax_attention.hpp"

namespace linearmem::layers {
namespace {

template <typename T>
View<T, 3> token_rows(const View<T, 3>& view, std::int64_t begin, std::int64_t count) {
  return {view.data() + begin * view.stride(0), {count, view.extent(1), view.extent(2)}, view.strides()};
}

template <typename T>
View<T, 4> as_batch(const View<T, 3>& rows) {
  return {rows.data(), {1, rows.extent(0), rows.extent(1), rows.extent(2)}, {0, rows.stride(0), rows.stride(1), rows.stride(2)}};
}

// The first kept token that a new one can see.
template <typename T>
std::int64_t first_seen(const Attention<T>& a) {
  return std::max<std::int64_t>(a.seen - (a.window - 1), 0);
}

template <typename T>
Status through_room(const Attention<T>& a, const View<const T, 3>& q, const View<const T, 3>& k, const View<const T, 3>& v, const View<T, 3>& o) {
  return softmax_attention(SoftmaxAttentionArguments<T>{.q = as_batch(q), .k = as_batch(k), .v = as_batch(v), .window = a.window,
                                                        .executor = a.executor, .o = as_batch(o)});
}

// The kept rows in the order of their tokens, then the new ones.
template <typename T>
Tensor<T, 3> joined(const Attention<T>& a, const T* kept, const View<const T, 3>& fresh) {
  const std::int64_t first = first_seen(a), count = a.seen - first, row = fresh.extent(1) * fresh.extent(2);
  Tensor<T, 3> all({count + fresh.extent(0), fresh.extent(1), fresh.extent(2)});
  for (std::int64_t i = 0; i < count; ++i) std::copy_n(kept + (first + i) % a.rows * row, row, all.data() + i * row);
  convert(fresh, token_rows(all.view(), count, fresh.extent(0)));
  return all;
}

template <typename T>
Status attend_many(const Attention<T>& a) {
  const std::int64_t count = a.seen - first_seen(a), L = a.q.extent(0);
  if (count == 0) return through_room(a, a.q, a.k, a.v, a.o);
  const Tensor<T, 3> keys = joined(a, a.kept_keys, a.k), values = joined(a, a.kept_values, a.v);
  Tensor<T, 3> queries({count + L, a.q.extent(1), a.q.extent(2)}), answers({count + L, a.o.extent(1), a.o.extent(2)});
  convert(a.q, token_rows(queries.view(), count, L));
  const Status status = through_room<T>(a, queries.view(), keys.view(), values.view(), answers.view());
  if (status.ok()) convert(View<const T, 3>(token_rows(answers.view(), count, L)), a.o);
  return status;
}

template <typename T>
struct Pointer {
  const T* data;
  std::int64_t stride;  // of the last axis
};

template <typename T>
T dot(Pointer<T> a, Pointer<T> b, std::int64_t count) {
  constexpr int kSums = 8;  // so that the compiler may use vectors
  T sums[kSums] = {};
  std::int64_t i = 0;
  if (a.stride == 1 && b.stride == 1)
    for (; i + kSums <= count; i += kSums)
      for (int s = 0; s < kSums; ++s) sums[s] += a.data[i + s] * b.data[i + s];
  for (; i < count; ++i) sums[0] += a.data[i * a.stride] * b.data[i * b.stride];
  for (int half = kSums / 2; half > 0; half /= 2)
    for (int s = 0; s < half; ++s) sums[s] += sums[s + half];
  return sums[0];
}

// One query head of one new token, t-th of the call.
template <typename T>
class OneQuery {
 public:
  OneQuery(const Attention<T>& a, std::int64_t t, std::int64_t h)
      : a_(a), t_(t), h_(h), key_head_(h / (a.q.extent(1) / a.k.extent(1))), last_(a.seen + t), first_(std::max<std::int64_t>(last_ - (a.window - 1), 0)) {}

  void answer(std::vector<T>& weights) const {
    const std::int64_t K = a_.q.extent(2), V = a_.v.extent(2);
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(K)));
    weights.resize(static_cast<std::size_t>(last_ - first_ + 1));
    const Pointer<T> q{&a_.q(t_, h_, 0), a_.q.stride(2)};
    for (std::int64_t i = first_; i <= last_; ++i) weights[static_cast<std::size_t>(i - first_)] = scale * dot(q, row(a_.kept_keys, a_.k, i), K);
    const T largest = *std::max_element(weights.begin(), weights.end());
    T sum = 0;
    for (T& weight : weights) sum += weight = std::exp(weight - largest);
    T* o = &a_.o(t_, h_, 0);
    const std::int64_t step = a_.o.stride(2);
    for (std::int64_t j = 0; j < V; ++j) o[j * step] = T{0};
    for (std::int64_t i = first_; i <= last_; ++i) {
      const Pointer<T> v = row(a_.kept_values, a_.v, i);
      const T weight = weights[static_cast<std::size_t>(i - first_)] / sum;
      for (std::int64_t j = 0; j < V; ++j) o[j * step] += weight * v.data[j * v.stride];
    }
  }

 private:
  // Token i's row of this query's key head.
  Pointer<T> row(const T* kept, const View<const T, 3>& fresh, std::int64_t i) const {
    if (i >= a_.seen) return {&fresh(i - a_.seen, key_head_, 0), fresh.stride(2)};
    return {kept + (i % a_.rows * fresh.extent(1) + key_head_) * fresh.extent(2), 1};
  }

  const Attention<T>& a_;
  std::int64_t t_, h_, key_head_, last_, first_;
};

template <typename T>
void attend_few(const Attention<T>& a) {
  const std::int64_t count = a.seen - first_seen(a);
  const auto cost = [&](std::int64_t) {
    return static_cast<double>(a.q.extent(0) * (count + a.q.extent(0))) * static_cast<double>(a.q.extent(2) + a.v.extent(2));
  };
  each_piece({a.executor, 1, a.q.extent(1), 1}, cost, [&](const Piece& piece) {
    std::vector<T> weights;
    for (std::int64_t h = piece.head; h < piece.head + piece.heads; ++h)
      for (std::int64_t t = 0; t < a.q.extent(0); ++t) OneQuery<T>(a, t, h).answer(weights);
  });
}

}  // namespace

template <typename T>
Status attend(const Attention<T>& a) {
  if (a.q.extent(0) == 0) return {};
  if (a.q.extent(0) >= a.seen - first_seen(a)) return attend_many(a);
  attend_few(a);
  return {};
}

template <typename T>
void keep(const View<const T, 3>& fresh, std::int64_t seen, std::int64_t rows, T* kept) {
  const std::int64_t L = fresh.extent(0), row = fresh.extent(1) * fresh.extent(2);
  for (std::int64_t t = std::max<std::int64_t>(L - rows, 0); t < L; ++t) {
    const View<T, 3> to(kept + (seen + t) % rows * row, {1, fresh.extent(1), fresh.extent(2)});
    convert(token_rows(fresh, t, 1), to);
  }
}

template Status attend(const Attention<float>&);
template Status attend(const Attention<double>&);
template void keep(const View<const float, 3>&, std::int64_t, std::int64_t, float*);
template void keep(const View<const double, 3>&, std::int64_t, std::int64_t, double*);

}  // namespace linearmem::layers
