// The memory ledger: what a model keeps for each request while it generates, layer by layer, in elements and bytes: the part that grows
// with the prefix and the part that does not. Weights, workspace and fragmentation are not counted (core/ledger/README.md has the list).
// Sizes are 64 bits wide; one that does not fit is refused by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

enum class LayerKind {
  full_attention,           // K,V of every token, in every head
  grouped_query_attention,  // the same, several query heads to one head of K,V (Ainslie et al. 2023)
  window_attention,         // K,V of the newest tokens (Beltagy et al. 2020)
  latent_attention,         // one compressed vector and one rotary key per token (DeepSeek-AI 2024, DeepSeek-V2)
  cross_attention,          // K,V of the source, whatever the prefix (Vaswani et al. 2017)
  encoder_attention,        // nothing, once the source is read
  linear_attention,         // S [K,V], a normalizer [K] where there is one (Katharopoulos et al. 2020)
  retention,                // S [K,V] (Sun et al. 2023, RetNet)
  delta_rule,               // S [K,V] (Schlag et al. 2021, Yang et al. 2024)
  gated_delta_rule,         // S [K,V] (Yang et al. 2025)
  kimi_delta,               // S [K,V], a decay per key component (Kimi Team 2025)
  rwkv6,                    // S [K,V] and the last token (Peng et al. 2024)
  rwkv7,                    // S [K,V] and the last token (Peng et al. 2025)
  mamba,                    // a state [N] per channel (Gu and Dao 2023); here heads = channels, key_width = N, value_width = 1
  ssd,                      // a state [N,P] per head (Dao and Gu 2024, Mamba-2); here key_width = N, value_width = P
  short_convolution,        // the last inputs alone
};

const std::vector<LayerKind>& layer_kinds();
const char* layer_kind_name(LayerKind kind);  // "gated-delta-rule": command line, layer lists, page
// Errors of this, dtype_bits and find_model: an unknown name; the message lists those that are known.
Result<LayerKind> find_layer_kind(std::string_view name);

// One layer by the sizes that decide its memory. What a kind does not have stays 0.
struct LayerShape {
  LayerKind kind = LayerKind::full_attention;
  std::int64_t heads = 0;                          // attention: heads of K,V that are kept; otherwise states
  std::int64_t key_heads = 0;                      // heads of q and k where they are fewer than states; 0: as many
  std::int64_t key_width = 0;                      // K; of latent attention the compressed vector
  std::int64_t value_width = 0;                    // V
  std::int64_t rope_width = 0;                     // latent attention: the rotary key that all heads share
  std::int64_t window = 0;                         // window attention: tokens that are kept
  bool normalizer = false;                         // linear attention: a [K] vector beside each S
  std::int64_t conv_channels = 0, conv_width = 0;  // a causal convolution before the memory: its channels and W
  std::int64_t shift_channels = 0;                 // channels of the last token that are kept (RWKV)

  bool operator==(const LayerShape&) const = default;
};

// Which inputs of a convolution of width W count: W - 1 are what the next token needs; implementations that shift in place keep W.
enum class ConvColumns { none, past, whole };

// Elements that one layer keeps for one request.
struct LayerElements {
  std::int64_t per_token = 0;    // K,V that one kept token adds
  std::int64_t most_tokens = 0;  // that are kept; 0: all
  bool of_source = false;        // the tokens are those of the source, not of the prefix
  std::int64_t state = 0, normalizer = 0;
  std::int64_t convolution = 0;  // and of the token shift
};

// Errors: a size that the kind needs is 0 or negative, or the count does not fit in 64 bits.
Result<LayerElements> layer_elements(const LayerShape& shape, ConvColumns columns = ConvColumns::past);

struct Precision {
  int kv_bits = 16;
  int state_bits = 32;  // normalizers too
  int conv_bits = 16;   // token shifts too; of the training ledger the inputs
};

// "f32" is 32. Known: f64 f32 bf16 f16 fp8 int8 fp4 int4; scales of quantized formats are not counted.
Result<int> dtype_bits(std::string_view name);

// Bytes of a layer for one request with `tokens` of prefix. Errors: those of layer_elements, of the bytes too.
Result<std::int64_t> layer_bytes(const LayerShape& shape, std::int64_t tokens, const Precision& precision,
                                 ConvColumns columns = ConvColumns::past);

struct LayerGroup {
  LayerShape shape = {};
  std::int64_t layers = 1;
  std::string where = {};  // "0-2, 4-6": places among the model's layers; empty where unknown
};

// A default of the architecture, where the configuration is silent: what it fills in for `field`, as data, since the command line and
// the page each word it themselves.
struct Assumption {
  enum class Rule {
    value,                   // the field is `number`
    last_of_every,           // of every `number` layers the last has full attention
    window_in_every_layer,   //
    window_from,             // layers from `number` on have a window
    full_and_linear_in_turn,
    as_full_attn_idxs,       // the layers that another field, full_attn_idxs, lists have full attention
    mamba_in_every_layer,
    none,                    // the list is empty
    width_of_full_attention, // no field: what full attention would keep is counted with K and V as wide as the model, `number`
  };
  Rule rule = Rule::value;
  std::string field = {};  // "head_dim", "linear_attn_config.short_conv_kernel_size"
  double number = 0;

