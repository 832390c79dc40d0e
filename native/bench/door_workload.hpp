// One door of the library as a workload: owns the arrays, calls the door, and compares it with the same door in Form::reference, which
// computes in float64 token by token. The proof takes every head over the first tokens and the last head (or the last channels) over
// all of them.
//
// A mechanism M names Arguments, door(a), part(a, tokens, first, count): the arguments of the first tokens and some heads;
// outputs(a, visit): each output view but states; states(a, visit): each pair of state and final state.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <type_traits>
#include <vector>

#include "foundation/aligned_buffer.hpp"
#include "limits.hpp"
#include "linearmem/form.hpp"
#include "linearmem/random.hpp"
#include "linearmem/view.hpp"
#include "workload.hpp"

namespace linearmem::bench {

// Arrays that live as long as the workload.
template <typename T>
class Arrays {
 public:
  template <std::size_t N>
  View<T, static_cast<int>(N)> make(const std::array<std::int64_t, N>& extents) {
    return slots(extents, 1);
  }

  // Room for the states of `slots` calls, one after the other; the view is the first. Where the calls carry them on, all start from the
  // same normal numbers: what is wrong with a decay would not show on zeros.
  template <std::size_t N>
  View<T, static_cast<int>(N)> states(const std::array<std::int64_t, N>& extents, std::int64_t count, bool carried, Generator& generator) {
    const auto first = slots(extents, count);
    if (!carried) return first;
    for (std::int64_t i = 0; i < first.size(); ++i) first.data()[i] = static_cast<T>(generator.standard_normal());
    for (std::int64_t slot = 1; slot < count; ++slot) std::copy_n(first.data(), first.size(), first.data() + slot * first.size());
    return first;
  }

 private:
  template <std::size_t N>
  View<T, static_cast<int>(N)> slots(const std::array<std::int64_t, N>& extents, std::int64_t count) {
    for (std::int64_t extent : extents) count *= extent;
    return {buffers_.emplace_back(count).data(), extents};
  }

  std::deque<AlignedBuffer<T>> buffers_;
};

template <typename T, int N>
void fill_normal(const View<T, N>& to, Generator& generator) {
  for (std::int64_t i = 0; i < to.size(); ++i) to.data()[i] = static_cast<T>(generator.standard_normal());
}
template <typename T, int N>
void fill_uniform(const View<T, N>& to, Generator& generator, double low, double high) {
  for (std::int64_t i = 0; i < to.size(); ++i) to.data()[i] = static_cast<T>(generator.uniform(low, high));
}
// Rows of length 1, as keys are.
template <typename T, int N>
void fill_unit_rows(const View<T, N>& to, Generator& generator) {
  fill_normal(to, generator);
  const std::int64_t width = to.extent(N - 1);
  for (T* row = to.data(); row != to.data() + to.size(); row += width) {
    double sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += static_cast<double>(row[i]) * static_cast<double>(row[i]);
    for (std::int64_t i = 0; i < width; ++i) row[i] = static_cast<T>(static_cast<double>(row[i]) / std::sqrt(sum));
  }
}

template <typename T, int N>
View<T, N> part_of(const View<T, N>& view, int axis, std::int64_t begin, std::int64_t count) {
  if (!view.given()) return view;
  Extents<N> extents = view.extents();
  extents[axis] = count;
  return {view.data() + begin * view.stride(axis), extents, view.strides()};
}

// Visits every value in row-major order.
template <typename T, int N, typename Visit>
void each_value(const View<T, N>& view, Visit visit) {
  Extents<N> at{};
  for (std::int64_t left = view.size(); left > 0; --left) {
    visit(view[at]);
    for (int axis = N - 1; axis >= 0 && ++at[axis] == view.extent(axis); --axis) at[axis] = 0;
  }
}

template <typename T, int N>
std::vector<std::remove_const_t<T>> values_of(const View<T, N>& view) {
  std::vector<std::remove_const_t<T>> values;
  if (view.given()) each_value(view, [&](T& value) { values.push_back(value); });
  return values;
}

// The largest gap between two equally long lists, relative to max(1, the largest expected); NaN when one is not a number.
template <typename T>
double relative_gap(const std::vector<T>& got, const std::vector<T>& expected) {
  double largest = 1, gap = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double want = static_cast<double>(expected[i]), here = std::abs(static_cast<double>(got[i]) - want);
    largest = std::max(largest, std::abs(want));
    if (!(here <= gap)) gap = std::isnan(gap) ? gap : here;
  }
  return gap / largest;
}

template <typename T, typename M>
class DoorWorkload final : public Workload {
 public:
  using Arguments = typename M::Arguments;

  struct Plan {
    std::int64_t tokens = 1, lanes = 1;  // lanes: heads, or channels
    std::int64_t prefix_tokens = 1;      // of the proof that takes all lanes
    std::int64_t last_lanes = 1;         // of the proof that takes last_tokens, as a rule all
    std::int64_t last_tokens = tokens;
    std::int64_t slots = 1;              // states taken in turn
    bool in_place = false;               // the state a call leaves is the one the next call of its slot starts from
  };

