// LM03-LM07, LM13, LM14, LM20, LM22, LM24: two ways to the same sum, and what it is not.
#include <algorithm>
#include <cmath>
#include <limits>

#include "claims/checks.hpp"
#include "claims/lists.hpp"
#include "claims/memories.hpp"
#include "mechanisms/declarations.hpp"

namespace linearmem {
namespace {

LinearSettings by(Form form) { return {.form = form}; }

std::vector<Check> two_forms(const Mistakes& mistakes) {
  const NotesInputs in = notes_inputs();
  const Matrix explicit_sum = linear_memory(in, by(Form::explicit_)).o, recurrent = linear_memory(in, by(Form::recurrent), mistakes).o;
  return {residual_check("max |explicit - recurrent|", largest_difference(explicit_sum, recurrent), 1e-12)};
}

std::vector<Check> other_operator(const Mistakes& mistakes) {
  const NotesInputs in = notes_inputs();
  const double gap = largest_difference(linear_memory(in, by(Form::recurrent), mistakes).o, softmax_memory(in));
  return {value_check("max |linear - softmax|", 0.92144279053506, gap, 1e-12)};
}

std::vector<Check> output_values(const Mistakes& mistakes) {
  const Matrix o = linear_memory(notes_inputs(), by(Form::recurrent), mistakes).o;
  const double row0[] = {-0.5793013823065131, -0.19619590026124073, 0.8987635397834051};
  const double row1[] = {0.32426122155186393, -0.7868605387163932, 0.011504930759062667};
  const auto [low, high] = std::minmax_element(o.values().begin(), o.values().end());
  std::vector<Check> checks = {value_check("smallest output", -1.088998885679583, *low, 1e-12), value_check("largest output", 0.8987635397834051, *high, 1e-12)};
  for (std::int64_t j = 0; j < 3; ++j) checks.push_back(value_check("o[0][" + std::to_string(j) + "]", row0[j], o(0, j), 1e-12));
  for (std::int64_t j = 0; j < 3; ++j) checks.push_back(value_check("o[1][" + std::to_string(j) + "]", row1[j], o(1, j), 1e-12));
  return checks;
}

void add_shape(std::vector<Check>& checks, const NamedTensors& outputs, const char* name, const std::vector<std::int64_t>& expected) {
  const auto found = outputs.find(name);
  const auto axes = found == outputs.end() ? 0 : static_cast<double>(found->second.shape.size());
  checks.push_back(exact_check(std::string("axes of ") + name, static_cast<double>(expected.size()), axes));
  for (std::size_t axis = 0; axis < expected.size() && axis < axes; ++axis)
    checks.push_back(exact_check(std::string(name) + " axis " + std::to_string(axis), static_cast<double>(expected[axis]), static_cast<double>(found->second.shape[axis])));
}

// The mechanism decides the shapes here, so they are asked of the one entry where it allocates its outputs.
std::vector<Check> shapes(const Mistakes&) {
  const NotesInputs in = notes_inputs();
  const NamedTensors inputs = {{"q", to_named(in.q.values(), {1, 8, 1, 4})}, {"k", to_named(in.k.values(), {1, 8, 1, 4})}, {"v", to_named(in.v.values(), {1, 8, 1, 3})}};
  const auto outputs = run_mechanism(declare_linear_attention(), inputs, {});
  const NamedTensors none;
  std::vector<Check> checks;
  add_shape(checks, outputs.ok() ? outputs.value() : none, "o", {1, 8, 1, 3});
  add_shape(checks, outputs.ok() ? outputs.value() : none, "state", {1, 1, 4, 3});
  add_shape(checks, outputs.ok() ? outputs.value() : none, "z", {1, 1, 4});
  return checks;
}

NotesInputs with_last_value_moved(double by_amount) {
  NotesInputs in = notes_inputs();
  for (std::int64_t j = 0; j < 3; ++j) in.v(7, j) += by_amount;
  return in;
}

std::vector<Check> causal(const Mistakes& mistakes) {
  const Matrix before = linear_memory(notes_inputs(), by(Form::recurrent), mistakes).o;
  const Matrix after = linear_memory(with_last_value_moved(100), by(Form::recurrent), mistakes).o;
  const double last = largest_difference(slice(before, 7, 8), slice(after, 7, 8));
  return {exact_check("outputs 0..6 move by", 0, largest_difference(slice(before, 0, 7), slice(after, 0, 7))),
          stated_check("output 7 moves by", "> 1", last, last > 1)};
}

std::vector<Check> not_causal(const Mistakes&) {
  const LinearSettings all{.causal = false};
  const double moved = largest_difference(slice(linear_memory(notes_inputs(), all).o, 0, 1), slice(linear_memory(with_last_value_moved(100), all).o, 0, 1));
  return {stated_check("output 0 moves by", "> 0", moved, moved > 0)};
}

std::vector<Check> float32(const Mistakes&) {
  const NotesInputs in = notes_inputs();
  const double gap = largest_difference(linear_memory_float32(in, Form::explicit_), linear_memory_float32(in, Form::recurrent));
  const double exact = largest_difference(linear_memory_float32(in, Form::recurrent), linear_memory(in, by(Form::reference)).o);
  return {stated_check("max |explicit - recurrent| in float32", "> 0 and < 1e-5", gap, gap > 0 && gap < 1e-5),
          stated_check("max |float32 - float64|", "> 0 and < 1e-5", exact, exact > 0 && exact < 1e-5)};
}

std::vector<Check> read_first(const Mistakes&) {
  const NotesInputs in = notes_inputs();
  const Matrix late = linear_memory_read_first(in, 1e-6).o;
  const double row0 = largest_difference(slice(late, 0, 1), Matrix({1, 3}));
  const double gap = largest_difference(late, linear_memory(in, by(Form::explicit_)).o);
  return {exact_check("largest |o[0]|", 0, row0), stated_check("max |read first - explicit|", "> 0.1", gap, gap > 0.1)};
}

// Values of 1 read back the sum of the weights.
std::vector<Check> weight_sum(const Mistakes& mistakes) {
  constexpr double kEps = 0.5;  // large, so that the sum is visibly below 1
  NotesInputs in = notes_inputs();
  in.v = Matrix({8, 3}, 1.0);
  const LinearMemory memory = linear_memory(in, {.eps = kEps}, mistakes);
  double gap = 0, largest = 0;
  std::vector<double> z(4);
  for (std::int64_t t = 0; t < 8; ++t) {
    double d = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
      z[i] += in.k(t, i) > 0 ? in.k(t, i) + 1 : std::exp(in.k(t, i));
      d += (in.q(t, i) > 0 ? in.q(t, i) + 1 : std::exp(in.q(t, i))) * z[i];
    }
    gap = worse(gap, std::abs(memory.o(t, 0) - d / (d + kEps)));
    largest = worse(largest, memory.o(t, 0));
  }
  return {residual_check("sum of the weights - d / (d + eps)", gap, 1e-12), stated_check("largest sum", "< 1", largest, largest < 1)};
}

std::vector<Check> padding(const Mistakes& mistakes) {
  const NotesInputs in = notes_inputs();
  const LinearSettings all{.causal = false};
  NotesInputs padded{Matrix({11, 4}), Matrix({11, 4}), Matrix({11, 3})};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  LinearSettings masked = all;
  for (std::int64_t t = 0; t < 11; ++t) {
    const bool real = t < 8;
    masked.key_mask.push_back(real);
    for (std::int64_t i = 0; i < 4; ++i) padded.q(t, i) = real ? in.q(t, i) : 0, padded.k(t, i) = real ? in.k(t, i) : nan;
    for (std::int64_t j = 0; j < 3; ++j) padded.v(t, j) = real ? in.v(t, j) : nan;
  }
  const Matrix alone = linear_memory(in, all, mistakes).o, with_padding = slice(linear_memory(padded, masked).o, 0, 8);
  return {residual_check("max |padded - alone|, NaN in the padding", largest_difference(with_padding, alone), 1e-12)};
}

constexpr const char* kKatharopoulos = "Katharopoulos, Vyas, Pappas and Fleuret 2020, Transformers are RNNs";
constexpr const char* kVaswani = "Vaswani et al. 2017, Attention Is All You Need";
constexpr const char* kInputs = "rng = default_rng(7); q = rng.normal(size=(8,4)); k = rng.normal(size=(8,4)); v = rng.normal(size=(8,3))";

}  // namespace

