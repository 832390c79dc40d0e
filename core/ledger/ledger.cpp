// A model's rows, totals and break-even prefixes. One layer at prefix t:
//   bytes(t) = kv_bits/8 per_token min(t, window) + state_bits/8 (state + normalizer) + conv_bits/8 convolution
#include <algorithm>
#include <string>

#include "ledger/checked_size.hpp"
#include "ledger/training.hpp"
#include "ledger/sentence.hpp"
#include "linearmem/ledger.hpp"

namespace linearmem {
namespace {

constexpr std::int64_t kLongestPrefix = std::int64_t{1} << 40;

std::string name_of(const LayerGroup& group) {
  return std::string(layer_kind_name(group.shape.kind)) + (group.where.empty() ? "" : ", layers " + group.where);
}

Status too_large(const std::string& what) { return Status::invalid(sentence({"ledger: ", what, ": its bytes do not fit in 64 bits"})); }

Status check(const LedgerSettings& settings) {
  struct Limit {
    const char* name;
    std::int64_t value, least, most;
  };
  const Limit limits[] = {{"context", settings.context, 1, kLongestPrefix},      {"batch", settings.batch, 1, kLongestPrefix},
                          {"source", settings.source, 1, kLongestPrefix},        {"block", settings.block, 1, std::int64_t{1} << 20},
                          {"device_bytes", settings.device_bytes, 0, INT64_MAX}, {"chunk", settings.chunk, 1, kLongestPrefix},
                          {"kv_bits", settings.precision.kv_bits, 1, 64},        {"state_bits", settings.precision.state_bits, 1, 64},
                          {"conv_bits", settings.precision.conv_bits, 1, 64}};
  for (const Limit& limit : limits)
    if (limit.value < limit.least || limit.value > limit.most)
      return Status::invalid(sentence({"ledger: ", limit.name, " is ", limit.value, ", must be from ", limit.least, " to ", limit.most}));
  return {};
}

// Tokens in pages: those of the prefix, or of the window where that is shorter, or of the source.
std::int64_t kept_tokens(const LayerElements& elements, const LedgerSettings& settings) {
  std::int64_t tokens = elements.of_source ? settings.source : settings.context;
  if (elements.most_tokens > 0) tokens = std::min(tokens, elements.most_tokens);
  return (tokens + settings.block - 1) / settings.block * settings.block;
}

Result<LedgerRow> row_of(const LayerGroup& group, const LedgerSettings& settings) {
  const auto elements = layer_elements(group.shape, settings.conv_columns);
  if (!elements.ok()) return elements.status();
  const LayerElements& parts = elements.value();
  const Precision& precision = settings.precision;
  const CheckedSize token = bytes_of(parts.per_token, precision.kv_bits);
  const CheckedSize growing = bytes_of(CheckedSize(parts.per_token) * kept_tokens(parts, settings), precision.kv_bits);
  const CheckedSize state = bytes_of(parts.state, precision.state_bits), normalizer = bytes_of(parts.normalizer, precision.state_bits);
  const CheckedSize convolution = bytes_of(parts.convolution, precision.conv_bits);
  const CheckedSize all = (growing + state + normalizer + convolution) * group.layers;
  if (!all.fits() || !token.fits()) return too_large(name_of(group));
  LedgerRow row{.group = group, .elements = parts};
  row.token_bytes = token.value();
  row.growing_bytes = growing.value();
  row.state_bytes = state.value();
  row.normalizer_bytes = normalizer.value();
  row.conv_bytes = convolution.value();
  row.request_bytes = all.value();
  return row;
}

// Bits at a prefix, without pages: a sum that is linear up to each window.
class BitsByPrefix {
 public:
  explicit BitsByPrefix(const Precision& precision) : precision_(precision) {}

  void add(const LayerElements& elements, std::int64_t layers) {
    fixed_ = fixed_ + ((CheckedSize(elements.state) + elements.normalizer) * precision_.state_bits +
                       CheckedSize(elements.convolution) * precision_.conv_bits) *
                          layers;
    if (elements.per_token > 0) slopes_.push_back({CheckedSize(elements.per_token) * precision_.kv_bits * layers, elements.most_tokens});
  }
  CheckedSize at(std::int64_t tokens) const {
    CheckedSize sum = fixed_;
    for (const Slope& slope : slopes_) sum = sum + slope.bits * (slope.most_tokens > 0 ? std::min(tokens, slope.most_tokens) : tokens);
    return sum;
  }

