#include "linearmem/knn_identity.hpp"

#include <algorithm>

namespace linearmem {
namespace {

constexpr std::int64_t kWidest = 65536;
constexpr std::size_t kLongest = 1024;

Status refuse(const std::string& store, const std::string& sentence) { return Status::invalid(store + ": " + sentence); }

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

Status check_text(const std::string& store, const char* field, const std::string& text) {
  if (text.empty()) return refuse(store, std::string(field) + " is empty; it says what the records belong to");
  if (text.size() > kLongest)
    return refuse(store, std::string(field) + " has " + std::to_string(text.size()) + " bytes, at most " + std::to_string(kLongest) + " are kept");
  const bool plain =
      std::none_of(text.begin(), text.end(), [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; });
  return plain ? Status() : refuse(store, std::string(field) + " holds a control character");
}

template <typename T, typename Text>
Status check_field(const std::string& store, const char* field, const T& has, const std::optional<T>& expected, Text text) {
  if (!expected || *expected == has) return {};
  return refuse(store, std::string(field) + " differs: the store has " + text(has) + ", " + text(*expected) + " is expected");
}

}  // namespace

KnnExpectation expect_all(const KnnIdentity& identity) {
  return {.model = identity.model,
          .model_version = identity.model_version,
          .tokenizer = identity.tokenizer,
          .dimension = identity.dimension,
          .metric = identity.metric,
          .domain = identity.domain};
}

Status check_identity(const std::string& store, const KnnIdentity& identity) {
  for (const auto& [field, text] : {std::pair("model", &identity.model), std::pair("model_version", &identity.model_version),
                                    std::pair("tokenizer", &identity.tokenizer), std::pair("domain", &identity.domain)})
    if (Status status = check_text(store, field, *text); !status.ok()) return status;
  if (identity.dimension < 1 || identity.dimension > kWidest)
    return refuse(store, "dimension is " + std::to_string(identity.dimension) + ", must be from 1 to " + std::to_string(kWidest));
  return {};
}

Status check_expectation(const std::string& store, const KnnIdentity& identity, const KnnExpectation& expected) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const auto metric = [](Metric value) { return std::string(metric_name(value)); };
  for (const Status& status : {check_field(store, "model", identity.model, expected.model, quoted),
                               check_field(store, "model_version", identity.model_version, expected.model_version, quoted),
                               check_field(store, "tokenizer", identity.tokenizer, expected.tokenizer, quoted),
                               check_field(store, "dimension", identity.dimension, expected.dimension, number),
                               check_field(store, "metric", identity.metric, expected.metric, metric),
                               check_field(store, "domain", identity.domain, expected.domain, quoted)})
    if (!status.ok()) return status;
  return {};
}

}  // namespace linearmem
