// The layers of a model as its configuration lists them, gathered into groups of equal shape.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "ledger/config_fields.hpp"
#include "linearmem/ledger.hpp"

namespace linearmem {

class LayerPlan {
 public:
  void add(std::int64_t place, const LayerShape& shape);
  void add_encoder(std::int64_t layers, const LayerShape& shape);
  std::vector<LayerGroup> groups() const;
  std::int64_t mixers() const;

 private:
  struct Entry {
    LayerShape shape;
    std::vector<std::int64_t> places = {};
    std::int64_t encoder_layers = 0;
  };
  std::vector<Entry> entries_;
};

// "0-2, 4-6"; evenly spaced places of more than six as "3, 7, ..., 47".
std::string places_text(const std::vector<std::int64_t>& places);

// The kinds of all layers: the list in the configuration, or what `otherwise` says of a place, which is then assumed under `rule`.
// A list of another length than `layers`, or with other words than `known`, is wrong.
std::vector<std::string> layer_types(ConfigFields& fields, FieldNames names, std::int64_t layers, std::initializer_list<const char*> known,
                                     const Assumption& rule, const std::function<const char*(std::int64_t)>& otherwise);

// num_hidden_layers in its dialects.
std::int64_t layer_count(ConfigFields& fields);

struct AttentionDefaults {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;  // 0: required; as many as heads; width / heads
};

// The K,V heads of softmax attention.
LayerShape attention_shape(ConfigFields& fields, const AttentionDefaults& defaults = {});
LayerShape windowed(LayerShape shape, std::int64_t window);
LayerShape latent_shape(ConfigFields& fields);

// The mixers that several hybrids share. W is the convolution's width.
LayerShape mamba_shape(std::int64_t channels, std::int64_t N, std::int64_t W);
LayerShape ssd_shape(std::int64_t heads, std::int64_t P, std::int64_t groups, std::int64_t N, std::int64_t W);
struct DeltaSizes {
  LayerKind kind;
  std::int64_t key_heads, heads, key_width, value_width, conv_width;  // conv_width 0: no convolution
};
LayerShape delta_shape(const DeltaSizes& sizes);

}  // namespace linearmem
