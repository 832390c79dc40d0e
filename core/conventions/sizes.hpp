// The sizes behind the letters of a convention's axes, learnt from the shapes that were handed over and from options. An axis that packs
// several letters, "Hq*K", gives the one that is not known yet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "linearmem/status.hpp"

namespace linearmem {

using AxisLetters = std::vector<std::string>;  // of one axis; none: an axis of size 1

std::vector<AxisLetters> parse_axes(const char* axes);  // "B T Hq*K 1" -> {B} {T} {Hq,K} {}

// An axis of ours: "Hkv>Hq" is Hkv heads repeated to Hq; "H" is H as it is; "1" is an axis of size 1, its base empty.
struct OurAxis {
  std::string base, repeated;
  const std::string& size() const { return repeated.empty() ? base : repeated; }
};

std::vector<OurAxis> parse_our_axes(const char* axes);

class Sizes {
 public:
  explicit Sizes(std::string door) : door_(std::move(door)) {}

  // Refuses a size that differs from the one known: "onnx delta-rule: K differs: query has 4, key has 3".
  Status define(const std::string& letter, const std::string& who, std::int64_t size);
  std::optional<std::int64_t> find(const std::string& letter) const;
  std::int64_t at(const std::string& letter) const { return letter.empty() ? 1 : *find(letter); }

  // What the shape tells. Sets `open` when an axis packs two letters or more that are not known yet.
  Status learn(const std::string& who, const char* axes, const std::vector<std::int64_t>& shape, bool& open);
  Status learn_ours(const std::string& who, const char* axes, const std::vector<std::int64_t>& shape);

  // Whether the shape is what the axes say, as far as the letters are known.
  bool fits(const char* axes, const std::vector<std::int64_t>& shape) const;

  // Refuses a size that is not a multiple of the other, or a multiple of 0.
  Status check_multiple(const std::string& letter, const std::string& of) const;

  std::string in_words() const;  // "; K = 2, T = 3"
  const std::string& door() const { return door_; }

 private:
  struct Known {
    std::int64_t size;
    std::string who;
  };
  std::string described(const std::string& letter) const;
  Status learn_axis(const std::string& who, const AxisLetters& letters, std::int64_t extent, bool& open);

  std::string door_;
  std::map<std::string, Known> known_;
};

}  // namespace linearmem
