// Every mechanism on one executor and on none: the same bits, in every form, packed and batched, with a single head too.
#pragma once

#include <gtest/gtest.h>

#include "core/drawn_inputs.hpp"
#include "linearmem/executor.hpp"

namespace linearmem::test {

// Widths and lengths beside multiples of what parts are cut at, so that every axis that can be cut is, unevenly.
inline AxisSizes sizes_for_parts(std::int64_t heads, std::int64_t sequences, bool packed) {
  return {{"B", packed ? 1 : sequences}, {"T", 70}, {"H", heads}, {"Hk", heads}, {"Hv", heads}, {"K", 5}, {"V", 37}, {"P", 37}, {"G", 1},
          {"D", 37}, {"W", 4}, {"M", 3}, {"L", 3}, {"Ld", 1}, {"Ll", 1}, {"R", 3}, {"F", 6}};
}

struct Layout {
  std::int64_t heads, sequences;
  bool packed;
};

struct ExecutorCase {
  const Mechanism* mechanism;
  NamedTensors inputs;
  RunSettings settings;
};

inline NamedTensors run_case(const ExecutorCase& c, const Executor* executor) {
  RunSettings settings = c.settings;
  settings.executor = executor;
  const auto outputs = run_mechanism(c.mechanism->name, c.inputs, settings);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? outputs.value() : NamedTensors{};
}

inline ExecutorCase executor_case(const Mechanism& mechanism, const Layout& layout, const char* gate = "g") {
  const auto [heads, sequences, packed] = layout;
  Numbers numbers(17);
  const bool packs = mechanism.inputs.back().name == std::string("cu_seqlens");
  AxisSizes sizes = sizes_for_parts(heads, sequences, packed && packs);
  if (mechanism.room == std::string("softmax_attention")) sizes["T"] = 135;
  sizes["N"] = sizes["Seq"] = sequences;  // sequences, but where N is the size of a scan's state
  if (mechanism.name == std::string("mamba-scan") || mechanism.name == std::string("ssd")) sizes["N"] = 3;
  const bool knn = mechanism.name == std::string("knn");
  if (knn) sizes["M"] = 1500, sizes["Q"] = 70 * heads;
  ExecutorCase c{&mechanism, drawn_inputs(numbers, mechanism, sizes, gate), {}};
  if (knn) {
    std::vector<std::int64_t> tokens(1500);
    for (std::int64_t& token : tokens) token = numbers.whole(0, 36);
    c.inputs["token_ids"] = to_named(tokens, {1500});
    c.settings.options = {{"k", "9"}, {"neighbours", "true"}};
  }
  if (packed && packs) {
    std::vector<std::int64_t> bounds = {0, sizes["T"]};
    if (sequences == 3) bounds = {0, 11, 11, sizes["T"]};
    c.inputs["cu_seqlens"] = to_named(bounds, {sequences + 1});
  }
  if (packed)
    for (const OptionSpec& option : mechanism.options) {
      if (option.name == std::string("window")) c.settings.options["window"] = "30";
      if (option.name == std::string("l2norm")) c.settings.options["l2norm"] = "true";
    }
  return c;
}

// Reads of an associative memory are not shared out.
inline bool takes_executor(const Mechanism& mechanism) { return mechanism.room != std::string("associative_memory"); }

// Calls visit(case) for every mechanism that takes an executor, layout, form and precision.
template <typename Visit>
void each_executor_case(Visit visit) {
  for (const Mechanism& mechanism : mechanisms())
    for (const Layout& layout : {Layout{1, 1, false}, {1, 1, true}, {1, 3, true}, {3, 2, false}})
      for (const char* gate : {"g", "g_key"}) {
        if (!takes_executor(mechanism)) continue;
        ExecutorCase c = executor_case(mechanism, layout, gate);
        if (gate == std::string("g_key") && !c.inputs.count("g_key")) continue;
        for (Form form : mechanism.forms)
          for (DType dtype : {DType::f32, DType::f64}) {
            SCOPED_TRACE(std::string(mechanism.name) + " " + std::string(form_name(form)) + " " + std::string(dtype_name(dtype)) + ", heads " +
                         std::to_string(layout.heads) + ", sequences " + std::to_string(layout.sequences) + (layout.packed ? " packed" : ""));
            c.settings.form = form;
            c.settings.dtype = dtype;
            visit(c);
          }
      }
}

inline void expect_same_bits(const NamedTensors& got, const NamedTensors& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(got.at(name).bytes == tensor.bytes) << name;
}

}  // namespace linearmem::test
