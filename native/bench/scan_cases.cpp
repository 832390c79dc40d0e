// The mechanisms of channels, D = heads x width of them, and SSD, whose heads keep a state [N,P] with N = P = width.
#include "case_shape.hpp"
#include "door_workload.hpp"
#include "linearmem/causal_conv.hpp"
#include "linearmem/selective_scan.hpp"

namespace linearmem::bench {
namespace {

constexpr std::int64_t kStates = 16;  // N of Mamba-1's published models
constexpr std::int64_t kTaps = 4;     // W of the convolution before them

// Prefill of one channel costs little: the proof takes this many over all tokens.
constexpr std::int64_t kLastChannels = 64;

template <typename T>
struct SelectiveScan {
  using Arguments = SelectiveScanArguments<T>;
  static Status door(const Arguments& a) { return selective_scan(a); }
  static Arguments part(Arguments a, std::int64_t tokens, std::int64_t first, std::int64_t count) {
    const auto rows = [&](auto& view) { view = part_of(part_of(view, 1, 0, tokens), 2, first, count); };
    rows(a.x), rows(a.a), rows(a.b), rows(a.c), rows(a.y);
    a.state = part_of(a.state, 1, first, count);
    a.final_state = part_of(a.final_state, 1, first, count);
    return a;
  }
  template <typename Visit>
  static void outputs(Arguments& a, Visit visit) {
    visit(a.y);
  }
  template <typename Visit>
  static void states(Arguments& a, Visit visit) {
    visit(a.state, a.final_state);
  }
  static Arguments make(const Shape& s, Arrays<T>& arrays) {
    Generator generator(1);
    const Extents<3> rows = {1, s.tokens, s.channels()};
    const auto x = arrays.make(rows), decay = arrays.make(rows), b = arrays.make(rows), c = arrays.make(rows);
    fill_normal(x, generator), fill_uniform(decay, generator, 0.9, 1), fill_normal(b, generator), fill_normal(c, generator);
    return {.x = x, .a = decay, .b = b, .c = c, .y = arrays.make(rows),
            .final_state = arrays.states(Extents<2>{1, s.channels()}, s.slots, s.carries, generator)};
  }
};

template <typename T>
struct Mamba {
  using Arguments = MambaScanArguments<T>;
  static Status door(const Arguments& a) { return mamba_scan(a); }
  static Arguments part(Arguments a, std::int64_t tokens, std::int64_t first, std::int64_t count) {
    const auto rows = [&](auto& view) { view = part_of(part_of(view, 1, 0, tokens), 2, first, count); };
    rows(a.u), rows(a.delta), rows(a.z), rows(a.y);
    a.B = part_of(a.B, 1, 0, tokens), a.C = part_of(a.C, 1, 0, tokens);
    a.A = part_of(a.A, 0, first, count), a.D = part_of(a.D, 0, first, count);
    a.state = part_of(a.state, 1, first, count);
    a.final_state = part_of(a.final_state, 1, first, count);
    return a;
  }
  template <typename Visit>
  static void outputs(Arguments& a, Visit visit) {
    visit(a.y);
  }
  template <typename Visit>
  static void states(Arguments& a, Visit visit) {
    visit(a.state, a.final_state);
  }
  static Arguments make(const Shape& s, Arrays<T>& arrays) {
    Generator generator(1);
    const Extents<3> rows = {1, s.tokens, s.channels()}, shared = {1, s.tokens, kStates};
    const auto u = arrays.make(rows), delta = arrays.make(rows), z = arrays.make(rows);
    const auto A = arrays.make(Extents<2>{s.channels(), kStates});
    const auto B = arrays.make(shared), C = arrays.make(shared);
    const auto D = arrays.make(Extents<1>{s.channels()});
    fill_normal(u, generator), fill_uniform(delta, generator, -4, 0), fill_normal(z, generator);
    fill_uniform(A, generator, -1, -0.1), fill_normal(B, generator), fill_normal(C, generator), fill_normal(D, generator);
    return {.u = u, .delta = delta, .A = A, .B = B, .C = C, .D = D, .z = z, .y = arrays.make(rows),
            .final_state = arrays.states(Extents<3>{1, s.channels(), kStates}, s.slots, s.carries, generator)};
  }
};

template <typename T>
struct Ssd {
  using Arguments = SsdArguments<T>;
  static Status door(const Arguments& a) { return ssd(a); }
  static Arguments part(Arguments a, std::int64_t tokens, std::int64_t first, std::int64_t count) {
    const auto rows = [&](auto& view) { view = part_of(part_of(view, 1, 0, tokens), 2, first, count); };
    rows(a.x), rows(a.dt), rows(a.y);
    a.B = part_of(a.B, 1, 0, tokens), a.C = part_of(a.C, 1, 0, tokens);
    a.A = part_of(a.A, 0, first, count);
    a.state = part_of(a.state, 1, first, count);
    a.final_state = part_of(a.final_state, 1, first, count);
    return a;
  }
  template <typename Visit>
  static void outputs(Arguments& a, Visit visit) {
    visit(a.y);
  }
  template <typename Visit>
  static void states(Arguments& a, Visit visit) {
    visit(a.state, a.final_state);
  }
  static Arguments make(const Shape& s, Arrays<T>& arrays) {
    Generator generator(1);
    const Extents<4> rows = {1, s.tokens, s.heads, s.width}, shared = {1, s.tokens, 1, s.width};
    const auto x = arrays.make(rows), B = arrays.make(shared), C = arrays.make(shared);
    const auto dt = arrays.make(Extents<3>{1, s.tokens, s.heads});
    const auto A = arrays.make(Extents<1>{s.heads});
    fill_normal(x, generator), fill_unit_rows(B, generator), fill_unit_rows(C, generator);
    fill_uniform(dt, generator, 0, 0.2), fill_uniform(A, generator, -1, -0.1);
    return {.x = x, .dt = dt, .A = A, .B = B, .C = C, .y = arrays.make(rows),
            .final_state = arrays.states(Extents<4>{1, s.heads, s.width, s.width}, s.slots, s.carries, generator)};
  }
};

template <typename T>
struct Convolution {
  using Arguments = CausalConvArguments<T>;
  static Status door(const Arguments& a) { return causal_conv(a); }
  static Arguments part(Arguments a, std::int64_t tokens, std::int64_t first, std::int64_t count) {
    const auto rows = [&](auto& view) { view = part_of(part_of(view, 1, 0, tokens), 2, first, count); };
    rows(a.x), rows(a.y);
    a.weight = part_of(a.weight, 0, first, count), a.bias = part_of(a.bias, 0, first, count);
    a.state = part_of(a.state, 1, first, count);
    a.final_state = part_of(a.final_state, 1, first, count);
    return a;
  }
  template <typename Visit>
  static void outputs(Arguments& a, Visit visit) {
    visit(a.y);
  }
  template <typename Visit>
  static void states(Arguments& a, Visit visit) {
    visit(a.state, a.final_state);
  }
  static Arguments make(const Shape& s, Arrays<T>& arrays) {
    Generator generator(1);
    const Extents<3> rows = {1, s.tokens, s.channels()};
    const auto x = arrays.make(rows);
    const auto weight = arrays.make(Extents<2>{s.channels(), kTaps});
    const auto bias = arrays.make(Extents<1>{s.channels()});
    fill_normal(x, generator), fill_normal(weight, generator), fill_normal(bias, generator);
    return {.x = x, .weight = weight, .bias = bias, .y = arrays.make(rows),
            .final_state = arrays.states(Extents<3>{1, s.channels(), kTaps - 1}, s.slots, s.carries, generator)};
  }
};

double steps(const Shape& s) { return static_cast<double>(s.channels() * s.tokens); }

Work scan_work(const Shape& s) { return {.flops = 4 * steps(s), .elements = steps(s)}; }
// exp(s A), times h, plus s u times B, and C h: 6 per state and an exponential, which has no agreed count.
Work mamba_work(const Shape& s) { return {.elements = kStates * steps(s)}; }
Work ssd_work(const Shape& s) { return {.flops = 5.0 * static_cast<double>(s.width) * steps(s)}; }
Work convolution_work(const Shape& s) { return {.flops = 2 * kTaps * steps(s), .elements = steps(s)}; }

template <typename T, template <typename> typename M, Work (*kWork)(const Shape&), bool kByChannel>
std::unique_ptr<Workload> make(const Shape& s) {
  using Door = DoorWorkload<T, M<T>>;
  const Work work = kWork(s);
  const double cost = work.flops + 30 * work.elements;  // an element may take an exponential
  const auto plan = plan_of<typename Door::Plan>(s, kByChannel ? s.channels() : s.heads, kByChannel ? kLastChannels : 1, cost);
  return std::make_unique<Door>(plan, [&](Arrays<T>& arrays) { return M<T>::make(s, arrays); });
}

template <template <typename> typename M, Work (*kWork)(const Shape&), bool kByChannel>
MechanismCases mechanism(const char* name, std::int64_t (*state_values)(const Shape&), std::int64_t (*moved_values)(const Shape&)) {
  return {.name = name,
          .by_channel = kByChannel,
          .state_values = state_values,
          .work = kWork,
          .moved_values = moved_values,
          .make32 = make<float, M, kWork, kByChannel>,
          .make64 = make<double, M, kWork, kByChannel>};
}

}  // namespace

std::vector<MechanismCases> scan_cases() {
  return {mechanism<SelectiveScan, scan_work, true>(
              "selective-scan", [](const Shape& s) { return s.channels(); },
              [](const Shape& s) { return 5 * s.channels() * s.tokens; }),
          mechanism<Mamba, mamba_work, true>("mamba-scan", [](const Shape& s) { return s.channels() * kStates; }, nullptr),
          mechanism<Ssd, ssd_work, false>("ssd", [](const Shape& s) { return s.channels() * s.width; }, nullptr),
          mechanism<Convolution, convolution_work, true>(
              "causal-conv", [](const Shape& s) { return s.channels() * (kTaps - 1); },
              [](const Shape& s) { return 2 * s.channels() * s.tokens; })};
}

}  // namespace linearmem::bench
