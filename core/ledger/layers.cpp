// What one layer keeps:
//   attention          heads (K + V) per kept token       latent attention   K + R per kept token
//   recurrences        heads K V, with a normalizer heads K more
//   convolution        channels (W - 1), or channels W    token shift        channels
#include <algorithm>

#include "ledger/checked_size.hpp"
#include "ledger/sentence.hpp"
#include "linearmem/ledger.hpp"

namespace linearmem {
namespace {

struct KindName {
  LayerKind kind;
  const char* name;
};

constexpr KindName kNames[] = {
    {LayerKind::full_attention, "full-attention"},
    {LayerKind::grouped_query_attention, "grouped-query-attention"},
    {LayerKind::window_attention, "window-attention"},
    {LayerKind::latent_attention, "latent-attention"},
    {LayerKind::cross_attention, "cross-attention"},
    {LayerKind::encoder_attention, "encoder-attention"},
    {LayerKind::linear_attention, "linear-attention"},
    {LayerKind::retention, "retention"},
    {LayerKind::delta_rule, "delta-rule"},
    {LayerKind::gated_delta_rule, "gated-delta-rule"},
    {LayerKind::kimi_delta, "kimi-delta"},
    {LayerKind::rwkv6, "rwkv6"},
    {LayerKind::rwkv7, "rwkv7"},
    {LayerKind::mamba, "mamba"},
    {LayerKind::ssd, "ssd"},
    {LayerKind::short_convolution, "short-convolution"},
};

struct NamedSize {
  const char* name;
  std::int64_t value;
};

Status must_be_positive(const LayerShape& shape, std::initializer_list<NamedSize> sizes) {
  for (const NamedSize& size : sizes)
    if (size.value < 1)
      return Status::invalid(
          sentence({"ledger: ", layer_kind_name(shape.kind), ": ", size.name, " is ", size.value, ", must be at least 1"}));
  return {};
}

Status check(const LayerShape& shape) {
  for (std::int64_t size : {shape.key_heads, shape.conv_channels, shape.conv_width, shape.shift_channels, shape.window, shape.rope_width})
    if (size < 0) return Status::invalid(sentence({"ledger: ", layer_kind_name(shape.kind), ": a size is negative: ", size}));
  if ((shape.conv_channels > 0) != (shape.conv_width > 0))
    return Status::invalid(sentence({"ledger: ", layer_kind_name(shape.kind), ": conv_channels is ", shape.conv_channels,
                                     " and conv_width is ", shape.conv_width, ", must both be 0 or both be at least 1"}));
  const NamedSize heads = {"heads", shape.heads}, keys = {"key_width", shape.key_width}, values = {"value_width", shape.value_width};
  switch (shape.kind) {
    case LayerKind::encoder_attention:
      return {};
    case LayerKind::short_convolution:
      return must_be_positive(shape, {{"conv_channels", shape.conv_channels}});
    case LayerKind::latent_attention:
      return must_be_positive(shape, {keys});
    case LayerKind::window_attention:
      return must_be_positive(shape, {heads, keys, values, {"window", shape.window}});
    default:
      return must_be_positive(shape, {heads, keys, values});
  }
}

CheckedSize kept_columns(const LayerShape& shape, ConvColumns columns) {
  if (shape.conv_width == 0 || columns == ConvColumns::none) return 0;
  return columns == ConvColumns::whole ? shape.conv_width : shape.conv_width - 1;
}

struct Counts {
  CheckedSize per_token = 0, state = 0, normalizer = 0, convolution = 0;
};

Counts count(const LayerShape& shape, ConvColumns columns) {
  Counts counts;
  const CheckedSize heads = shape.heads;
  switch (shape.kind) {
    case LayerKind::encoder_attention:
    case LayerKind::short_convolution:
      break;
    case LayerKind::full_attention:
    case LayerKind::grouped_query_attention:
    case LayerKind::window_attention:
    case LayerKind::cross_attention:
      counts.per_token = heads * (CheckedSize(shape.key_width) + shape.value_width);
      break;
    case LayerKind::latent_attention:
      counts.per_token = CheckedSize(shape.key_width) + shape.rope_width;
      break;
    default:
      counts.state = heads * shape.key_width * shape.value_width;
      if (shape.normalizer) counts.normalizer = heads * shape.key_width;
  }
  counts.convolution = CheckedSize(shape.conv_channels) * kept_columns(shape, columns) + shape.shift_channels;
  return counts;
}

}  // namespace

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> list = [] {
    std::vector<LayerKind> kinds;
    for (const KindName& known : kNames) kinds.push_back(known.kind);
    return kinds;
  }();
  return list;
}

