// One row of scores at a time, in the precision of the arguments: scores, their largest, weights, average.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "softmax_attention/head.hpp"

namespace linearmem::softmax {
namespace {

template <typename T>
class ScoreRow {
 public:
  explicit ScoreRow(const Head<T>& head)
      : head_(head), query_(static_cast<std::size_t>(head.key_width())), average_(static_cast<std::size_t>(head.value_width())) {}

  void run(std::int64_t t) {
    match(t);
    const T total = weigh();
    std::fill(average_.begin(), average_.end(), T{0});
    for (std::size_t n = 0; n < keys_.size(); ++n)
      for (std::size_t j = 0; j < average_.size(); ++j) average_[j] += weights_[n] * head_.v(keys_[n], j);
    for (std::size_t j = 0; j < average_.size(); ++j) head_.o(t, j) = keys_.empty() ? T{0} : average_[j] / total;
  }

 private:
  // The visible keys and their scores.
  void match(std::int64_t t) {
    keys_.clear();
    weights_.clear();
    for (std::int64_t i = 0; i < head_.key_width(); ++i) query_[i] = static_cast<T>(head_.scale * static_cast<double>(head_.q(t, i)));
    for (std::int64_t s = head_.first_seen(t); s < head_.end_seen(t); ++s) {
      if (head_.masked(s)) continue;
      T score = 0;
      for (std::int64_t i = 0; i < head_.key_width(); ++i) score += query_[i] * head_.k(s, i);
      keys_.push_back(s);
      weights_.push_back(score);
    }
  }

  // Scores become weights, not yet divided by their sum, which is returned.
  T weigh() {
    T largest = -std::numeric_limits<T>::infinity(), total = 0;
    for (T score : weights_) largest = std::fmax(largest, score);
    for (T& weight : weights_) total += weight = std::exp(weight - largest);
    return total;
  }

  const Head<T>& head_;
  std::vector<std::int64_t> keys_;
  std::vector<T> query_, weights_, average_;
};

}  // namespace

template <typename T>
void explicit_scores(const Head<T>& head) {
  ScoreRow<T> row(head);
  for (std::int64_t t = head.begin; t < head.end; ++t) row.run(t);
}

template void explicit_scores(const Head<float>&);
template void explicit_scores(const Head<double>&);

}  // namespace linearmem::softmax
