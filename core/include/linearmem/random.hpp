// NumPy's random stream, bit for bit: Generator(7) draws what numpy.random.default_rng(7) draws, on every target.
// SeedSequence (O'Neill's seed_seq mixing), PCG64 (XSL-RR 128/64), Lemire's bounded integers, the 256-layer ziggurat.
//
//   import numpy as np                         // linearmem::Generator rng(7);
//   rng = np.random.default_rng(7)
//   print(rng.standard_normal(), rng.random()) // rng.standard_normal(), rng.random()
//   print(rng.integers(0, 10))                 // rng.integers(0, 10).value()
//   print(rng.permutation(5))                  // rng.permutation(5)
//
// Sources: NumPy 1.17 and later, numpy/random; O'Neill 2014, "PCG"; Lemire 2019, "Fast random integer generation in an
// interval"; Marsaglia & Tsang 2000, "The ziggurat method". Numerics and limits: core/foundation/README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

// numpy.random.SeedSequence(entropy): turns any seed into well-mixed words.
class SeedSequence {
 public:
  explicit SeedSequence(std::uint64_t entropy);

  // SeedSequence([w0, w1, ...]). An integer of any size is its 32-bit words, lowest first: 2^64 is {0, 0, 1}.
  explicit SeedSequence(std::span<const std::uint32_t> words);

  std::vector<std::uint32_t> generate_state32(std::size_t count) const;  // .generate_state(count)
  std::vector<std::uint64_t> generate_state64(std::size_t count) const;  // .generate_state(count, numpy.uint64)

 private:
  std::array<std::uint32_t, 4> pool_{};
};

// numpy.random.PCG64: a 128-bit linear congruential state, permuted to 64 bits. Copying it copies the place in the stream.
class Pcg64 {
 public:
  explicit Pcg64(const SeedSequence& seed);

  std::uint64_t next64();  // .random_raw()
  std::uint32_t next32();  // the low half of a 64-bit draw; its high half is kept for the next call

  // Normal numbers from the draws that need no second one (98.5 % do not); stops before the first that does. Returns how many.
  std::size_t quick_normals(double* values, std::size_t count);

  // Where it stands, for whoever draws on from there elsewhere. A half kept by next32() is no part of it.
  struct Place {
    std::uint64_t state_high, state_low, increment_high, increment_low;
  };
  Place place() const { return {state_.high, state_.low, increment_.high, increment_.low}; }

 private:
  struct Wide {
    std::uint64_t high = 0, low = 0;
  };

  void step();

  Wide state_, increment_;
  std::uint32_t kept_half_ = 0;
  bool has_kept_half_ = false;
};

enum class Endpoint { excluded, included };

// numpy.random.Generator(PCG64(seed)). One call at a time or a whole vector: the same numbers in the same order.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : Generator(SeedSequence(seed)) {}  // numpy.random.default_rng(seed)
  explicit Generator(const SeedSequence& seed) : bits_(seed) {}

  std::uint64_t next64() { return bits_.next64(); }
  std::uint32_t next32() { return bits_.next32(); }
  Pcg64::Place place() const { return bits_.place(); }

  double random();                          // .random(): [0, 1), a multiple of 2^-53
  double uniform(double low, double high);  // .uniform(low, high); NaN, nothing drawn, when high - low is not finite
  double standard_normal();                 // .standard_normal()

  // .normal(loc, scale); NaN, nothing drawn, when scale is below 0 (NumPy raises there, as it does in uniform)
  double normal(double loc = 0, double scale = 1);

  // .integers(low, high, endpoint=...) of dtype int64. Error: no integer in the interval.
  Result<std::int64_t> integers(std::int64_t low, std::int64_t high, Endpoint endpoint = Endpoint::excluded);
  Result<std::vector<std::int64_t>> integer_vector(std::size_t count, std::int64_t low, std::int64_t high,
                                                   Endpoint endpoint = Endpoint::excluded);  // .integers(..., size=count)

  std::vector<double> normal_vector(std::size_t count, double loc = 0, double scale = 1);  // .normal(loc, scale, count)

  void fill_normal(std::span<double> values);  // .standard_normal(out=values): the same stream, at a third of the cost of single draws

  void shuffle(std::span<std::int64_t> values);            // .shuffle(values)
  std::vector<std::int64_t> permutation(std::int64_t n);  // .permutation(n); empty for n <= 0, as in NumPy

 private:
  std::uint64_t bounded(std::uint64_t last);  // uniform on 0..last, both included, as integers draws it
  std::size_t masked(std::uint64_t last);     // the same, as shuffle draws it; last >= 1

  Pcg64 bits_;
};

}  // namespace linearmem
