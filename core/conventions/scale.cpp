#include <cmath>

#include "conventions/steps.hpp"
#include "mechanisms/option_text.hpp"

namespace linearmem {
namespace {

bool scale_is_an_option(const Exchange& exchange) { return exchange.mechanism.mechanism != std::string("linear-attention"); }

// The number that q is multiplied by, and our option's text where it has one.
struct Scale {
  double factor;
  std::string text;
};

Result<Scale> scale_of(const Exchange& exchange) {
  const ScaleRule rule = exchange.rules().scale;
  if (rule == ScaleRule::none || rule == ScaleRule::one) return Scale{1, "1"};
  const double standard = 1 / std::sqrt(static_cast<double>(exchange.sizes.at("K")));
  if (rule == ScaleRule::key_width) return Scale{standard, "none"};
  const auto given = option_number(exchange.settings, "scale");
  if (!given && rule == ScaleRule::given) return refuse(exchange.mechanism, "option scale is missing; it has no default");
  if (!given || (*given == 0 && rule == ScaleRule::zero_is_key_width)) return Scale{standard, "none"};
  return Scale{*given, exchange.settings.options.at("scale")};
}

Status scale_q(Exchange& exchange, double factor) {
  if (factor == 1) return {};
  NamedTensor& q = exchange.ours.at("q");
  auto scaled = mapped(door_of(exchange.mechanism) + ": q", q, computed_dtype(q.dtype, exchange.settings.dtype),
                       [factor](double x) { return x * factor; });
  if (!scaled.ok()) return scaled.status();
  q = std::move(scaled).value();
  return {};
}

// Applies a norm that ours is not; true when ours is meant.
Result<bool> norm_q_and_k(Exchange& exchange) {
  const ConversionRules& rules = exchange.rules();
  if (!rules.norm_option || !option_boolean(exchange.settings, rules.norm_option)) return false;
  if (rules.norm == QkNorm::inside_root) return true;
  const bool floor = rules.norm == QkNorm::floor;
  for (const char* name : {"q", "k"}) {
    NamedTensor& rows = exchange.ours.at(name);
    const DType dtype = computed_dtype(rows.dtype, exchange.settings.dtype);
    const std::string who = door_of(exchange.mechanism) + ": " + name;
    auto normed = floor ? normed_with_floor(who, rows, *option_number(exchange.settings, "eps"), dtype) : normed_on_mean(who, rows, 1e-6, dtype);
    if (!normed.ok()) return normed.status();
    rows = std::move(normed).value();
  }
  if (floor) return false;
  const Status status = scale_q(exchange, 1 / std::sqrt(static_cast<double>(exchange.sizes.at("K"))));
  if (!status.ok()) return status;
  return false;
}

}  // namespace

Result<RunSettings> our_settings(Exchange& exchange) {
  const ConversionRules& rules = exchange.rules();
  RunSettings ours = exchange.settings;
  ours.options.clear();
  for (const auto& [name, text] : exchange.settings.options)
    if (passes_through(exchange.mechanism, name)) ours.options[name] = text;
  for (const auto& [name, text] : rules.fixed) ours.options[name] = text;
  for (const auto& [theirs, native] : rules.passed) {
    const std::string text = option_choice(exchange.settings, theirs);
    ours.options[native] = text == "swish" ? "silu" : text;
  }
  const auto scale = scale_of(exchange);
  if (!scale.ok()) return scale.status();
  if (rules.scale != ScaleRule::none) {
    if (scale_is_an_option(exchange)) ours.options["scale"] = scale.value().text;
    else if (Status status = scale_q(exchange, scale.value().factor); !status.ok()) return status;
  }
  const auto native_norm = norm_q_and_k(exchange);
  if (!native_norm.ok()) return native_norm.status();
  if (native_norm.value()) ours.options["l2norm"] = "true";
  return ours;
}

Status undo_scale(Exchange& exchange) {
  const auto q = exchange.ours.find("q");
  if (exchange.rules().scale == ScaleRule::none || scale_is_an_option(exchange) || q == exchange.ours.end() || q->second.shape.empty()) return {};
  if (Status status = exchange.sizes.define("K", "q", q->second.shape.back()); !status.ok()) return status;
  const auto scale = scale_of(exchange);
  if (!scale.ok()) return scale.status();
  if (scale.value().factor == 0) return refuse(exchange.mechanism, "scale is 0, which leaves nothing of q");
  return scale_q(exchange, 1 / scale.value().factor);
}

}  // namespace linearmem
