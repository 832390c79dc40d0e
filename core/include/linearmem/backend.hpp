// Where a door computes when not on this processor: arguments that name a backend are checked by the door and then handed to it.
// LinearMem::cuda (linearmem/cuda.hpp) has one over an NVIDIA GPU. A backend takes and gives float32, but for sampling; the views are of this machine's
// memory, and are written only when the result is ok.
#pragma once

#include <string_view>

#include "linearmem/status.hpp"

namespace linearmem {

template <typename T>
struct SoftmaxAttentionArguments;
template <typename T>
struct LinearAttentionArguments;
template <typename T>
struct DeltaRuleArguments;
template <typename T>
struct SelectiveScanArguments;
template <typename T>
struct MambaScanArguments;
template <typename T>
struct SsdArguments;
template <typename T>
struct KnnSearchArguments;

namespace associative {
struct ItemSumsArguments;  // associative_memory/item_sums.hpp; asked for by InterferenceSampler
}

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;                           // "cuda"
  virtual bool computes(std::string_view mechanism) const = 0;         // by its name in the registry: "gated-delta-rule"

  // Errors: unavailable, with the reason (a form, a state_type or a size it lacks, a device that failed); out_of_memory with both numbers.
  virtual Status run(const SoftmaxAttentionArguments<float>& arguments) const = 0;
  virtual Status run(const LinearAttentionArguments<float>& arguments) const = 0;
  virtual Status run(const DeltaRuleArguments<float>& arguments) const = 0;
  virtual Status run(const SelectiveScanArguments<float>& arguments) const = 0;
  virtual Status run(const MambaScanArguments<float>& arguments) const = 0;
  virtual Status run(const SsdArguments<float>& arguments) const = 0;
  virtual Status run(const KnnSearchArguments<float>& arguments) const = 0;
  virtual Status run(const associative::ItemSumsArguments& arguments) const = 0;  // in float64
};

}  // namespace linearmem
