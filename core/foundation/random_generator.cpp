// PCG64 and the draws of numpy.random.Generator on it.
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "foundation/random_math.hpp"
#include "foundation/random_ziggurat.hpp"
#include "linearmem/random.hpp"

namespace linearmem {
namespace {

__extension__ typedef unsigned __int128 Uint128;

constexpr Uint128 wide(std::uint64_t high, std::uint64_t low) { return static_cast<Uint128>(high) << 64 | low; }

constexpr std::uint64_t high_half(Uint128 value) { return static_cast<std::uint64_t>(value >> 64); }

// Lemire: the high word of draw * width is uniform once the few low words that some results get more often are redrawn.
// `Wide` is twice as wide as `Word`; width = last + 1 does not overflow, the caller sees to it.
template <typename Word, typename Wide, typename Draw>
Word bounded_lemire(Word last, Draw draw) {
  const Word width = last + 1;
  Wide product = static_cast<Wide>(draw()) * width;
  if (static_cast<Word>(product) < width) {
    const Word threshold = (std::numeric_limits<Word>::max() - last) % width;
    while (static_cast<Word>(product) < threshold) product = static_cast<Wide>(draw()) * width;
  }
  return static_cast<Word>(product >> std::numeric_limits<Word>::digits);
}

Status empty_interval(std::int64_t low, std::int64_t high, Endpoint endpoint) {
  const char* relation = endpoint == Endpoint::included ? "at most" : "below";
  return Status::invalid("integers: low must be " + std::string(relation) + " high: low is " + std::to_string(low) + ", high is " +
                         std::to_string(high));
}

// The number of integers in the interval less one, or an error.
Result<std::uint64_t> interval_span(std::int64_t low, std::int64_t high, Endpoint endpoint) {
  if (low > high || (low == high && endpoint == Endpoint::excluded)) return empty_interval(low, high, endpoint);
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return endpoint == Endpoint::included ? span : span - 1;
}

std::int64_t offset_from(std::int64_t low, std::uint64_t offset) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

// Beyond the last layer: Marsaglia's exponential rejection. The distance past ziggurat_edge.
double tail_excess(Generator& rng) {
  for (;;) {
    const double x = -ziggurat_inverse_edge * log_one_minus(rng.random());
    const double y = -log_one_minus(rng.random());
    if (y + y > x * x) return x;
  }
}

}  // namespace

Pcg64::Pcg64(const SeedSequence& seed) {
  const std::vector<std::uint64_t> words = seed.generate_state64(4);
  const Uint128 start = wide(words[0], words[1]);
  const Uint128 increment = wide(words[2], words[3]) << 1 | 1;
  increment_ = {high_half(increment), static_cast<std::uint64_t>(increment)};
  step();
  const Uint128 state = wide(state_.high, state_.low) + start;
  state_ = {high_half(state), static_cast<std::uint64_t>(state)};
  step();
}

void Pcg64::step() {
  constexpr Uint128 multiplier = wide(2549297995355413924u, 4865540595714422341u);
  const Uint128 state = wide(state_.high, state_.low) * multiplier + wide(increment_.high, increment_.low);
  state_ = {high_half(state), static_cast<std::uint64_t>(state)};
}

std::uint64_t Pcg64::next64() {
  step();
  return std::rotr(state_.high ^ state_.low, static_cast<int>(state_.high >> 58));
}

std::uint32_t Pcg64::next32() {
  if (has_kept_half_) {
    has_kept_half_ = false;
    return kept_half_;
  }
  const std::uint64_t draw = next64();
  kept_half_ = static_cast<std::uint32_t>(draw >> 32);
  has_kept_half_ = true;
  return static_cast<std::uint32_t>(draw);
}

double Generator::random() { return static_cast<double>(next64() >> 11) * 0x1p-53; }

double Generator::uniform(double low, double high) {
  const double width = high - low;
  if (!std::isfinite(width)) return std::numeric_limits<double>::quiet_NaN();
  return low + width * random();
}

// One 64-bit draw names the layer (8 bits), the sign (1) and the place in the layer (52).
double Generator::standard_normal() {
  for (;;) {
    const std::uint64_t draw = next64();
    const unsigned layer = draw & 0xff;
    const bool negative = draw >> 8 & 1;
    const std::uint64_t place = draw >> 9 & 0xfffffffffffff;
    const double size = static_cast<double>(place) * ziggurat_width[layer];
    const double x = negative ? -size : size;
    if (place < ziggurat_inside[layer]) return x;
    if (layer == 0) {
      const double tail = ziggurat_edge + tail_excess(*this);
      return place >> 8 & 1 ? -tail : tail;  // this bit, not the sign bit: NumPy's choice
    }
    const double floor = ziggurat_density[layer];
    const double height = (ziggurat_density[layer - 1] - floor) * random() + floor;
    if (height < exp_nonpositive(-0.5 * x * x)) return x;
  }
}

double Generator::normal(double loc, double scale) {
  if (scale < 0) return std::numeric_limits<double>::quiet_NaN();
  return loc + scale * standard_normal();
}

std::uint64_t Generator::bounded(std::uint64_t last) {
  constexpr std::uint64_t last32 = std::numeric_limits<std::uint32_t>::max();
  if (last == 0) return 0;  // nothing to choose, nothing drawn
  if (last == last32) return next32();
  if (last < last32) {
    return bounded_lemire<std::uint32_t, std::uint64_t>(static_cast<std::uint32_t>(last), [this] { return next32(); });
  }
  if (last == std::numeric_limits<std::uint64_t>::max()) return next64();
  return bounded_lemire<std::uint64_t, Uint128>(last, [this] { return next64(); });
}

Result<std::int64_t> Generator::integers(std::int64_t low, std::int64_t high, Endpoint endpoint) {
  const Result<std::uint64_t> span = interval_span(low, high, endpoint);
  if (!span.ok()) return span.status();
  return offset_from(low, bounded(span.value()));
}

Result<std::vector<std::int64_t>> Generator::integer_vector(std::size_t count, std::int64_t low, std::int64_t high, Endpoint endpoint) {
  const Result<std::uint64_t> span = interval_span(low, high, endpoint);
  if (!span.ok()) return span.status();
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) value = offset_from(low, bounded(span.value()));
  return values;
}

std::vector<double> Generator::normal_vector(std::size_t count, double loc, double scale) {
  std::vector<double> values(count);
  for (double& value : values) value = normal(loc, scale);
  return values;
}

// Uniform on 0..last by drawing as many bits as last has until they fit: what NumPy's shuffle does, unlike its integers.
std::size_t Generator::masked(std::uint64_t last) {
  const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(last);
  const bool half = last <= std::numeric_limits<std::uint32_t>::max();
  for (;;) {
    const std::uint64_t draw = (half ? next32() : next64()) & mask;
    if (draw <= last) return static_cast<std::size_t>(draw);
  }
}

void Generator::shuffle(std::span<std::int64_t> values) {
  for (std::size_t last = values.size(); last-- > 1;) std::swap(values[last], values[masked(last)]);
}

std::vector<std::int64_t> Generator::permutation(std::int64_t n) {
  std::vector<std::int64_t> values(n > 0 ? static_cast<std::size_t>(n) : 0);
  std::iota(values.begin(), values.end(), std::int64_t{0});
  shuffle(values);
  return values;
}

}  // namespace linearmem
