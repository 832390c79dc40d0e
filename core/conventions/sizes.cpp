#include "conventions/sizes.hpp"

#include "foundation/shape_check.hpp"

namespace linearmem {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Status wrong_rank(const std::string& door, const std::string& who, const char* axes, std::size_t rank) {
  const std::size_t wanted = axis_letters(axes).size();
  return Status::invalid(door + ": " + who + " is " + bracketed_axes(axes) + ", " + std::to_string(wanted) +
                         (wanted == 1 ? " axis" : " axes") + "; the tensor has " + std::to_string(rank));
}

}  // namespace

std::vector<AxisLetters> parse_axes(const char* axes) {
  std::vector<AxisLetters> parsed;
  for (const std::string& axis : axis_letters(axes)) parsed.push_back(axis == "1" ? AxisLetters{} : split(axis, '*'));
  return parsed;
}

std::vector<OurAxis> parse_our_axes(const char* axes) {
  std::vector<OurAxis> parsed;
  for (const std::string& axis : axis_letters(axes)) {
    const std::vector<std::string> parts = split(axis, '>');
    parsed.push_back({parts[0] == "1" ? "" : parts[0], parts.size() > 1 ? parts[1] : ""});
  }
  return parsed;
}

Status Sizes::define(const std::string& letter, const std::string& who, std::int64_t size) {
  const auto [known, added] = known_.try_emplace(letter, Known{size, who});
  if (added || known->second.size == size) return {};
  return Status::invalid(door_ + ": " + letter + " differs: " + known->second.who + " has " + std::to_string(known->second.size) + ", " +
                         who + " has " + std::to_string(size));
}

std::optional<std::int64_t> Sizes::find(const std::string& letter) const {
  const auto known = known_.find(letter);
  if (known == known_.end()) return std::nullopt;
  return known->second.size;
}

std::string Sizes::described(const std::string& letter) const { return letter + " = " + std::to_string(at(letter)); }

Status Sizes::learn_axis(const std::string& who, const AxisLetters& letters, std::int64_t extent, bool& open) {
  if (letters.empty()) {
    if (extent == 1) return {};
    return Status::invalid(door_ + ": " + who + " has " + std::to_string(extent) + " where an axis of size 1 is");
  }
  std::string asked, others;
  int unknown = 0;
  for (const std::string& letter : letters)
    if (!find(letter)) {
      asked = letter;
      ++unknown;
    }
  if (unknown > 1) {
    open = true;
    return {};
  }
  if (unknown == 0) asked = letters.back();
  std::int64_t product = 1;
  for (const std::string& letter : letters)
    if (letter != asked) {
      product *= at(letter);
      others += (others.empty() ? "" : ", ") + described(letter);
    }
  if (product == 0 && extent == 0) {
    open = true;
    return {};
  }
  if (product == 0 || extent % product != 0)
    return Status::invalid(door_ + ": " + who + " has " + std::to_string(extent) + " in an axis that holds " + asked + " for each of " +
                           others);
  return define(asked, who, extent / product);
}

Status Sizes::learn(const std::string& who, const char* axes, const std::vector<std::int64_t>& shape, bool& open) {
  const std::vector<AxisLetters> parsed = parse_axes(axes);
  if (parsed.size() != shape.size()) return wrong_rank(door_, who, axes, shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (Status status = learn_axis(who, parsed[axis], shape[axis], open); !status.ok()) return status;
  return {};
}

Status Sizes::learn_ours(const std::string& who, const char* axes, const std::vector<std::int64_t>& shape) {
  const std::vector<OurAxis> parsed = parse_our_axes(axes);
  if (parsed.size() != shape.size()) return wrong_rank(door_, who, axes, shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    bool open = false;
    const std::string& letter = parsed[axis].size();
    if (Status status = learn_axis(who, letter.empty() ? AxisLetters{} : AxisLetters{letter}, shape[axis], open); !status.ok()) return status;
  }
  return {};
}

bool Sizes::fits(const char* axes, const std::vector<std::int64_t>& shape) const {
  Sizes trial = *this;
  bool open = false;
  return trial.learn("", axes, shape, open).ok();
}

std::string Sizes::in_words() const {
  std::string words;
  for (const auto& [letter, known] : known_) words += (words.empty() ? "; " : ", ") + letter + " = " + std::to_string(known.size);
  return words;
}

Status Sizes::check_multiple(const std::string& letter, const std::string& of) const {
  const std::int64_t size = at(letter), divisor = at(of);
  if (divisor > 0 && size % divisor == 0) return {};
  return Status::invalid(door_ + ": " + described(letter) + " is not a multiple of " + described(of) + " (" + known_.at(letter).who + ", " +
                         (known_.count(of) ? known_.at(of).who : std::string("one")) + ")");
}

}  // namespace linearmem
