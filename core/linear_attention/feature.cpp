#include "linearmem/linear_attention.hpp"

namespace linearmem {
namespace {

struct FeatureName {
  Feature feature;
  std::string_view name;
};

constexpr FeatureName kFeatureNames[] = {{Feature::elu1, "elu1"}, {Feature::relu, "relu"}, {Feature::identity, "identity"}};

}  // namespace

std::string_view feature_name(Feature feature) {
  for (const FeatureName& entry : kFeatureNames)
    if (entry.feature == feature) return entry.name;
  return "unknown";
}

std::optional<Feature> feature_named(std::string_view name) {
  for (const FeatureName& entry : kFeatureNames)
    if (entry.name == name) return entry.feature;
  return std::nullopt;
}

}  // namespace linearmem
