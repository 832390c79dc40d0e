// A small language model that needs no training but counting: words of up to `order` - 1 before, interpolated from the longest down
// (Witten & Bell 1991, as in Chen & Goodman 1998).
//
//   P(w | h) = (c(h w) + n(h) P(w | h')) / (c(h) + n(h))
//
// c: how often; n(h): how many different words followed h; h': h without its first word; under the last stands 1/V.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace linearmem::cli {

// Words in lower case and single signs; what is not ASCII belongs to words.
std::vector<std::string> words_of(std::string_view text);

// Words and their numbers, in the order in which they were first met.
class Vocabulary {
 public:
  std::vector<std::int64_t> numbers_of(const std::vector<std::string>& words);  // new words get new numbers
  std::int64_t size() const { return static_cast<std::int64_t>(numbers_.size()); }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
};

class NgramModel {
 public:
  NgramModel(std::int64_t order, std::int64_t vocabulary) : order_(order), vocabulary_(vocabulary) {}

  void count(std::span<const std::int64_t> tokens);
  // The probability of tokens[at] after those before it.
  double probability(std::span<const std::int64_t> tokens, std::size_t at) const;

 private:
  struct Followers {
    std::int64_t all = 0;
    std::map<std::int64_t, std::int64_t> of;
  };
  std::int64_t order_, vocabulary_;
  std::map<std::vector<std::int64_t>, Followers> contexts_;
};

// The model's context as a key: for each of the `words` before, the nearer the heavier, a direction of its word and place.
//   key = sum_j 2^-j r(word j before, j), r of length 1, drawn once for each word and place
// Contexts that end in the same words are near each other.
std::vector<float> context_key(std::span<const std::int64_t> tokens, std::size_t at, std::int64_t words, std::int64_t dimension);

}  // namespace linearmem::cli
