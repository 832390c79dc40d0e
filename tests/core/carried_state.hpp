// What every door that carries a state over tokens must hold, whatever its mechanism: forms agree; alone, in a batch, packed or
// split the numbers are the same; strides, a state updated in place and NaN elsewhere change nothing.
//
// A Door says what differs: Tensors<T>, made of a shape and a seed, with inputs(), state, y, final_state, arguments() and
// packed(offsets); kForms; Shape with B, T and sequences; each_token_view(arguments, visit), which visits all that
// has axes [B,T,...]; each_input(arguments, visit), which visits every floating input; call(arguments).
#pragma once

#include <gtest/gtest.h>

#include <list>
#include <tuple>
#include <utility>

#include "core/support.hpp"
#include "core/ways.hpp"

namespace linearmem::test {

// The part [begin, end) of one axis.
template <typename T, int N>
View<T, N> part(const View<T, N>& view, int axis, std::int64_t begin, std::int64_t end) {
  if (!view.given()) return {};
  Extents<N> extents = view.extents();
  extents[axis] = end - begin;
  return {view.data() + begin * view.stride(axis), extents, view.strides()};
}

// Room for such an array in another layout: axes in reverse order, every second element, NaN between.
template <typename T, typename U, int N>
View<T, N> spread_room(const View<U, N>& like, std::list<std::vector<T>>& owners) {
  const Extents<N>& extents = like.extents();
  Extents<N> strides{};
  std::int64_t step = 2;
  for (int axis = 0; axis < N; ++axis) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(extents[axis], 1);
  }
  owners.emplace_back(static_cast<std::size_t>(step), std::numeric_limits<T>::quiet_NaN());
  return {owners.back().data(), extents, strides};
}

template <typename A, typename B, int N>
bool same_values(const View<A, N>& got, const View<B, N>& expected) {
  bool same = got.extents() == expected.extents();
  if (same) each_index<N>(expected.extents(), [&](const Extents<N>& at) { same = same && got[at] == expected[at]; });
  return same;
}

template <typename From, typename To>
void convert_inputs(From& from, To& to) {
  auto sources = from.inputs();
  auto targets = to.inputs();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (convert(std::get<I>(sources).view(), std::get<I>(targets).view()), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(sources)>>());
}

template <typename Door>
std::vector<Way> ways_of(std::int64_t tokens) {
  std::vector<Way> all = {{Form::automatic}};
  for (Form form : Door::kForms) {
    all.push_back({form});
    if (form != Form::chunked) continue;
    for (std::int64_t chunk = 1; chunk <= std::min<std::int64_t>(tokens + 1, 9); ++chunk) all.push_back({form, chunk});
    if (tokens > 8) all.push_back({form, tokens});
    if (tokens > 8) all.push_back({form, tokens + 1});
  }
  return all;
}

template <typename Door, typename Arguments>
void must_run(const Arguments& arguments, const Way& way = {Form::automatic}) {
  Arguments a = arguments;
  a.form = way.form;
  if constexpr (requires { a.chunk; }) a.chunk = way.chunk;
  const Status status = Door::call(a);
  ASSERT_TRUE(status.ok()) << status.message();
}

template <typename Door, typename T>
void forms_agree(const typename Door::Shape& shape, std::uint64_t seed, const std::vector<Way>& ways) {
  typename Door::template Tensors<T> inputs(shape, seed);
  typename Door::template Tensors<double> exact(shape, seed);
  convert_inputs(inputs, exact);
  must_run<Door>(exact.arguments(), {Form::reference});
  for (const Way& way : ways) {
    typename Door::template Tensors<T> got(shape, seed);
    must_run<Door>(got.arguments(), way);
    EXPECT_LE(relative_difference(got.y.view(), exact.y.view()), tolerance<T>()) << way << " T " << shape.T << " seed " << seed;
    EXPECT_LE(relative_difference(got.final_state.view(), exact.final_state.view()), tolerance<T>())
        << way << " T " << shape.T << " seed " << seed;
    EXPECT_TRUE(got.y.guards_intact() && got.final_state.guards_intact()) << way;
  }
}

// Tokens [begin, end) with the state before them, leaving the state after them.
template <typename Door, typename Arguments, typename Before, typename After>
Arguments tokens_of(Arguments a, std::int64_t begin, std::int64_t end, const Before& before, const After& after) {
  Door::each_token_view(a, [&](auto& view) { view = part(view, 1, begin, end); });
  a.state = before;
  a.final_state = after;
  return a;
}

template <typename Door, typename T>
void split_equals_whole(const typename Door::Shape& shape, std::uint64_t seed, std::int64_t split, bool to_the_bit = true) {
  typename Door::template Tensors<T> whole(shape, seed), parts(shape, seed), carried(shape, seed);
  must_run<Door>(whole.arguments());
  const auto state = parts.arguments().state;
  must_run<Door>(tokens_of<Door>(parts.arguments(), 0, split, state, carried.final_state.view()));
  must_run<Door>(tokens_of<Door>(parts.arguments(), split, shape.T, carried.final_state.view(), parts.final_state.view()));
  if (to_the_bit || split == 0 || split == shape.T) {
    EXPECT_TRUE(parts.y.same_bits(whole.y) && parts.final_state.same_bits(whole.final_state)) << "split " << split << " seed " << seed;
  }
  EXPECT_LE(relative_difference(parts.y.view(), whole.y.view()), tolerance<T>()) << "split " << split << " seed " << seed;
  EXPECT_LE(relative_difference(parts.final_state.view(), whole.final_state.view()), tolerance<T>()) << "split " << split << " seed " << seed;
}

