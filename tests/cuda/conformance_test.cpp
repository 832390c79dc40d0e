// Every conformance case of the mechanisms that the backend computes, in float32, with threads and blocks in each order.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>

#include "core/properties.hpp"
#include "cuda/backends.hpp"
#include "safetensors.hpp"

namespace linearmem {
namespace {

const std::filesystem::path kData = LINEARMEM_CONFORMANCE;

struct Case {
  NamedTensors inputs, expected;
  RunSettings settings;
};

Case case_of(const nlohmann::json& entry) {
  const std::string name = entry["name"];
  const auto in = read_safetensors(kData / (name + ".in.safetensors")), out = read_safetensors(kData / (name + ".out.safetensors"));
  EXPECT_TRUE(in.ok() && out.ok()) << in.status().message() << out.status().message();
  Case made{in.value(), out.value(), {.dtype = DType::f32}};
  for (const auto& [key, value] : entry["options"].items())
    made.settings.options[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return made;
}

TEST(CudaConformance, EveryCaseInEveryOrder) {
  std::ifstream manifest(kData / "manifest.json");
  std::set<std::string> met;
  ASSERT_FALSE(test::backends().empty());
  for (const auto& entry : nlohmann::json::parse(manifest)) {
    const std::string mechanism = entry["mechanism"];
    if (!test::backends()[0].backend->computes(mechanism)) continue;
    SCOPED_TRACE(entry["name"].get<std::string>());
    met.insert(mechanism);
    Case c = case_of(entry);
    NamedTensors first;
    for (const test::NamedBackend& named : test::backends()) {
      c.settings.backend = named.backend;
      const auto got = run_mechanism(mechanism, c.inputs, c.settings);
      ASSERT_TRUE(got.ok()) << got.status().message();
      EXPECT_LE(test::worst_difference(got.value(), c.expected), 1e-5) << named.name;
      if (first.empty()) first = got.value();
      EXPECT_TRUE(test::same_bits(first, got.value())) << named.name;
    }
  }
  EXPECT_EQ(met.size(), 8u);
}

}  // namespace
}  // namespace linearmem
