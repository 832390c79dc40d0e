#include "layers/sizes_check.hpp"

#include <cmath>
#include <initializer_list>

#include "layers/kinds.hpp"

namespace linearmem::layers {
namespace {

struct NamedSize {
  const char* name;
  std::int64_t value;
};

class SizesCheck {
 public:
  explicit SizesCheck(const char* kind) : kind_(kind) {}

  void positive(std::initializer_list<NamedSize> sizes) {
    for (const NamedSize& size : sizes)
      if (size.value < 1 || size.value > kLargestSize)
        add(std::string(size.name) + " is " + std::to_string(size.value) + ", must be from 1 to " + std::to_string(kLargestSize));
  }
  void multiple(const NamedSize& large, const NamedSize& small) {
    if (small.value > 0 && large.value % small.value != 0)
      add(std::string(large.name) + " is " + std::to_string(large.value) + ", not a multiple of " + small.name + ", which is " + std::to_string(small.value));
  }
  void require(bool condition, const std::string& sentence) {
    if (!condition) add(sentence);
  }
  void eps(const char* name, double value) { require(value >= 0 && std::isfinite(value), std::string(name) + " must be a number from 0 on"); }

  Status status() const { return faults_.empty() ? Status() : Status::invalid(std::string(kind_) + ": " + faults_); }

 private:
  void add(const std::string& fault) { faults_ += (faults_.empty() ? "" : "; ") + fault; }

  const char* kind_;
  std::string faults_;
};

Status check(const GatedDeltaNetSizes& s) {
  SizesCheck check(kGatedDeltaNet);
  check.positive({{"model width", s.model_width}, {"key heads", s.key_heads}, {"value heads", s.value_heads}, {"key width", s.key_width},
                  {"value width", s.value_width}, {"conv width", s.conv_width}});
  check.multiple({"value heads", s.value_heads}, {"key heads", s.key_heads});
  check.eps("norm eps", s.norm_eps);
  return check.status();
}

Status check(const Mamba2Sizes& s) {
  SizesCheck check(kMamba2);
  check.positive({{"model width", s.model_width}, {"heads", s.heads}, {"head width", s.head_width}, {"groups", s.groups}, {"state width", s.state_width},
                  {"conv width", s.conv_width}, {"norm groups", s.norm_groups}});
  check.multiple({"heads", s.heads}, {"groups", s.groups});
  if (s.heads > 0 && s.heads <= kLargestSize && s.head_width > 0 && s.head_width <= kLargestSize)
    check.multiple({"inner width", s.heads * s.head_width}, {"norm groups", s.norm_groups});
  check.require(s.least_step >= 0 && std::isfinite(s.least_step), "least step must be a number from 0 on");
  check.require(s.most_step == 0 || s.most_step >= s.least_step, "most step must be 0, for none, or at least the least step");
  check.eps("norm eps", s.norm_eps);
  return check.status();
}

template <typename Sizes>
void check_transformer(const Sizes& s, SizesCheck& check) {
  check.positive({{"model width", s.model_width}, {"heads", s.heads}, {"key width", s.key_width}, {"value width", s.value_width}, {"inner width", s.inner_width}});
  check.eps("norm eps", s.norm_eps);
}

Status check(const LinearTransformerSizes& s) {
  SizesCheck check(kLinearTransformer);
  check_transformer(s, check);
  check.eps("eps", s.eps);
  return check.status();
}

Status check(const UniversalTransformerSizes& s) {
  SizesCheck check(kUniversalTransformer);
  check_transformer(s, check);
  check.positive({{"rounds", s.rounds}, {"context", s.context}});
  check.multiple({"model width", s.model_width}, {"2, a sine and a cosine for each frequency", 2});
  check.require(s.threshold > 0 && s.threshold <= 1, "threshold must be above 0 and at most 1");
  return check.status();
}

Status check(const WindowAttentionSizes& s) {
  SizesCheck check(kWindowAttention);
  check.positive({{"model width", s.model_width}, {"heads", s.heads}, {"key heads", s.key_heads}, {"head width", s.head_width}, {"window", s.window}});
  check.multiple({"heads", s.heads}, {"key heads", s.key_heads});
  check.multiple({"head width", s.head_width}, {"2, the halves that turn together", 2});
  check.require(s.rope_theta > 0 && std::isfinite(s.rope_theta), "rope theta must be a number above 0");
  return check.status();
}

std::string name_of(const GatedDeltaNetSizes&) { return kGatedDeltaNet; }
std::string name_of(const Mamba2Sizes&) { return kMamba2; }
std::string name_of(const LinearTransformerSizes&) { return kLinearTransformer; }
std::string name_of(const UniversalTransformerSizes&) { return kUniversalTransformer; }
std::string name_of(const WindowAttentionSizes&) { return kWindowAttention; }

}  // namespace

std::string kind_of(const LayerSizes& sizes) {
  return std::visit([](const auto& of_kind) { return name_of(of_kind); }, sizes);
}

Status check_sizes(const LayerSizes& sizes) {
  return std::visit([](const auto& of_kind) { return check(of_kind); }, sizes);
}

}  // namespace linearmem::layers
