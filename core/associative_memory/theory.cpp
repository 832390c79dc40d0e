#include "linearmem/associative_memory_theory.hpp"

#include <cmath>
#include <limits>

#include "associative_memory/quadrature.hpp"

namespace linearmem {
namespace {

double double_factorial_of_odd(int p) {  // (2p - 1)!!
  double product = 1;
  for (int factor = 3; factor < 2 * p; factor += 2) product *= factor;
  return product;
}

// E[s^(2p)] is (2p-1)!! / (K (K+2) ... (K+2p-2)) on the sphere and (2p-1)!! / K^p in the Gaussian approximation.
double even_moment(std::int64_t K, int p, Moments moments) {
  double moment = double_factorial_of_odd(p);
  for (int j = 0; j < p; ++j) moment /= static_cast<double>(K + (moments == Moments::sphere ? 2 * j : 0));
  return moment;
}

// E[T(beta s)^2] for the polynomial T, from the even moments: no cancellation, all terms being positive.
double truncated_moment(const ResponseRule& rule, double beta, std::int64_t K, Moments moments) {
  double sum = 0, left = 1;  // left = beta^i / i!, right = beta^j / j!
  for (int i = 0; i < rule.terms; left *= beta / ++i) {
    double right = 1;
    for (int j = 0; j < rule.terms; right *= beta / ++j)
      if ((i + j) % 2 == 0) sum += left * right * even_moment(K, (i + j) / 2, moments);
  }
  return sum;
}

}  // namespace

double interference_per_item(const ResponseRule& rule, std::int64_t K, double rho, Moments moments, std::int64_t items) {
  const double beta = beta_for(rule, items);
  switch (rule.response) {
    case Response::linear: return even_moment(K, 1, moments) / (rho * rho);
    case Response::relu: {
      const double target = respond(rule, rho);
      return even_moment(K, rule.power, moments) / 2 / (target * target);
    }
    case Response::exp:
    case Response::softmax:
      if (moments == Moments::gaussian) return std::exp(2 * beta * beta / static_cast<double>(K) - 2 * beta * rho);
      return associative::sphere_average([&](double s) { return std::exp(2 * beta * (s - rho)); }, K);
    case Response::truncated_exp: {
      const double target = respond(rule, rho, items);
      return truncated_moment(rule, beta, K, moments) / (target * target);
    }
    case Response::least_squares: break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double rms_interference(const ResponseRule& rule, std::int64_t K, std::int64_t M, double rho, Moments moments) {
  return std::sqrt(static_cast<double>(M - 1) * interference_per_item(rule, K, rho, moments, M));
}

double capacity(const ResponseRule& rule, std::int64_t K, double rho, Moments moments) {
  const double first = 1 + 1 / interference_per_item(rule, K, rho, moments);
  if (!rule.sharpen_beyond || !(first > static_cast<double>(*rule.sharpen_beyond))) return first;
  // ln((M-1) E[f^2]/f^2) as a function of ln M; beta grows with ln M, so M itself need not be a whole number that fits.
  const auto excess = [&](double log_items) {
    ResponseRule fixed = rule;
    fixed.sharpen_beyond.reset();
    fixed.beta *= log_items / std::log(static_cast<double>(*rule.sharpen_beyond));
    return std::log(std::expm1(log_items)) + std::log(interference_per_item(fixed, K, rho, moments));
  };
  double low = std::log(static_cast<double>(*rule.sharpen_beyond)), high = low;  // R is below 1 there
  constexpr double kMost = 690;                                                  // ln 1e300
  while (excess(high) < 0) {
    low = high;
    if ((high *= 1.25) > kMost) return std::numeric_limits<double>::infinity();
  }
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (excess(middle) < 0 ? low : high) = middle;
  }
  return std::exp(high);
}

double least_squares_interference(std::int64_t K, double M) {
  return M > static_cast<double>(K) ? std::sqrt(M / static_cast<double>(K) - 1) : 0;
}

}  // namespace linearmem