  bool operator==(const Assumption&) const = default;
};

const char* assumption_rule_name(Assumption::Rule rule);  // "last-of-every"
std::string assumption_text(const Assumption& assumption);  // "head_dim = 256"

struct ModelLayers {
  std::string name = {}, model_type = {};
  std::vector<LayerGroup> groups = {};
  std::int64_t mixers = 0;                        // layers with a memory of the prefix; one with two of them, side by side, counts once
  std::optional<LayerShape> full_attention = {};  // what a layer would keep if it were full attention: the model's own, or of its width
  std::vector<Assumption> assumed = {};
};

// A Hugging Face config.json, or a list written by hand: {"layers": [{"kind": "ssd", "layers": 24, "heads": 80, "key_width": 128, ...}]}.
// Errors name the offset, or the field with what it holds and may hold, or the missing fields that decide the memory.
Result<ModelLayers> read_model_config(std::string_view json);

struct NamedModel {
  const char* name;    // "Qwen3-Next-80B-A3B"
  const char* source;  // where the numbers are published
  const char* config;  // the fields that decide the memory, as JSON
};

const std::vector<NamedModel>& named_models();
Result<ModelLayers> find_model(std::string_view name);

struct LedgerSettings {
  std::int64_t context = 8192;  // tokens of prefix of each request
  std::int64_t batch = 1;       // requests
  std::int64_t source = 512;    // tokens that an encoder has read
  Precision precision = {};
  ConvColumns conv_columns = ConvColumns::past;
  std::int64_t block = 1;         // tokens per page: kept tokens are rounded up to whole pages
  std::int64_t device_bytes = 0;  // memory for requests; 0: not asked
  std::int64_t chunk = 64;        // tokens per chunk of the training ledger
};

// Bytes are those of one layer and one request, unless they say otherwise.
struct LedgerRow {
  LayerGroup group = {};
  LayerElements elements = {};
  std::int64_t token_bytes = 0;    // that one kept token adds
  std::int64_t growing_bytes = 0;  // at the context, in whole pages
  std::int64_t state_bytes = 0, normalizer_bytes = 0, conv_bytes = 0;
  std::int64_t request_bytes = 0;               // of all layers of the row
  std::optional<std::int64_t> break_even = {};  // the longest prefix at which full attention takes no more; none: it never takes more
};

// What a recurrent layer stores between the forward and the backward pass; bytes of all layers of the row and of the whole batch.
struct TrainingRow {
  LayerKind kind = LayerKind::linear_attention;
  std::int64_t layers = 0;
  std::int64_t input_bytes = 0;       // q, k, v, decays and strengths, or their kind's like: stored in all three
  std::int64_t naive_bytes = 0;       // the state after every token
  std::int64_t chunked_bytes = 0;     // the state at the start of every chunk
  std::int64_t recomputed_bytes = 0;  // the first state: the backward pass runs the recurrence again
};

struct Ledger {
  std::vector<LedgerRow> rows = {};
  std::int64_t fixed_bytes = 0, growing_bytes = 0;  // of one request, at the context
  std::int64_t request_bytes = 0, batch_bytes = 0;
  std::int64_t full_attention_bytes = 0;          // one request, were every layer full attention; 0 where that is unknown
  std::optional<std::int64_t> break_even = {};    // of the whole model, as a row's
  std::optional<std::int64_t> requests_fit = {};  // in device_bytes
  std::vector<TrainingRow> training = {};
};

// Errors: a setting out of its range, or a size that does not fit in 64 bits, by the row's name.
Result<Ledger> memory_ledger(const ModelLayers& model, const LedgerSettings& settings);

// What the ledger leaves out, one sentence each.
const std::vector<const char*>& ledger_not_counted();

// One attention block of model width D (four D x D projections; a feed-forward part of width 4 D), run R rounds with the same
// parameters. Source of the shape: Vaswani et al. 2017; of the rounds: Dehghani et al. 2019, "Universal Transformers".
struct SharedDepth {
  std::int64_t width, rounds, tokens;
  Precision precision = {.kv_bits = 32};

  std::int64_t parameters() const { return 4 * width * width + 8 * width * width; }
  // Multiply-adds: projections and feed-forward per token and round, causal scores and sums over T (T + 1) / 2 pairs per round.
  std::int64_t operations() const { return rounds * (tokens * parameters() + tokens * (tokens + 1) * width); }
  // Each round attends to keys and values of its own, so the history grows with R, and with the prefix in the same order as one layer's.
  Result<std::int64_t> history_bytes() const;
};

}  // namespace linearmem