template <typename Door, typename T>
void packed_equals_alone(const typename Door::Shape& shape, std::uint64_t seed, const std::vector<std::int64_t>& offsets, const Way& way) {
  typename Door::template Tensors<T> packed(shape, seed), alone(shape, seed);
  must_run<Door>(packed.packed(offsets), way);
  const auto whole = alone.arguments();
  for (std::int64_t n = 0; n + 1 < static_cast<std::int64_t>(offsets.size()); ++n) {
    const auto one =
        tokens_of<Door>(whole, offsets[n], offsets[n + 1], part(whole.state, 0, n, n + 1), part(whole.final_state, 0, n, n + 1));
    must_run<Door>(one, way);
    EXPECT_TRUE(same_values(one.y, part(packed.y.view(), 1, offsets[n], offsets[n + 1]))) << way << " sequence " << n << " seed " << seed;
  }
  EXPECT_TRUE(packed.final_state.same_bits(alone.final_state)) << way << " seed " << seed;
}

template <typename Door, typename T>
void batch_equals_alone(const typename Door::Shape& shape, std::uint64_t seed) {
  for (const Way& way : ways_of<Door>(2)) {
    typename Door::template Tensors<T> batch(shape, seed), rows(shape, seed);
    must_run<Door>(batch.arguments(), way);
    for (std::int64_t b = 0; b < shape.B; ++b) {
      auto one = rows.arguments();
      Door::each_token_view(one, [&](auto& view) { view = part(view, 0, b, b + 1); });
      one.state = part(one.state, 0, b, b + 1);
      one.final_state = part(one.final_state, 0, b, b + 1);
      must_run<Door>(one, way);
    }
    EXPECT_TRUE(rows.y.same_bits(batch.y) && rows.final_state.same_bits(batch.final_state)) << way;
  }
}

// NaN in one packed sequence, its own state included, stays there.
template <typename Door, typename T>
void nan_stays_in_its_sequence(const typename Door::Shape& shape, const std::vector<std::int64_t>& offsets, std::int64_t sick) {
  for (const Way& way : ways_of<Door>(shape.T)) {
    typename Door::template Tensors<T> clean(shape, 41), spoiled(shape, 41);
    must_run<Door>(clean.packed(offsets), way);
    auto a = spoiled.packed(offsets);
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const auto spoil = [&]<typename U, int N>(const View<U, N>& view, int axis, std::int64_t begin, std::int64_t end) {
      const View<U, N> sequence = part(view, axis, begin, end);
      each_index<N>(sequence.extents(), [&](const Extents<N>& at) { const_cast<T&>(sequence[at]) = nan; });
    };
    Door::each_token_view(a, [&](auto& view) { spoil(view, 1, offsets[sick], offsets[sick + 1]); });
    spoil(a.state, 0, sick, sick + 1);
    must_run<Door>(a, way);
    for (std::int64_t n = 0; n + 1 < static_cast<std::int64_t>(offsets.size()); ++n) {
      if (n == sick) continue;
      EXPECT_TRUE(same_values(part(a.y, 1, offsets[n], offsets[n + 1]), part(clean.y.view(), 1, offsets[n], offsets[n + 1])))
          << way << " " << n;
      EXPECT_TRUE(same_values(part(a.final_state, 0, n, n + 1), part(clean.final_state.view(), 0, n, n + 1))) << way << " " << n;
    }
  }
}

template <typename Door, typename T>
void strides_change_nothing(const typename Door::Shape& shape) {
  for (const Way& way : ways_of<Door>(2)) {
    typename Door::template Tensors<T> tensors(shape, 42);
    must_run<Door>(tensors.arguments(), way);
    auto a = tensors.arguments();
    std::list<std::vector<T>> owners;
    Door::each_input(a, [&]<int N>(View<const T, N>& view) {
      const View<T, N> room = spread_room<T>(view, owners);
      convert(view, room);
      view = room;
    });
    a.y = spread_room<T>(a.y, owners);
    a.final_state = spread_room<T>(a.final_state, owners);
    must_run<Door>(a, way);
    EXPECT_TRUE(same_values(a.y, tensors.y.view()) && same_values(a.final_state, tensors.final_state.view())) << way;
  }
}

template <typename Door, typename T>
void state_may_be_updated_in_place(const typename Door::Shape& shape) {
  for (const Way& way : ways_of<Door>(2)) {
    typename Door::template Tensors<T> apart(shape, 43), in_place(shape, 43);
    must_run<Door>(apart.arguments(), way);
    auto a = in_place.arguments();
    a.final_state = in_place.state.view();
    must_run<Door>(a, way);
    EXPECT_TRUE(in_place.state.same_bits(apart.final_state) && in_place.y.same_bits(apart.y)) << way;
  }
}

}  // namespace linearmem::test