 private:
  struct Slope {
    CheckedSize bits;
    std::int64_t most_tokens;
  };
  Precision precision_;
  CheckedSize fixed_ = 0;
  std::vector<Slope> slopes_;
};

// The difference full - kept starts at or below 0 and bends upward only, so once full attention takes more, it always does.
std::optional<std::int64_t> break_even(const BitsByPrefix& kept, const BitsByPrefix& full) {
  const auto takes_more = [&](std::int64_t tokens) {
    const CheckedSize a = full.at(tokens), b = kept.at(tokens);
    return a.fits() ? b.fits() && a.value() > b.value() : b.fits();
  };
  if (!takes_more(kLongestPrefix)) return std::nullopt;
  std::int64_t low = 0, high = kLongestPrefix;  // takes_more(high), not takes_more(low)
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (takes_more(middle) ? high : low) = middle;
  }
  return low;
}

bool remembers_prefix(LayerKind kind) { return kind != LayerKind::cross_attention && kind != LayerKind::encoder_attention; }

Status compare_with_full_attention(const ModelLayers& model, const LedgerSettings& settings, Ledger& ledger) {
  if (!model.full_attention) return {};
  const auto full_row =
      row_of({.shape = *model.full_attention, .layers = model.mixers, .where = "all, were they full attention"}, settings);
  if (!full_row.ok()) return full_row.status();
  BitsByPrefix full_layer(settings.precision), full_model(settings.precision), whole(settings.precision);
  full_layer.add(full_row.value().elements, 1);
  full_model.add(full_row.value().elements, model.mixers);
  CheckedSize other = 0;  // of the source: the same in both
  for (LedgerRow& row : ledger.rows) {
    if (!remembers_prefix(row.group.shape.kind)) {
      other = other + row.request_bytes;
      continue;
    }
    BitsByPrefix one(settings.precision);
    one.add(row.elements, 1);
    row.break_even = break_even(one, full_layer);
    whole.add(row.elements, row.group.layers);
  }
  ledger.break_even = break_even(whole, full_model);
  const CheckedSize all = other + full_row.value().request_bytes;
  if (!all.fits()) return too_large("full attention in every layer");
  ledger.full_attention_bytes = all.value();
  return {};
}

Status sum_up(const LedgerSettings& settings, Ledger& ledger) {
  CheckedSize growing = 0, all = 0;
  for (const LedgerRow& row : ledger.rows) {
    all = all + row.request_bytes;
    if (!row.elements.of_source) growing = growing + CheckedSize(row.growing_bytes) * row.group.layers;
  }
  const CheckedSize batch = all * settings.batch;
  if (!batch.fits()) return too_large("the batch of " + std::to_string(settings.batch));
  ledger.request_bytes = all.value();
  ledger.growing_bytes = growing.value();
  ledger.fixed_bytes = all.value() - growing.value();
  ledger.batch_bytes = batch.value();
  if (settings.device_bytes > 0 && ledger.request_bytes > 0) ledger.requests_fit = settings.device_bytes / ledger.request_bytes;
  return {};
}

}  // namespace

Result<Ledger> memory_ledger(const ModelLayers& model, const LedgerSettings& settings) {
  if (Status status = check(settings); !status.ok()) return status;
  Ledger ledger;
  for (const LayerGroup& group : model.groups) {
    if (group.layers < 1)
      return Status::invalid(sentence({"ledger: ", name_of(group), ": layers is ", group.layers, ", must be at least 1"}));
    auto row = row_of(group, settings);
    if (!row.ok()) return row.status();
    ledger.rows.push_back(std::move(row).value());
    auto training = training_row(group, settings);
    if (!training.ok()) return training.status();
    if (training.value()) ledger.training.push_back(*training.value());
  }
  if (Status status = sum_up(settings, ledger); !status.ok()) return status;
  if (Status status = compare_with_full_attention(model, settings, ledger); !status.ok()) return status;
  return ledger;
}

const std::vector<const char*>& ledger_not_counted() {
  static const std::vector<const char*> list = {
      "weights, gradients and the optimizer's state",
      "workspace: activations of the step under way, logits, what an encoder holds while it reads",
      "fragmentation, and pages padded so that layers of several kinds share one size",
      "scales and zero points of quantized caches, page tables and other bookkeeping",
      "copies: draft tokens, checkpoints of states for shared prefixes, heads repeated over devices",
      "index caches of sparse attention, and caches of images and sound",
  };
  return list;
}

}  // namespace linearmem
