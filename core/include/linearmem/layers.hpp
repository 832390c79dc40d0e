// Layers of published models, with their weights under the names that checkpoints use. M is the model width, T tokens.
//
//   gated-delta-net        q, k, v = silu(conv(x W)), beta = sigmoid(x Wb), g = -exp(A_log) softplus(x Wa + dt_bias),
//                          o = gated delta rule with L2-normalized q and k; out = (rms(o) w silu(z)) Wo, the norm over each head
//   mamba2                 z, xBC, dt = x W; xBC = silu(conv(xBC)); dt = clamp(softplus(dt + dt_bias)); y = ssd; out = rms(y silu(z)) w Wo
//   linear-transformer     h = norm1(x + linear attention(x)), out = norm2(h + W2 act(W1 h)), feature elu + 1
//   universal-transformer  R rounds with one set of weights: y = x + P_i + P_r, h = norm1(y + attention(y)), x = norm2(h + W2 act(W1 h)),
//                          causal; P_i the position, P_r the round; with halting, each token stops by itself and its rounds are mixed
//   window-attention       causal softmax attention over the last `window` tokens, rotary positions, grouped heads
//
// Sources: Yang, Kautz & Hatamizadeh 2024, "Gated Delta Networks", names and order of columns as in Hugging Face Transformers' Qwen3-Next;
// Dao & Gu 2024, "Transformers are SSMs", names as in its Mamba2; Katharopoulos, Vyas, Pappas & Fleuret 2020, "Transformers are RNNs", names
// as in idiap/fast-transformers; Dehghani et al. 2019, "Universal Transformers"; Beltagy, Peters & Cohan 2020, "Longformer", Su et al.
// 2021, "RoFormer", and Ainslie et al. 2023, "GQA", names as in Hugging Face Transformers' Mistral.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "linearmem/depth_recurrence.hpp"
#include "linearmem/layer_state.hpp"
#include "linearmem/mechanisms.hpp"
#include "linearmem/named_tensors.hpp"
#include "linearmem/status.hpp"

namespace linearmem {

// State: conv_state [C,W-1], C = 2 H K + Hv V, oldest first, channels q, k, v; recurrent_state [Hv,K,V].
struct GatedDeltaNetSizes {
  std::int64_t model_width = 0;
  std::int64_t key_heads = 0, value_heads = 0;  // H, Hv, a multiple of H
  std::int64_t key_width = 0, value_width = 0;  // K, V
  std::int64_t conv_width = 4;                  // W
  double norm_eps = 1e-6;
};

// State: conv_state [C,W-1], C = H P + 2 G N, channels x, B, C; recurrent_state [H,N,P].
struct Mamba2Sizes {
  std::int64_t model_width = 0;
  std::int64_t heads = 0, head_width = 0;  // H, P
  std::int64_t groups = 1;                 // G, of B and C; H is a multiple of it
  std::int64_t state_width = 0;            // N
  std::int64_t conv_width = 4;             // W
  bool bias = false, conv_bias = true;     // of the two projections; of the convolution
  double least_step = 0;                   // dt is kept within these two
  double most_step = 0;                    // 0: no limit
  std::int64_t norm_groups = 1;            // parts of the H P values that are normalized apart
  double norm_eps = 1e-5;
};

// State: recurrent_state [H,K,V], normalizer [H,K].
struct LinearTransformerSizes {
  std::int64_t model_width = 0;
  std::int64_t heads = 0, key_width = 0, value_width = 0;  // H, K, V
  std::int64_t inner_width = 0;                            // F, of the feed-forward part
  BlockActivation activation = BlockActivation::relu;
  double eps = 1e-6;  // in the denominator of the attention
  double norm_eps = 1e-5;
};

// State: keys [R,context,H,K], values [R,context,H,V]: every round attends to a history of its own.
struct UniversalTransformerSizes {
  std::int64_t model_width = 0;  // even: a sine and a cosine for each frequency
  std::int64_t heads = 0, key_width = 0, value_width = 0;
  std::int64_t inner_width = 0;
  std::int64_t rounds = 0;   // R; with halting the most
  std::int64_t context = 0;  // most tokens of a request
  bool halting = false;      // adaptive computation time; false: every token takes all rounds
  double threshold = 0.99;   // a token halts in the first round whose probabilities sum to this
  BlockActivation activation = BlockActivation::relu;
  double norm_eps = 1e-5;
};

// State: keys [window,Hk,K], values [window,Hk,K]: token i of a request stands in row i mod window, keys already rotated.
struct WindowAttentionSizes {
  std::int64_t model_width = 0;
  std::int64_t heads = 0, key_heads = 0, head_width = 0;  // H, Hk, K; H is a multiple of Hk
  std::int64_t window = 0;                                // tokens seen, the query's own included
  double rope_theta = 10000;
  bool bias = false;  // of q, k and v
};

using LayerSizes = std::variant<GatedDeltaNetSizes, Mamba2Sizes, LinearTransformerSizes, UniversalTransformerSizes, WindowAttentionSizes>;

// What may be said of a layer in words: in a model's config.json, or after --set.
struct LayerDescription {
  const char* kind;  // "gated-delta-net"
  const char* equation;
  const char* names_from;           // whose checkpoints use these names of weights and options
  std::vector<OptionSpec> options;
  std::vector<std::string_view> needed;  // options without which there is no layer
};

const std::vector<LayerDescription>& layer_descriptions();
// Errors: an unknown kind; the message lists those that are known.
Result<const LayerDescription*> find_layer(std::string_view kind);

// The options of a kind that a model's config.json states, at its top, in its "text_config" or in "rope_parameters"; its other fields are
// not looked at. Errors: those of the ledger's reader of configurations, a value that is no number, text, truth value or list of two numbers;
// for window-attention, rotary positions that are scaled or turn a part of a head.
Result<std::map<std::string, std::string>> layer_options(std::string_view kind, std::string_view config_json);

// Errors: an unknown option, one that must be given and is not, a value of another kind or out of its range; all of them in one message.
Result<LayerSizes> read_layer_sizes(std::string_view kind, const std::map<std::string, std::string>& options);

struct LayerWeight {
  std::string name;  // "in_proj_qkvz.weight"
  std::vector<std::int64_t> shape;
};

std::vector<LayerWeight> layer_weights(const LayerSizes& sizes);

// What a layer of these sizes keeps per request, known without its weights. dtype: f32 or f64.
LayerStateLayout layer_state_layout(const LayerSizes& sizes, DType dtype);

// T is float or double; weights of any floating type are converted to it. Errors: sizes out of their range, and every weight that is
// missing, not known, or of another shape or kind, all of them in one message.
template <typename T>
Result<std::unique_ptr<Layer<T>>> make_layer(const LayerSizes& sizes, const NamedTensors& weights);

}  // namespace linearmem
