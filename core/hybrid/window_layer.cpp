// Window attention that goes on where an earlier call stopped: the kept keys and values stand in front of the new ones. The attention
// room wants a query for every key; those of the kept rows are zeros whose answers are dropped.
#include "foundation/precision.hpp"
#include "foundation/sequences.hpp"
#include "hybrid/layer.hpp"
#include "linearmem/softmax_attention.hpp"

namespace linearmem::stack {
namespace {

// Rows [begin, begin + count) of the first axis.
template <typename T>
View<T, 3> rows_of(const View<T, 3>& view, std::int64_t begin, std::int64_t count) {
  return {view.data() + begin * view.stride(0), {count, view.extent(1), view.extent(2)}, view.strides()};
}

// The last `seen` rows that were kept, then the new ones.
template <typename T>
Tensor<T, 3> joined(const View<const T, 4>& kept, std::int64_t n, std::int64_t count, std::int64_t seen, const View<const T, 3>& fresh) {
  const std::int64_t tokens = fresh.extent(0);
  Tensor<T, 3> all({seen + tokens, fresh.extent(1), fresh.extent(2)});
  if (seen > 0) convert(rows_of(entry(kept, n), count - seen, seen), rows_of(all.view(), 0, seen));
  convert(fresh, rows_of(all.view(), seen, tokens));
  return all;
}

// The newest rows, then zeros.
template <typename T>
void keep(const Tensor<T, 3>& all, std::optional<std::int64_t> window, const View<T, 3>& to) {
  const std::int64_t rows = all.extents()[0], kept = hybrid_window_rows(rows, 0, window);
  convert(rows_of(all.view(), rows - kept, kept), rows_of(to, 0, kept));
  const auto rest = rows_of(to, kept, to.extent(0) - kept);
  each_index<3>(rest.extents(), [&](const Extents<3>& at) { rest[at] = T{0}; });
}

Form attention_form(Form form) { return form == Form::reference || form == Form::explicit_ ? form : Form::automatic; }

template <typename T>
View<T, 4> as_batch(const View<T, 3>& rows) {
  return {rows.data(), {1, rows.extent(0), rows.extent(1), rows.extent(2)}};
}

template <typename T>
Status attend(Layer<T>& layer, std::int64_t n) {
  const auto& a = layer.a;
  const TokenRange range = sequence_range(a.cu_seqlens, a.hidden.extent(1), n);
  const std::int64_t tokens = range.end - range.begin, seen = rows_seen(a, n), count = seen > 0 ? a.window_count(n) : 0;
  const auto fresh = [&](Tensor<T, 4>& tensor) { return rows_of(entry(tensor.view(), range.row), range.begin, tokens); };
  const Tensor<T, 3> keys = joined<T>(entry(a.window_k, layer.index), n, count, seen, fresh(layer.k)),
                     values = joined<T>(entry(a.window_v, layer.index), n, count, seen, fresh(layer.v));
  Tensor<T, 3> queries(keys.extents()), answers(values.extents());
  convert(View<const T, 3>(fresh(layer.q)), rows_of(queries.view(), seen, tokens));
  if (tokens > 0) {
    const Status status = softmax_attention(SoftmaxAttentionArguments<T>{.q = as_batch(queries.view()), .k = as_batch(keys.view()),
                                                                         .v = as_batch(values.view()), .window = a.window,
                                                                         .form = attention_form(a.form), .executor = a.executor,
                                                                         .o = as_batch(answers.view())});
    if (!status.ok()) return status;
  }
  convert(View<const T, 3>(rows_of(answers.view(), seen, tokens)), fresh(layer.o));
  if (a.final_window_k.given()) keep(keys, a.window, entry(entry(a.final_window_k, layer.index), n));
  if (a.final_window_v.given()) keep(values, a.window, entry(entry(a.final_window_v, layer.index), n));
  return {};
}

}  // namespace

template <typename T>
Status window_layer(Layer<T>& layer, std::int64_t N) {
  for (std::int64_t n = 0; n < N; ++n)
    if (Status status = attend(layer, n); !status.ok()) return status;
  return {};
}

template Status window_layer(Layer<float>&, std::int64_t);
template Status window_layer(Layer<double>&, std::int64_t);

}  // namespace linearmem::stack