void add_linear_attention_claims(std::vector<Claim>& list) {
  using M = Mistake;
  const auto add = [&](const char* id, const char* statement, const char* source, std::vector<Mistake> mistakes, std::vector<Check> (*run)(const Mistakes&)) {
    list.push_back({id, "linear_attention", statement, source, kInputs, std::move(mistakes), run});
  };
  add("LM03", "Explicit and recurrent linear attention are the same sum.", kKatharopoulos, {M::read_before_write, M::single_precision, M::no_causal_mask}, two_forms);
  add("LM04", "Linear attention and scaled softmax attention are different operators on the same q, k, v.", kVaswani,
      {M::read_before_write, M::single_precision, M::no_causal_mask}, other_operator);
  add("LM05", "The outputs of linear attention (elu+1, eps 1e-6) on the notes' inputs.", kKatharopoulos,
      {M::read_before_write, M::single_precision, M::no_causal_mask}, output_values);
  add("LM06", "Output [8,3], state [4,3], normalizer [4].", kKatharopoulos, {}, shapes);
  add("LM07", "Adding 100 to the last value leaves every earlier output as it was.", kKatharopoulos, {M::read_before_write, M::no_causal_mask}, causal);
  add("LM13", "In float32 the two forms agree to rounding, and no better.", kKatharopoulos, {}, float32);
  add("LM14", "Reading before writing: the first output is 0 and the result is no longer linear attention.", kKatharopoulos, {}, read_first);
  add("LM20", "With eps the weights of the normalized kernel sum to d / (d + eps), not to 1.", kKatharopoulos, {M::read_before_write, M::single_precision, M::no_causal_mask}, weight_sum);
  add("LM22", "With all keys, future ones too, in one state, the first output depends on the last value.", kKatharopoulos, {}, not_causal);
  add("LM24", "Padding left out by selection changes nothing, whatever it holds.", kKatharopoulos, {M::read_before_write, M::single_precision}, padding);
}

}  // namespace linearmem
