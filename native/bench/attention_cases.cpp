#include "case_shape.hpp"
#include "door_workload.hpp"
#include "linearmem/linear_attention.hpp"
#include "linearmem/softmax_attention.hpp"

namespace linearmem::bench {
namespace {

template <typename T>
struct Softmax {
  using Arguments = SoftmaxAttentionArguments<T>;
  static Status door(const Arguments& a) { return softmax_attention(a); }
  static Arguments part(Arguments a, std::int64_t tokens, std::int64_t first, std::int64_t count) {
    const auto rows = [&](auto& view) { view = part_of(part_of(view, 1, 0, tokens), 2, first, count); };
    rows(a.q), rows(a.k), rows(a.v), rows(a.o);
    return a;
  }
  template <typename Visit>
  static void outputs(Arguments& a, Visit visit) {
    visit(a.o);
  }
  template <typename Visit>
  static void states(Arguments&, Visit) {}
};

template <typename T>
struct Linear {
  using Arguments = LinearAttentionArguments<T>;
  static Status door(const Arguments& a) { return linear_attention(a); }
  static Arguments part(Arguments a, std::int64_t tokens, std::int64_t first, std::int64_t count) {
    const auto rows = [&](auto& view) { view = part_of(part_of(view, 1, 0, tokens), 2, first, count); };
    rows(a.q), rows(a.k), rows(a.v), rows(a.g), rows(a.o);
    const auto heads = [&](auto& view) { view = part_of(view, 1, first, count); };
    heads(a.state), heads(a.final_state), heads(a.z), heads(a.final_z);
    return a;
  }
  template <typename Visit>
  static void outputs(Arguments& a, Visit visit) {
    visit(a.o);
  }
  template <typename Visit>
  static void states(Arguments& a, Visit visit) {
    visit(a.state, a.final_state);
    visit(a.z, a.final_z);
  }
};

enum class Kind { plain, normalized, gated };

template <typename T>
LinearAttentionArguments<T> linear_arguments(const Shape& s, Kind kind, Arrays<T>& arrays) {
  Generator generator(1);
  const Extents<4> rows = {1, s.tokens, s.heads, s.width};
  const auto q = arrays.make(rows), k = arrays.make(rows), v = arrays.make(rows);
  fill_unit_rows(q, generator), fill_unit_rows(k, generator), fill_normal(v, generator);
  LinearAttentionArguments<T> a{.q = q, .k = k, .v = v, .o = arrays.make(rows)};
  a.normalize = kind == Kind::normalized;
  a.feature = kind == Kind::normalized ? Feature::elu1 : Feature::identity;
  if (kind == Kind::gated) {
    const auto g = arrays.make(Extents<3>{1, s.tokens, s.heads});
    fill_uniform(g, generator, -0.1, 0);
    a.g = g;
  }
  a.final_state = arrays.states(Extents<4>{1, s.heads, s.width, s.width}, s.slots, s.carries, generator);
  if (kind == Kind::normalized) {
    a.final_z = arrays.states(Extents<3>{1, s.heads, s.width}, s.slots, s.carries, generator);
    for (std::int64_t i = 0; i < a.final_z.size() * s.slots; ++i) a.final_z.data()[i] = std::abs(a.final_z.data()[i]);  // sums of phi > 0
  }
  return a;
}

template <typename T>
SoftmaxAttentionArguments<T> softmax_arguments(const Shape& s, Arrays<T>& arrays) {
  Generator generator(1);
  const Extents<4> rows = {1, s.tokens, s.heads, s.width};
  const auto q = arrays.make(rows), k = arrays.make(rows), v = arrays.make(rows);
  fill_normal(q, generator), fill_normal(k, generator), fill_normal(v, generator);
  return {.q = q, .k = k, .v = v, .o = arrays.make(rows)};
}

std::int64_t state_values(const Shape& s) { return s.heads * s.width * s.width; }

template <Kind kKind>
Work linear_work(const Shape& s) {
  return {.flops = (kKind == Kind::gated ? 5.0 : 4.0) * static_cast<double>(state_values(s) * s.tokens)};
}

Work softmax_work(const Shape& s) {  // two products of 2 D flops for each pair of a query and a key it sees
  return {.flops = 4.0 * static_cast<double>(s.heads * s.width) * static_cast<double>(s.tokens) * static_cast<double>(s.tokens + 1) / 2};
}

template <typename T, Kind kKind>
std::unique_ptr<Workload> make_linear(const Shape& s) {
  using Door = DoorWorkload<T, Linear<T>>;
  const auto plan = plan_of<typename Door::Plan>(s, s.heads, 1, linear_work<kKind>(s).flops);
  return std::make_unique<Door>(plan, [&](Arrays<T>& arrays) { return linear_arguments<T>(s, kKind, arrays); });
}

template <typename T>
std::unique_ptr<Workload> make_softmax(const Shape& s) {
  using Door = DoorWorkload<T, Softmax<T>>;
  const auto plan = plan_of<typename Door::Plan>(s, s.heads, 1, softmax_work(s).flops);
  return std::make_unique<Door>(plan, [&](Arrays<T>& arrays) { return softmax_arguments<T>(s, arrays); });
}

template <Kind kKind>
MechanismCases linear(const char* name) {
  return {.name = name,
          .state_values = state_values,
          .work = linear_work<kKind>,
          .make32 = make_linear<float, kKind>,
          .make64 = make_linear<double, kKind>};
}

}  // namespace

std::vector<MechanismCases> attention_cases() {
  return {{.name = "softmax-attention",
           .has_state = false,
           .work = softmax_work,
           .make32 = make_softmax<float>,
           .make64 = make_softmax<double>},
          linear<Kind::plain>("linear-attention"),
          linear<Kind::normalized>("linear-attention-normalized"),
          linear<Kind::gated>("gated-linear-attention")};
}

}  // namespace linearmem::bench
