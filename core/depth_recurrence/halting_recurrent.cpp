// Round by round, as a network runs it: a token's weight is known in the round itself, so no later round is needed to mix its state.
// What a token has spent of 1 is summed in float64 whatever T is, so that every form and precision stops it in the same round.
#include <vector>

#include "depth_recurrence/halting.hpp"

namespace linearmem::depth {
namespace {

template <typename T>
class Rounds {
 public:
  explicit Rounds(const AdaptiveComputationTimeArguments<T>& a)
      : a_(a), tokens_(a.p.extent(1)), cap_(a.p.extent(2)), D_(a.x.extent(3)), row_(static_cast<std::size_t>(a.p.extent(0) * tokens_ * D_)) {
    const auto count = static_cast<std::size_t>(a.p.extent(0) * tokens_);
    spent_.resize(count);
    used_.resize(count);
    running_.resize(count);
    remainder_.resize(count);
    each_token([&](std::size_t at, std::int64_t b, std::int64_t t) { running_[at] = takes_part(a_, b, t); });
  }

  void run(std::int64_t r) {
    each_token([&](std::size_t at, std::int64_t b, std::int64_t t) {
      const T weight = running_[at] ? step(at, static_cast<double>(a_.p(b, t, r)), r + 1 == cap_) : T{0};
      if (a_.weights.given()) a_.weights(b, t, r) = weight;
      if (used_[at] != r + 1) return;
      for (std::int64_t d = 0; d < D_; ++d) row_[at * D_ + d] += weight * a_.x(r, b, t, d);
    });
  }

  void finish() const {
    each_token([&](std::size_t at, std::int64_t b, std::int64_t t) {
      if (a_.n.given()) a_.n(b, t) = used_[at];
      if (a_.remainder.given()) a_.remainder(b, t) = static_cast<T>(remainder_[at]);
      for (std::int64_t d = 0; d < D_; ++d) a_.o(b, t, d) = row_[at * D_ + d];
    });
  }

 private:
  // The weight of this round for a token that is still running.
  T step(std::size_t at, double p, bool last) {
    const double left = 1 - spent_[at];
    spent_[at] += p;
    ++used_[at];
    const bool halts = spent_[at] >= 1 - a_.eps;
    running_[at] = !halts && !last;
    if (!halts && !(last && a_.halting == Halting::graves)) return static_cast<T>(p);
    remainder_[at] = left;
    return static_cast<T>(left);
  }

  template <typename Visit>
  void each_token(Visit visit) const {
    for (std::int64_t b = 0; b < a_.p.extent(0); ++b)
      for (std::int64_t t = 0; t < tokens_; ++t) visit(static_cast<std::size_t>(b * tokens_ + t), b, t);
  }

  const AdaptiveComputationTimeArguments<T>& a_;
  std::int64_t tokens_, cap_, D_;
  std::vector<T> row_;
  std::vector<double> spent_, remainder_;
  std::vector<std::int64_t> used_;
  std::vector<char> running_;
};

}  // namespace

template <typename T>
void halting_recurrent(const AdaptiveComputationTimeArguments<T>& arguments) {
  Rounds<T> rounds(arguments);
  for (std::int64_t r = 0; r < arguments.p.extent(2); ++r) rounds.run(r);
  rounds.finish();
}

template void halting_recurrent(const AdaptiveComputationTimeArguments<float>&);
template void halting_recurrent(const AdaptiveComputationTimeArguments<double>&);

}  // namespace linearmem::depth
