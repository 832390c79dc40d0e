#include "case_shape.hpp"
#include "door_workload.hpp"
#include "linearmem/delta_rule.hpp"

namespace linearmem::bench {
namespace {

template <typename T>
struct DeltaRule {
  using Arguments = DeltaRuleArguments<T>;
  static Status door(const Arguments& a) { return delta_rule(a); }
  static Arguments part(Arguments a, std::int64_t tokens, std::int64_t first, std::int64_t count) {
    const auto rows = [&](auto& view) { view = part_of(part_of(view, 1, 0, tokens), 2, first, count); };
    rows(a.q), rows(a.k), rows(a.v), rows(a.beta), rows(a.g), rows(a.o);
    a.state = part_of(a.state, 1, first, count);
    a.final_state = part_of(a.final_state, 1, first, count);
    return a;
  }
  template <typename Visit>
  static void outputs(Arguments& a, Visit visit) {
    visit(a.o);
  }
  template <typename Visit>
  static void states(Arguments& a, Visit visit) {
    visit(a.state, a.final_state);
  }
};

template <typename T>
DeltaRuleArguments<T> arguments_of(const Shape& s, bool gated, Arrays<T>& arrays) {
  Generator generator(1);
  const Extents<4> rows = {1, s.tokens, s.heads, s.width};
  const Extents<3> scalars = {1, s.tokens, s.heads};
  const auto q = arrays.make(rows), k = arrays.make(rows), v = arrays.make(rows);
  const auto beta = arrays.make(scalars), g = arrays.make(scalars);
  fill_unit_rows(q, generator), fill_unit_rows(k, generator), fill_normal(v, generator);
  fill_uniform(beta, generator, 0, 1), fill_uniform(g, generator, -0.1, 0);
  const auto state = arrays.states(Extents<4>{1, s.heads, s.width, s.width}, s.slots, s.carries, generator);
  DeltaRuleArguments<T> a{.q = q, .k = k, .v = v, .beta = beta, .o = arrays.make(rows), .final_state = state};
  if (gated) a.g = g;
  return a;
}

std::int64_t state_values(const Shape& s) { return s.heads * s.width * s.width; }

template <bool kGated>
Work work_of(const Shape& s) {
  return {.flops = (kGated ? 7.0 : 6.0) * static_cast<double>(state_values(s) * s.tokens)};
}

template <typename T, bool kGated>
std::unique_ptr<Workload> make(const Shape& s) {
  using Door = DoorWorkload<T, DeltaRule<T>>;
  const auto plan = plan_of<typename Door::Plan>(s, s.heads, 1, work_of<kGated>(s).flops);
  return std::make_unique<Door>(plan, [&](Arrays<T>& arrays) { return arguments_of<T>(s, kGated, arrays); });
}

template <bool kGated>
MechanismCases mechanism(const char* name) {
  return {.name = name,
          .state_values = state_values,
          .work = work_of<kGated>,
          .make32 = make<float, kGated>,
          .make64 = make<double, kGated>};
}

}  // namespace

std::vector<MechanismCases> delta_rule_cases() { return {mechanism<false>("delta-rule"), mechanism<true>("gated-delta-rule")}; }

}  // namespace linearmem::bench