const char* layer_kind_name(LayerKind kind) {
  for (const KindName& known : kNames)
    if (known.kind == kind) return known.name;
  return "";
}

Result<LayerKind> find_layer_kind(std::string_view name) {
  std::string all;
  for (const KindName& known : kNames) {
    if (name == known.name) return known.kind;
    all += (all.empty() ? "" : ", ") + std::string(known.name);
  }
  return Status::invalid(sentence({"layer kind ", name.substr(0, 60), " is not one of ", all}));
}

Result<LayerElements> layer_elements(const LayerShape& shape, ConvColumns columns) {
  if (Status status = check(shape); !status.ok()) return status;
  const Counts counts = count(shape, columns);
  for (const CheckedSize& part : {counts.per_token, counts.state, counts.normalizer, counts.convolution})
    if (!part.fits()) return Status::invalid(sentence({"ledger: ", layer_kind_name(shape.kind), ": its elements do not fit in 64 bits"}));
  return LayerElements{.per_token = counts.per_token.value(),
                       .most_tokens = shape.kind == LayerKind::window_attention ? shape.window : 0,
                       .of_source = shape.kind == LayerKind::cross_attention,
                       .state = counts.state.value(),
                       .normalizer = counts.normalizer.value(),
                       .convolution = counts.convolution.value()};
}

Result<int> dtype_bits(std::string_view name) {
  struct Known {
    const char* name;
    int bits;
  };
  constexpr Known kKnown[] = {{"f64", 64}, {"f32", 32}, {"bf16", 16}, {"f16", 16}, {"fp8", 8}, {"int8", 8}, {"fp4", 4}, {"int4", 4}};
  std::string all;
  for (const Known& known : kKnown) {
    if (name == known.name) return known.bits;
    all += (all.empty() ? "" : ", ") + std::string(known.name);
  }
  return Status::invalid(sentence({"dtype ", name.substr(0, 60), " is not one of ", all}));
}

Result<std::int64_t> layer_bytes(const LayerShape& shape, std::int64_t tokens, const Precision& precision, ConvColumns columns) {
  const auto elements = layer_elements(shape, columns);
  if (!elements.ok()) return elements.status();
  const LayerElements& parts = elements.value();
  const std::int64_t kept = parts.most_tokens > 0 ? std::min(tokens, parts.most_tokens) : tokens;
  const CheckedSize bytes = bytes_of(CheckedSize(parts.per_token) * kept, precision.kv_bits) +
                            bytes_of(CheckedSize(parts.state) + parts.normalizer, precision.state_bits) +
                            bytes_of(parts.convolution, precision.conv_bits);
  if (!bytes.fits()) return Status::invalid(sentence({"ledger: ", layer_kind_name(shape.kind), ": its bytes do not fit in 64 bits"}));
  return bytes.value();
}

Result<std::int64_t> SharedDepth::history_bytes() const {
  const LayerShape round{.kind = LayerKind::full_attention, .heads = 1, .key_width = width, .value_width = width};
  const auto one = layer_bytes(round, tokens, precision);
  if (!one.ok()) return one.status();
  const CheckedSize all = CheckedSize(rounds) * one.value();
  if (!all.fits()) return Status::invalid(sentence({"ledger: the history of ", rounds, " rounds does not fit in 64 bits"}));
  return all.value();
}

}  // namespace linearmem
