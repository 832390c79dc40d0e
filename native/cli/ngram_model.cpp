#include "ngram_model.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "linearmem/random.hpp"

namespace linearmem::cli {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool within = false;
  for (char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool part = byte >= 0x80 || std::isalnum(byte) || letter == '\'';
    if (part && within) words.back() += static_cast<char>(std::tolower(byte));
    else if (part || (byte > 0x20 && byte < 0x7f)) words.emplace_back(1, static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte));
    within = part;
  }
  return words;
}

std::vector<std::int64_t> Vocabulary::numbers_of(const std::vector<std::string>& words) {
  std::vector<std::int64_t> numbers;
  for (const std::string& word : words) numbers.push_back(numbers_.try_emplace(word, size()).first->second);
  return numbers;
}

void NgramModel::count(std::span<const std::int64_t> tokens) {
  for (std::size_t at = 0; at < tokens.size(); ++at)
    for (std::size_t before = 0; before < static_cast<std::size_t>(order_) && before <= at; ++before) {
      Followers& followers =
          contexts_[{tokens.begin() + static_cast<std::ptrdiff_t>(at - before), tokens.begin() + static_cast<std::ptrdiff_t>(at)}];
      ++followers.all;
      ++followers.of[tokens[at]];
    }
}

double NgramModel::probability(std::span<const std::int64_t> tokens, std::size_t at) const {
  double probability = 1.0 / static_cast<double>(vocabulary_);
  for (std::size_t before = 0; before < static_cast<std::size_t>(order_) && before <= at; ++before) {
    const auto found =
        contexts_.find({tokens.begin() + static_cast<std::ptrdiff_t>(at - before), tokens.begin() + static_cast<std::ptrdiff_t>(at)});
    if (found == contexts_.end()) break;  // nor are longer ones there
    const Followers& followers = found->second;
    const auto follower = followers.of.find(tokens[at]);
    const double times = follower == followers.of.end() ? 0 : static_cast<double>(follower->second),
                 kinds = static_cast<double>(followers.of.size());
    probability = (times + kinds * probability) / (static_cast<double>(followers.all) + kinds);
  }
  return probability;
}

std::vector<float> context_key(std::span<const std::int64_t> tokens, std::size_t at, std::int64_t words, std::int64_t dimension) {
  std::vector<double> key(static_cast<std::size_t>(dimension));
  for (std::int64_t j = 1; j <= words && static_cast<std::size_t>(j) <= at; ++j) {
    Generator generator(static_cast<std::uint64_t>(tokens[at - static_cast<std::size_t>(j)]) * 64 + static_cast<std::uint64_t>(j));
    const std::vector<double> direction = generator.normal_vector(key.size());
    double square = 0;
    for (double value : direction) square += value * value;
    const double weight = std::ldexp(1.0, static_cast<int>(1 - j)) / std::sqrt(square);
    for (std::size_t d = 0; d < key.size(); ++d) key[d] += weight * direction[d];
  }
  return {key.begin(), key.end()};
}

}  // namespace linearmem::cli
