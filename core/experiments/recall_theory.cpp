// How likely the outer product is right, by quadrature over what a read's answer depends on.
//
// Key q's read is v_q + n, where n = sum_i s_i v_i over the others and s_i is the inner product of two random unit keys. Given the length
// of n and its component along v_q, the read has a length and an angle to v_q; another value v_m of random direction wins where its
// component along the read, and the s_m it brought itself, exceed the target's. Its M - 1 rivals are taken as independent.
#include <algorithm>
#include <cmath>
#include <vector>

#include "experiments/recall.hpp"

namespace linearmem {
namespace {

constexpr double kPi = 3.141592653589793;

// Nodes for the component of a random unit vector along a fixed one in `width` dimensions: cos t with weight sin(t)^(width-2).
struct SphereNodes {
  SphereNodes(double width, int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      const double t = kPi * (i + 0.5) / count;
      cosine.push_back(std::cos(t));
      sine.push_back(std::sin(t));
      weight.push_back(std::pow(std::sin(t), std::max(0.0, width - 2)));
      sum += weight.back();
    }
    for (double& one : weight) one /= sum;
  }
  std::vector<double> cosine, sine, weight;
};

// The distribution function of such a component, from a table in its angle.
class SphereBelow {
 public:
  explicit SphereBelow(double width) : table_(kSteps + 1) {
    const SphereNodes nodes(width, kSteps);
    for (int i = 0; i < kSteps; ++i) table_[i + 1] = table_[i] + nodes.weight[i];  // of angles below the step's end
  }
  double operator()(double component) const {
    const double place = std::acos(std::clamp(component, -1.0, 1.0)) / kPi * kSteps;
    const int step = std::min(static_cast<int>(place), kSteps - 1);
    return std::clamp(1 - (table_[step] + (place - step) * (table_[step + 1] - table_[step])), 0.0, 1.0);
  }

 private:
  static constexpr int kSteps = 512;
  std::vector<double> table_;
};

// The squared length of what the others add: its mean and variance are exact, its shape is taken as a gamma distribution's.
struct NoiseNodes {
  NoiseNodes(double others, double K, double V) {
    constexpr int kNodes = 12;
    const double mean = others / K, variance = others * 2 * (K - 1) / (K * K * (K + 2)) + 2 * others * (others - 1) / (K * K * V);
    if (!(variance > 0)) {
      square = {mean};
      weight = {1};
      return;
    }
    const double deviation = std::sqrt(variance), low = std::max(0.0, mean - 4 * deviation), shape = mean * mean / variance;
    double sum = 0;
    for (int i = 0; i < kNodes; ++i) {
      square.push_back(low + (mean + 5 * deviation - low) * (i + 0.5) / kNodes);
      weight.push_back(std::exp((shape - 1) * std::log(square.back() / mean) - shape * (square.back() / mean - 1)));
      sum += weight.back();
    }
    for (double& one : weight) one /= sum;
  }
  std::vector<double> square, weight;
};

}  // namespace

double outer_product_recall(double M, double K, double V) {
  if (M < 2) return 1;
  const NoiseNodes noise(M - 2, K, V);
  const SphereNodes along(V, 32), rival(V, 48), aside(V - 1, 12);
  const SphereBelow match(K);
  double right = 0;
  for (std::size_t r = 0; r < noise.square.size(); ++r)
    for (std::size_t a = 0; a < along.cosine.size(); ++a) {
      const double target = 1 + std::sqrt(noise.square[r]) * along.cosine[a];
      const double length = std::sqrt(std::max(0.0, 2 * target - 1 + noise.square[r]));
      const double towards = length > 0 ? std::clamp(target / length, -1.0, 1.0) : 1, across = std::sqrt(1 - towards * towards);
      double wins = 0;  // against one rival
      for (std::size_t b = 0; b < rival.cosine.size(); ++b)
        for (std::size_t c = 0; c < aside.cosine.size(); ++c) {
          const double to_target = towards * rival.cosine[b] + across * rival.sine[b] * aside.cosine[c];
          wins += rival.weight[b] * aside.weight[c] * match((target - length * rival.cosine[b]) / std::max(1e-12, 1 - to_target));
        }
      right += noise.weight[r] * along.weight[a] * std::pow(wins, M - 1);
    }
  return right;
}

}  // namespace linearmem