  // fill(arrays, plan) makes the arguments; states have room for all slots.
  template <typename Fill>
  DoorWorkload(const Plan& plan, Fill fill) : plan_(plan), arguments_(fill(arrays_)), call_(first_call()) {}

  void use(const Executor* executor) override { call_.executor = arguments_.executor = executor; }

  Result<Proof> prove() override {
    call_ = first_call();
    slot_ = 0;
    forget_outputs();
    keep_states();
    Proof proof;
    const double begin = seconds(Clock::wall);
    if (Status status = M::door(call_); !status.ok()) return status;
    proof.first_seconds = seconds(Clock::wall) - begin;
    keep_outputs();
    for (const auto& [tokens, first, count] : {Span{plan_.prefix_tokens, 0, plan_.lanes},
                                               Span{plan_.last_tokens, plan_.lanes - plan_.last_lanes, plan_.last_lanes}}) {
      const Result<double> error = error_of(tokens, first, count);
      if (!error.ok()) return error.status();
      if (!(error.value() <= proof.error)) proof.error = std::isnan(proof.error) ? proof.error : error.value();
    }
    return proof;
  }

  Status run() override {
    if (plan_.slots > 1) {
      const bool last = ++slot_ == plan_.slots;
      move_by(call_, last ? 1 - plan_.slots : 1);
      if (last) slot_ = 0;
    }
    return M::door(call_);
  }

  bool unchanged() const override {
    if (plan_.in_place) return true;
    std::size_t index = 0;
    bool same = true;
    each_output([&](const auto& view) {
      const std::vector<T> values = values_of(view);
      same = same && values.size() == proven_[index].size() &&
             std::memcmp(values.data(), proven_[index].data(), values.size() * sizeof(T)) == 0;
      ++index;
    });
    return same;
  }

 private:
  struct Span {
    std::int64_t tokens, first, count;
  };

  template <typename Visit>
  void each_output(Visit visit) const {
    Arguments a = first_call();
    M::outputs(a, visit);
    M::states(a, [&](auto&, auto& after) { visit(after); });
  }

  // The next states, or those before.
  void move_by(Arguments& a, std::int64_t slots) const {
    M::states(a, [&](auto& before, auto& after) {
      if (!after.given()) return;
      after = {after.data() + slots * after.size(), after.extents()};
      if (plan_.in_place) before = after;
    });
  }

  Arguments first_call() const {
    Arguments a = arguments_;
    move_by(a, 0);
    return a;
  }

  void forget_outputs() {
    const auto forget = [](const auto& view) {
      each_value(view, [](T& value) { value = std::numeric_limits<T>::quiet_NaN(); });
    };
    M::outputs(arguments_, forget);
    Arguments a = first_call();
    if (!plan_.in_place) M::states(a, [&](auto&, auto& after) { forget(after); });
  }

  void keep_states() {
    starts_.clear();
    Arguments a = first_call();
    M::states(a, [&](auto& before, auto&) { starts_.push_back(values_of(before)); });
  }

  void keep_outputs() {
    proven_.clear();
    each_output([&](const auto& view) { proven_.push_back(values_of(view)); });
  }

  // The proven call against the definition, over the first tokens of some lanes; states only where all tokens are taken.
  Result<double> error_of(std::int64_t tokens, std::int64_t first, std::int64_t count) {
    std::deque<std::vector<T>> room;
    std::vector<std::vector<T>> got;
    Arguments a = first_call();
    std::size_t index = 0;
    M::states(a, [&](auto& before, auto&) {
      if (before.given()) before = {starts_[index].data(), before.extents()};
      ++index;
    });
    a = M::part(a, tokens, first, count);
    const auto replace = [&](auto& view, bool compared) {
      if (!view.given()) return;
      got.push_back(compared ? values_of(view) : std::vector<T>());
      auto& expected = room.emplace_back(static_cast<std::size_t>(view.size()), std::numeric_limits<T>::quiet_NaN());
      view = {expected.data(), view.extents()};
    };
    M::outputs(a, [&](auto& view) { replace(view, true); });
    M::states(a, [&](auto&, auto& after) { replace(after, tokens == plan_.tokens); });
    a.form = Form::reference;
    if (Status status = M::door(a); !status.ok()) return status;
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!got[i].empty())
        if (const double gap = relative_gap(got[i], room[i]); !(gap <= worst)) worst = std::isnan(worst) ? worst : gap;
    return worst;
  }

  Plan plan_;
  Arrays<T> arrays_;
  Arguments arguments_, call_;
  std::int64_t slot_ = 0;
  std::vector<std::vector<T>> starts_, proven_;
};

}  // namespace linearmem::bench
