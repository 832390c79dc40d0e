// How a convention's mechanism is brought to ours, beyond the layout that its tensors state.
#pragma once

#include <utility>

#include "conventions/layout.hpp"
#include "conventions/numbers.hpp"

namespace linearmem {

// What multiplies q there. Where our mechanism has an option scale it is set; linear attention has none, and q itself is multiplied.
enum class ScaleRule {
  none,                 // the mechanism has no scale
  one,                  // nothing does
  key_width,            // always K^-1/2
  absent_is_key_width,  // option scale; none: K^-1/2
  zero_is_key_width,    // option scale; 0: K^-1/2
  given,                // option scale, which must be set
};

// Where epsilon stands when q and k are divided by their norm on request.
enum class QkNorm {
  none,
  inside_root,  // x / sqrt(sum x^2 + 1e-6), as ours
  floor,        // x / max(sqrt(sum x^2), eps)
  on_mean,      // K^-1/2 x / sqrt(mean x^2 + 1e-6), and q once more times K^-1/2
};

struct ConversionRules;

// A conversion under way: what was handed over, what is ours, what is theirs, and parameters by their name there in the order of our axes.
struct Exchange {
  const ConventionMechanism& mechanism;
  const RunSettings& settings;  // their options, all of them present
  Sizes sizes;
  const NamedTensors* given;  // their inputs; their outputs where those are brought to ours
  NamedTensors theirs = {}, ours = {}, parameters = {};

  const ConversionRules& rules() const;
};

struct ConversionRules {
  using Step = Status (*)(Exchange&);
  using Check = Status (*)(const ConventionMechanism&, const NamedTensors& inputs, const RunSettings& settings);

  ScaleRule scale = ScaleRule::none;
  QkNorm norm = QkNorm::none;
  const char* norm_option = nullptr;                                // the boolean option that asks for it
  std::vector<std::pair<const char*, const char*>> fixed = {};      // our option, its value
  std::vector<std::pair<const char*, const char*>> passed = {};     // their option, our option
  std::vector<std::pair<const char*, const char*>> head_counts = {};  // a letter, the option that must say it
  const char* largest = nullptr;                                    // the letter that is the larger of Hq and Hkv
  TiledHeads tiled = {};
  bool square = false;                // K = V
  Check check = nullptr;              // of their inputs
  Step inputs_to_ours = nullptr;      // after the tensors have been moved
  Step inputs_to_theirs = nullptr;    // before they are moved
  Step outputs_to_theirs = nullptr;   // after they have been moved
  Step outputs_to_ours = nullptr;     // the same
};

// Sentences begin with "fla delta-rule: ".
std::string door_of(const ConventionMechanism& mechanism);
Status refuse(const ConventionMechanism& mechanism, const std::string& sentence);

// The gates of Mamba and Gated DeltaNet out of their parameters: g = -exp(A_log) softplus(a + dt_bias).
// a [B,T,H], A_log [H], dt_bias [H].
Result<NamedTensor> log_decay_of(const Exchange& exchange, const NamedTensor& a, const NamedTensor& A_log, const NamedTensor& dt_bias);

// A tensor of one value, in the dtype of another.
NamedTensor filled(double value, std::vector<std::int64_t> shape, DType dtype);

// The tables, one file each.
Convention declare_fla();
Convention declare_onnx();
Convention declare_onnxruntime();
Convention declare_ggml();
Convention declare_mlx();
Convention declare_flashinfer();
Convention declare_flashinfer_decode();

}  // namespace linearmem
