#include "foundation/rounding.hpp"

#include <cmath>
#include <limits>

namespace linearmem {
namespace {

struct Format {
  int precision;  // significant bits, the hidden one included
  int least_exponent, largest_exponent;
};

Format format_of(StateType type) {
  switch (type) {
    case StateType::float64: return {53, -1022, 1023};
    case StateType::float32: return {24, -126, 127};
    case StateType::bfloat16: return {8, -126, 127};
    case StateType::float16: return {11, -14, 15};
  }
  return {53, -1022, 1023};
}

}  // namespace

template <typename T>
std::optional<Rounding<T>> rounding_to(StateType type) {
  constexpr int kOwnPrecision = std::numeric_limits<T>::digits;
  const Format format = format_of(type);
  if (format.precision >= kOwnPrecision) return std::nullopt;
  const auto power = [](int exponent) { return std::ldexp(T{1}, exponent); };
  return Rounding<T>{.epsilon = power(1 - format.precision),
                     .least_normal = power(format.least_exponent),
                     .infinite_from = (2 - power(-format.precision)) * power(format.largest_exponent),
                     .whole = T{1.5} * power(kOwnPrecision - 1)};
}

template <typename T>
T rounded(const Rounding<T>& format, T x) {
  const T magnitude = std::abs(x);
  if (!(magnitude < format.infinite_from)) return x * std::numeric_limits<T>::infinity();  // NaN stays NaN
  const T power = magnitude < format.least_normal ? format.least_normal : std::ldexp(T{1}, std::ilogb(magnitude));
  const T unit = power * format.epsilon;
  return (x / unit + format.whole - format.whole) * unit;
}

template std::optional<Rounding<float>> rounding_to<float>(StateType);
template std::optional<Rounding<double>> rounding_to<double>(StateType);
template float rounded<float>(const Rounding<float>&, float);
template double rounded<double>(const Rounding<double>&, double);

}  // namespace linearmem
