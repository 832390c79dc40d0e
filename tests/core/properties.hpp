// Properties that hold for any mechanism over sequences, checked on random shapes through the registry: the axes of its declared inputs
// say how to cut, join and batch them. A case is a few sequences, each a batch of one with its own length, that share every other size.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/support.hpp"
#include "foundation/shape_check.hpp"
#include "linearmem/mechanisms.hpp"

namespace linearmem::test {

inline std::int64_t axis_of(const char* axes, const std::string& letter) {
  const std::vector<std::string> letters = axis_letters(axes);
  for (std::size_t axis = 0; axis < letters.size(); ++axis)
    if (letters[axis] == letter) return static_cast<std::int64_t>(axis);
  return -1;
}

// An input that belongs to no sequence: weights, which all of them share.
inline bool is_shared(const InputSpec& input) {
  const std::string first = axis_letters(input.axes)[0];
  return first != "B" && first != "N" && first != "Seq";
}

inline bool is_shared(const Mechanism& mechanism, const std::string& name) {
  return std::any_of(mechanism.inputs.begin(), mechanism.inputs.end(),
                     [&](const InputSpec& input) { return input.name == name && is_shared(input); });
}

// Along which axis an input or output of a batch of one is a sequence's own. Outputs are not declared with axes: the states come one per
// sequence, everything else one row per token.
inline std::int64_t sequence_axis(const Mechanism& mechanism, const std::string& name) {
  for (const InputSpec& input : mechanism.inputs)
    if (input.name == name && axis_of(input.axes, "T") >= 0) return axis_of(input.axes, "T");
  return name == "state" || name == "z" ? 0 : 1;
}

inline std::int64_t bytes_below(const NamedTensor& tensor, std::int64_t axis) {
  std::int64_t bytes = dtype_bytes(tensor.dtype);
  for (std::size_t at = static_cast<std::size_t>(axis) + 1; at < tensor.shape.size(); ++at) bytes *= tensor.shape[at];
  return bytes;
}

// Entries [begin, end) along an axis before which every axis is 1.
inline NamedTensor cut(const NamedTensor& tensor, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  NamedTensor part = tensor;
  const std::int64_t step = bytes_below(tensor, axis);
  part.shape[static_cast<std::size_t>(axis)] = end - begin;
  part.bytes.assign(tensor.bytes.begin() + begin * step, tensor.bytes.begin() + end * step);
  return part;
}

inline void append(NamedTensor& to, const NamedTensor& tensor, std::int64_t axis) {
  to.shape[static_cast<std::size_t>(axis)] += tensor.shape[static_cast<std::size_t>(axis)];
  to.bytes.insert(to.bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
}

inline NamedTensors cut_tokens(const Mechanism& mechanism, const NamedTensors& inputs, std::int64_t begin, std::int64_t end) {
  NamedTensors part = inputs;
  for (const InputSpec& input : mechanism.inputs)
    if (part.count(input.name) && axis_of(input.axes, "T") >= 0)
      part[input.name] = cut(inputs.at(input.name), axis_of(input.axes, "T"), begin, end);
  return part;
}

// One after the other: along T and N (packed), or along B and N (a batch).
inline NamedTensors joined(const Mechanism& mechanism, const std::vector<NamedTensors>& sequences, bool packed) {
  NamedTensors all;
  std::vector<std::int64_t> bounds = {0};
  for (const NamedTensors& sequence : sequences) {
    bounds.push_back(bounds.back() + sequence.at(mechanism.inputs[0].name).shape[1]);
    for (const auto& [name, tensor] : sequence) {
      const auto [entry, added] = all.emplace(name, tensor);
      if (!added && !is_shared(mechanism, name)) append(entry->second, tensor, packed ? sequence_axis(mechanism, name) : 0);
    }
  }
  if (packed) all["cu_seqlens"] = to_named(bounds, {static_cast<std::int64_t>(bounds.size())});
  return all;
}

struct RandomCase {
  const Mechanism* mechanism;
  std::vector<NamedTensors> sequences;
  RunSettings settings;  // a precision, a form, with a chunk size where it has one, and options
};

inline NamedTensors run_case(const RandomCase& c, const NamedTensors& inputs) {
  const auto outputs = run_mechanism(c.mechanism->name, inputs, c.settings);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? outputs.value() : NamedTensors{};
}

inline bool same_bits(const NamedTensors& a, const NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a)
    if (!b.count(name) || b.at(name).shape != tensor.shape || b.at(name).bytes != tensor.bytes) return false;
  return true;
}

// The outputs of sequence `at`, out of a packed or batched run of the case's sequences in `order`.
inline NamedTensors outputs_of(const RandomCase& c, const NamedTensors& all, const std::vector<std::size_t>& order, std::size_t at,
                               bool packed) {
  NamedTensors part;
  for (const auto& [name, tensor] : all) {
    const std::int64_t axis = packed ? sequence_axis(*c.mechanism, name) : 0;
    std::int64_t begin = 0;
    for (std::size_t before = 0; before <= at; ++before) {
      const std::int64_t length = packed && axis == 1 ? c.sequences[order[before]].at(c.mechanism->inputs[0].name).shape[1] : 1;
      if (before == at) part.emplace(name, cut(tensor, axis, begin, begin + length));
      begin += length;
    }
  }
  return part;
}

inline double worst_difference(const NamedTensors& got, const NamedTensors& expected) {
  double worst = got.size() == expected.size() ? 0 : std::nan("");
  for (const auto& [name, tensor] : expected) {
    const auto have = floating_values<double>(name, got.at(name)), want = floating_values<double>(name, tensor);
    if (have.value().size() != want.value().size()) return std::nan("");
    const Extents<1> count = {static_cast<std::int64_t>(want.value().size())};
    const double difference =
        relative_difference(View<const double, 1>(have.value().data(), count), View<const double, 1>(want.value().data(), count));
    if (!std::isnan(worst) && !(difference <= worst)) worst = difference;
  }
  return worst;
}

// Every number of a sequence NaN; booleans, which may hide a token, stay, and so do the weights it shares with others.
inline NamedTensors all_nan(const Mechanism& mechanism, const NamedTensors& inputs) {
  NamedTensors garbage = inputs;
  for (auto& [name, tensor] : garbage)
    if (is_floating(tensor.dtype) && !is_shared(mechanism, name)) tensor.bytes.assign(tensor.bytes.size(), std::byte{0xff});  // all bits set is a NaN of any width
  return garbage;
}

inline NamedTensors narrowed(const NamedTensors& inputs) {
  NamedTensors narrow = inputs;
  for (auto& [name, tensor] : narrow)
    if (tensor.dtype == DType::f64) tensor = to_named(floating_values<float>(name, tensor).value(), tensor.shape);
  return narrow;
}

// The properties; `c` has at least two sequences.

inline void expect_forms_agree(RandomCase c) {
  const NamedTensors all = joined(*c.mechanism, c.sequences, true), narrow = narrowed(all);
  const Form chosen = c.settings.form;
  const std::int64_t chunk = c.settings.chunk;
  const Backend* backend = c.settings.backend;
  c.settings.backend = nullptr;
  c.settings.form = Form::reference;
  c.settings.chunk = 0;
  c.settings.dtype = DType::f64;
  const NamedTensors exact = run_case(c, all), exact_of_narrow = run_case(c, narrow);  // the same numbers as the float32 run has
  c.settings.backend = backend;
  for (Form form : c.mechanism->forms) {
    if (backend && form != chosen) continue;
    c.settings.form = form;
    c.settings.chunk = form == Form::chunked && form == chosen ? chunk : 0;
    c.settings.dtype = DType::f64;
    if (!backend) {
      EXPECT_LE(worst_difference(run_case(c, all), exact), tolerance<double>()) << form_name(form) << " f64";
    }
    c.settings.dtype = DType::f32;
    EXPECT_LE(worst_difference(run_case(c, narrow), exact_of_narrow), tolerance<float>()) << form_name(form) << " f32";
  }
}

// Within a call the recurrent form keeps decays that are the same for all of a key outside the state (foundation/carried_decay.hpp).
inline bool carries_decays(const RandomCase& c) {
  const NamedTensors& tensors = c.sequences[0];
  const bool one_key = tensors.count("g_key") && tensors.at("g_key").shape.back() == 1;
  return c.settings.form == Form::recurrent && (tensors.count("g") || one_key || std::string_view(c.mechanism->name) == "ssd");
}

// The first sequence, cut at `at`, its state carried; a mechanism without a state sees only the first part. Bit for bit in the forms
// that go token by token and hand the state over as they hold it, which the reference does in float64 only; where nothing is cut, in all.
inline void expect_split_equals_whole(RandomCase c, std::int64_t at) {
  const NamedTensors& sequence = c.sequences[0];
  const std::int64_t T = sequence.at(c.mechanism->inputs[0].name).shape[1];
  const NamedTensors whole = run_case(c, sequence), first = run_case(c, cut_tokens(*c.mechanism, sequence, 0, at));
  NamedTensors parts = first;
  if (first.count("state")) {
    NamedTensors rest = cut_tokens(*c.mechanism, sequence, at, T);
    for (const char* name : {"state", "z"})
      if (first.count(name)) rest[name] = first.at(name);
    const NamedTensors second = run_case(c, rest);
    for (auto& [name, tensor] : parts) {
      if (sequence_axis(*c.mechanism, name) == 1) append(tensor, second.at(name), 1);
      else tensor = second.at(name);
    }
  } else {
    EXPECT_TRUE(same_bits(first, {{"o", cut(whole.at("o"), 1, 0, at)}})) << form_name(c.settings.form) << " prefix " << at << " of " << T;
    return;
  }
  const bool narrow = c.settings.dtype == DType::f32;
  const bool token_by_token = c.settings.form == Form::recurrent || (c.settings.form == Form::reference && !narrow);
  if ((token_by_token && !carries_decays(c)) || at == 0 || at == T) {
    EXPECT_TRUE(same_bits(parts, whole)) << form_name(c.settings.form) << " split " << at << " of " << T;
  }
  EXPECT_LE(worst_difference(parts, whole), narrow ? tolerance<float>() : tolerance<double>())
      << " split " << at << " of " << T;
}

// Each sequence alone, in a batch where all are as long as the shortest, packed in order and in reverse: the same bits. A sequence of NaN
// between them changes nothing.
inline void expect_company_changes_nothing(const RandomCase& given) {
  RandomCase c = given;
  std::vector<std::size_t> order, reversed;
  std::int64_t shortest = c.sequences[0].at(c.mechanism->inputs[0].name).shape[1];
  for (std::size_t n = 0; n < c.sequences.size(); ++n) {
    order.push_back(n);
    reversed.insert(reversed.begin(), n);
    shortest = std::min(shortest, c.sequences[n].at(c.mechanism->inputs[0].name).shape[1]);
  }
  const auto in_order = [&](const std::vector<std::size_t>& wanted) {
    std::vector<NamedTensors> list;
    for (std::size_t n : wanted) list.push_back(c.sequences[n]);
    return list;
  };
  const auto expect_each_alone = [&](const std::vector<std::size_t>& places, bool packed, const char* what) {
    const NamedTensors all = run_case(c, joined(*c.mechanism, in_order(places), packed));
    for (std::size_t at = 0; at < places.size(); ++at) {
      if (places[at] == c.sequences.size() - 1) continue;  // the last one is garbage
      EXPECT_TRUE(same_bits(outputs_of(c, all, places, at, packed), run_case(c, c.sequences[places[at]])))
          << what << ", sequence " << places[at] << ", " << form_name(c.settings.form);
    }
  };
  c.sequences.push_back(all_nan(*c.mechanism, c.sequences.front()));
  order.insert(order.begin() + 1, c.sequences.size() - 1);
  reversed.push_back(c.sequences.size() - 1);
  expect_each_alone(order, true, "packed");
  expect_each_alone(reversed, true, "packed in reverse");
  for (NamedTensors& sequence : c.sequences) sequence = cut_tokens(*c.mechanism, sequence, 0, shortest);
  expect_each_alone(order, false, "batched");
}

// Makes a case out of a seed.
using CaseMaker = RandomCase (*)(const Mechanism& mechanism, Numbers& numbers);

// For each mechanism and property; fewer where the tests themselves run slowly, on the first of the same shapes.
#if defined(__wasm__) || defined(__SANITIZE_ADDRESS__)
constexpr int kShapes = 400;
#else
constexpr int kShapes = 2000;
#endif
constexpr int kBackendShapes = 400;  // an emulated device takes its time

// Backends that take the cases in turn, each in its one precision and form; none: this processor, in all of them.
inline std::vector<const Backend*>& property_backends() {
  static std::vector<const Backend*> backends;
  return backends;
}

inline void run_on_backend(RandomCase& c, int seed) {
  const std::vector<const Backend*>& backends = property_backends();
  if (backends.empty()) return;
  c.settings.backend = backends[static_cast<std::size_t>(seed) % backends.size()];
  c.settings.dtype = DType::f32;
  c.settings.form = std::count(c.mechanism->forms.begin(), c.mechanism->forms.end(), Form::recurrent) > 0 ? Form::recurrent : Form::streaming;
  c.settings.chunk = 0;
}

inline void for_each_case(const char* name, CaseMaker make, void (*check)(const RandomCase&, Numbers&)) {
  const auto mechanism = find_mechanism(name);
  ASSERT_TRUE(mechanism.ok()) << mechanism.status().message();
  const int shapes = property_backends().empty() ? kShapes : kBackendShapes;
  for (int seed = 0; seed < shapes && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
    Numbers numbers(static_cast<std::uint64_t>(seed));
    RandomCase c = make(*mechanism.value(), numbers);
    run_on_backend(c, seed);
    check(c, numbers);
  }
}

// Sizes at the edges often: lengths 0 and 1, widths of 1, one head; now and then a length past the 64 tokens of a block.
inline std::int64_t edgy(Numbers& numbers, std::int64_t low, std::int64_t high) {
  return numbers.whole(0, 2) == 0 ? numbers.whole(low, low + 1) : numbers.whole(low, high);
}
inline std::int64_t random_length(Numbers& numbers) { return numbers.whole(0, 40) == 0 ? numbers.whole(60, 140) : edgy(numbers, 0, 18); }

inline NamedTensor random_tensor(Numbers& numbers, std::vector<std::int64_t> shape, double low, double high) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = numbers.uniform(low, high);
  return to_named(values, std::move(shape));
}

inline void random_form(RandomCase& c, Numbers& numbers) {
  if (numbers.whole(0, 1) == 0) c.settings.dtype = DType::f32;
  const std::int64_t form = numbers.whole(-1, static_cast<std::int64_t>(c.mechanism->forms.size()) - 1);
  c.settings.form = form < 0 ? Form::automatic : c.mechanism->forms[static_cast<std::size_t>(form)];
  if (c.settings.form == Form::chunked) c.settings.chunk = numbers.whole(1, 20);
}

// What every CaseMaker's tests are.
inline void check_forms(const RandomCase& c, Numbers&) { expect_forms_agree(c); }
inline void check_split(const RandomCase& c, Numbers& numbers) {
  expect_split_equals_whole(c, numbers.whole(0, c.sequences[0].at(c.mechanism->inputs[0].name).shape[1]));
}
inline void check_company(const RandomCase& c, Numbers&) { expect_company_changes_nothing(c); }

}  // namespace linearmem::test
