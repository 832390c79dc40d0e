// Many normal numbers at once: the generator's state stays in registers, and only draws that fall outside the inner part of their
// layer go through Generator::standard_normal.
#include <bit>

#include "foundation/random_ziggurat.hpp"
#include "linearmem/random.hpp"

namespace linearmem {
namespace {

// The high word of a product. WebAssembly has no 128-bit multiply and would call a function for it.
inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
#if defined(__wasm__)
  const std::uint64_t low = 0xffffffff, a_low = a & low, a_high = a >> 32, b_low = b & low, b_high = b >> 32;
  const std::uint64_t first = a_high * b_low + (a_low * b_low >> 32), second = a_low * b_high + (first & low);
  return a_high * b_high + (first >> 32) + (second >> 32);
#else
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
#endif
}

}  // namespace

std::size_t Pcg64::quick_normals(double* values, std::size_t count) {
  constexpr std::uint64_t kHigh = 2549297995355413924u, kLow = 4865540595714422341u;
  std::uint64_t high = state_.high, low = state_.low;
  std::size_t done = 0;
  for (; done < count; ++done) {
    const std::uint64_t next_low = low * kLow + increment_.low;
    const std::uint64_t carry = next_low < increment_.low ? 1 : 0;
    const std::uint64_t next_high = high * kLow + low * kHigh + high_product(low, kLow) + increment_.high + carry;
    const std::uint64_t draw = std::rotr(next_high ^ next_low, static_cast<int>(next_high >> 58));
    const std::uint64_t place = draw >> 9 & 0xfffffffffffff;
    if (place >= ziggurat_inside[draw & 0xff]) break;
    const double size = static_cast<double>(static_cast<std::int64_t>(place)) * ziggurat_width[draw & 0xff];
    values[done] = draw >> 8 & 1 ? -size : size;
    high = next_high;
    low = next_low;
  }
  state_ = {high, low};
  return done;
}

void Generator::fill_normal(std::span<double> values) {
  for (std::size_t at = 0; at < values.size();) {
    at += bits_.quick_normals(values.data() + at, values.size() - at);
    if (at < values.size()) values[at++] = standard_normal();
  }
}

}  // namespace linearmem
