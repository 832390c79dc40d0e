// SeedSequence: entropy words are hashed into a pool of four, every pool word into every other, and the pool into state.
#include "linearmem/random.hpp"

namespace linearmem {
namespace {

// A word is mixed with a running constant, so that equal words at different places hash differently.
class Hash {
 public:
  Hash(std::uint32_t start, std::uint32_t factor) : constant_(start), factor_(factor) {}

  std::uint32_t operator()(std::uint32_t word) {
    word ^= constant_;
    constant_ *= factor_;
    word *= constant_;
    return word ^ (word >> 16);
  }

 private:
  std::uint32_t constant_, factor_;
};

std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t mixed = 0xca01f9ddu * x - 0x4973f715u * y;
  return mixed ^ (mixed >> 16);
}

std::array<std::uint32_t, 2> halves(std::uint64_t entropy) {
  return {static_cast<std::uint32_t>(entropy), static_cast<std::uint32_t>(entropy >> 32)};
}

}  // namespace

// A zero high word changes nothing: the pool is padded with zeros anyway.
SeedSequence::SeedSequence(std::uint64_t entropy) : SeedSequence(std::span<const std::uint32_t>(halves(entropy))) {}

SeedSequence::SeedSequence(std::span<const std::uint32_t> words) {
  Hash hash(0x43b0d7e5u, 0x931e8875u);
  for (std::size_t i = 0; i < pool_.size(); ++i) pool_[i] = hash(i < words.size() ? words[i] : 0);
  for (std::size_t from = 0; from < pool_.size(); ++from) {
    for (std::size_t to = 0; to < pool_.size(); ++to) {
      if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from]));
    }
  }
  for (std::size_t from = pool_.size(); from < words.size(); ++from) {
    for (std::uint32_t& word : pool_) word = mix(word, hash(words[from]));
  }
}

std::vector<std::uint32_t> SeedSequence::generate_state32(std::size_t count) const {
  Hash hash(0x8b51f9ddu, 0x58f38dedu);
  std::vector<std::uint32_t> state(count);
  for (std::size_t i = 0; i < count; ++i) state[i] = hash(pool_[i % pool_.size()]);
  return state;
}

std::vector<std::uint64_t> SeedSequence::generate_state64(std::size_t count) const {
  const std::vector<std::uint32_t> words = generate_state32(2 * count);
  std::vector<std::uint64_t> state(count);
  for (std::size_t i = 0; i < count; ++i) state[i] = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
  return state;
}

}  // namespace linearmem
