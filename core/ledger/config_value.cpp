#include "ledger/sentence.hpp"
#include "ledger/config_value.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "foundation/number_text.hpp"

namespace linearmem {
namespace {

using Kind = ConfigValue::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The value of decimal digits with a point and an exponent; exact for up to 15 digits and powers of ten up to 22.
double decimal(std::string_view digits, int exponent) {
  double value = 0;
  for (char digit : digits) value = value * 10 + (digit - '0');
  if (value == 0) return 0;
  for (; exponent > 0 && std::isfinite(value); exponent -= std::min(exponent, 22)) value *= std::pow(10.0, std::min(exponent, 22));
  for (; exponent < 0 && value > 0; exponent += std::min(-exponent, 22)) value /= std::pow(10.0, std::min(-exponent, 22));
  return value;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto byte = [&](std::uint32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) return byte(code);
  if (code < 0x800)
    byte(0xC0 | code >> 6);
  else if (code < 0x10000)
    byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F));
  else
    byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F));
  byte(0x80 | (code & 0x3F));
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<ConfigValue> read() {
    ConfigValue value;
    skip_blanks();
    if (read_value(value, 0)) {
      skip_blanks();
      if (at_ == text_.size()) return value;
      fail("something follows the value");
    }
    return Status::invalid(sentence({"config: offset ", failed_at_, ": ", reason_}));
  }

 private:
  bool fail(std::string reason) {
    if (reason_.empty()) {
      reason_ = std::move(reason);
      failed_at_ = at_;
    }
    return false;
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char wanted) { return next() == wanted && at_ < text_.size() ? (++at_, true) : false; }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }

  bool read_value(ConfigValue& value, int depth) {
    if (++values_ > kMostConfigValues) return fail(sentence({"more than ", kMostConfigValues, " values"}));
    if (at_ == text_.size()) return fail("the text ends where a value should stand");
    switch (next()) {
      case '{':
        return read_object(value, depth + 1);
      case '[':
        return read_list(value, depth + 1);
      case '"':
        value.kind = Kind::text;
        return read_text(value.text);
      default:
        return read_word(value) || (reason_.empty() && read_number(value));
    }
  }

  bool read_word(ConfigValue& value) {
    struct Word {
      std::string_view text;
      Kind kind;
      bool boolean;
      double real;
    };
    const Word words[] = {
        {"true", Kind::boolean, true, 0},          {"false", Kind::boolean, false, 0},          {"null", Kind::null, false, 0},
        {"Infinity", Kind::real, false, HUGE_VAL}, {"-Infinity", Kind::real, false, -HUGE_VAL}, {"NaN", Kind::real, false, std::nan("")}};
    for (const Word& word : words)
      if (take_word(word.text)) {
        value.kind = word.kind;
        value.boolean = word.boolean;
        value.real = word.real;
        return true;
      }
    return false;
  }

  std::string_view digits() {
    const std::size_t start = at_;
    while (is_digit(next())) ++at_;
    return text_.substr(start, at_ - start);
  }

  bool read_number(ConfigValue& value) {
    const bool negative = take('-');
    const std::size_t start = at_;
    std::string mantissa(digits());
    if (mantissa.empty()) return fail(negative ? "no digit after the minus" : "no value starts here");
    if (mantissa.size() > 1 && mantissa[0] == '0') return at_ = start, fail("a number starts with 0");
    if (mantissa.size() > 400) return at_ = start, fail("a number of more than 400 digits");
    value.kind = Kind::whole;
    int exponent = 0;
    if (take('.')) {
      const std::string_view fraction = digits();
      if (fraction.empty()) return fail("no digit after the point");
      if (fraction.size() > 400) return at_ = start, fail("a number of more than 400 digits");
      mantissa += fraction;
      exponent = -static_cast<int>(fraction.size());
      value.kind = Kind::real;
    }
    if (next() == 'e' || next() == 'E') {
      ++at_;
      const bool small = next() == '-';
      if (small || next() == '+') ++at_;
      const std::string_view power = digits();
      if (power.empty() || power.size() > 4) return fail(sentence({"the exponent has ", power.size(), " digits, must have 1 to 4"}));
      int size = 0;
      for (char digit : power) size = size * 10 + (digit - '0');
      exponent += small ? -size : size;
      value.kind = Kind::real;
    }
    value.real = decimal(mantissa, exponent) * (negative ? -1 : 1);
    if (value.kind == Kind::whole) read_whole(value, mantissa, negative);
    return true;
  }

  // Beyond 64 bits it is only a real number.
  static void read_whole(ConfigValue& value, std::string_view mantissa, bool negative) {
    std::int64_t whole = 0;
    for (char digit : mantissa) {
      const std::int64_t step = negative ? '0' - digit : digit - '0';
      if (__builtin_mul_overflow(whole, std::int64_t{10}, &whole) || __builtin_add_overflow(whole, step, &whole)) {
        value.kind = Kind::real;
        return;
      }
    }
    value.whole = whole;
  }

  std::optional<std::uint32_t> four_hex() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = next();
      const int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
      if (digit < 0) return std::nullopt;
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    return code;
  }

  bool read_escape(std::string& text) {
    const char letter = next();
    ++at_;
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t known = kLetters.find(letter); known != std::string_view::npos && letter != '\0')
      return text += kMeanings[known], true;
    if (letter != 'u') return --at_, fail("an unknown escape");
    auto code = four_hex();
    if (!code) return fail("\\u needs four hexadecimal digits");
    if (*code >= 0xD800 && *code < 0xDC00 && take_word("\\u")) {
      const auto low = four_hex();
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return fail("half of a surrogate pair");
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    }
    if (*code >= 0xD800 && *code <= 0xDFFF) return fail("half of a surrogate pair");
    append_utf8(text, *code);
    return true;
  }

  // One character of UTF-8, shortest form, no surrogates.
  bool read_character(std::string& text) {
    const auto first = static_cast<unsigned char>(next());
    const int more = first < 0x80                    ? 0
                     : first >= 0xC2 && first < 0xE0 ? 1
                     : (first & 0xF0) == 0xE0        ? 2
                     : first >= 0xF0 && first < 0xF5 ? 3
                                                     : -1;
    if (first < 0x20) return fail("a control character in a text");
    if (more < 0 || at_ + static_cast<std::size_t>(more) >= text_.size()) return fail("not UTF-8");
    std::uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    for (int i = 1; i <= more; ++i) {
      const auto byte = static_cast<unsigned char>(text_[at_ + static_cast<std::size_t>(i)]);
      if ((byte & 0xC0) != 0x80) return fail("not UTF-8");
      code = code << 6 | (byte & 0x3F);
    }
    if ((more == 2 && (code < 0x800 || (code >= 0xD800 && code <= 0xDFFF))) || (more == 3 && (code < 0x10000 || code > 0x10FFFF)))
      return fail("not UTF-8");
    text += text_.substr(at_, static_cast<std::size_t>(more) + 1);
    at_ += static_cast<std::size_t>(more) + 1;
    return true;
  }

  bool read_text(std::string& text) {
    ++at_;
    while (!take('"')) {
      if (at_ == text_.size()) return fail("the text ends within a text");
      if (take('\\') ? !read_escape(text) : !read_character(text)) return false;
    }
    return true;
  }

  bool deeper(int depth) {
    if (depth > kMostConfigDepth) return fail(sentence({"nested more than ", kMostConfigDepth, " deep"}));
    ++at_;
    skip_blanks();
    return true;
  }

  bool read_list(ConfigValue& value, int depth) {
    value.kind = Kind::list;
    if (!deeper(depth)) return false;
    if (take(']')) return true;
    do {
      skip_blanks();
      value.items.emplace_back();
      if (!read_value(value.items.back(), depth)) return false;
      skip_blanks();
    } while (take(','));
    return take(']') || fail("a list goes on with , or ends with ]");
  }

  bool read_object(ConfigValue& value, int depth) {
    value.kind = Kind::object;
    if (!deeper(depth)) return false;
    if (take('}')) return true;
    do {
      skip_blanks();
      if (next() != '"') return fail("an object's name is a text");
      value.names.emplace_back();
      if (!read_text(value.names.back())) return false;
      skip_blanks();
      if (!take(':')) return fail("after an object's name stands :");
      skip_blanks();
      value.items.emplace_back();
      if (!read_value(value.items.back(), depth)) return false;
      skip_blanks();
    } while (take(','));
    return (take('}') || fail("an object goes on with , or ends with }")) && names_differ(value);
  }

  bool names_differ(const ConfigValue& value) {
    std::vector<std::string_view> sorted(value.names.begin(), value.names.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    return twice == sorted.end() || fail(sentence({"before here \"", twice->substr(0, 60), "\" is given twice"}));
  }

  std::string_view text_;
  std::size_t at_ = 0, failed_at_ = 0;
  std::string reason_;
  int values_ = 0;
};

}  // namespace

std::string in_words(const ConfigValue& value) {
  switch (value.kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return value.boolean ? "true" : "false";
    case Kind::whole:
      return std::to_string(value.whole);
    case Kind::real:
      return number_text(value.real);
    case Kind::text:
      return "the text \"" + value.text.substr(0, 60) + "\"";
    case Kind::list:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return "";
}

Result<ConfigValue> read_config_value(std::string_view json) {
  if (json.size() > kMostConfigBytes)
    return Status::invalid(sentence({"config: it has ", json.size(), " bytes, at most ", kMostConfigBytes, " are read"}));
  return Reader(json).read();
}

}  // namespace linearmem
