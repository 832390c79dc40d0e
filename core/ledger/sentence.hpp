// A sentence from its parts. One function does the joining, since each + of texts weighs in the module that a page waits for.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace linearmem {

class SentencePart {
 public:
  SentencePart(const char* text) : text_(text) {}
  SentencePart(std::string_view text) : text_(text) {}
  SentencePart(const std::string& text) : text_(text) {}
  template <std::integral T>
  SentencePart(T number) : number_(static_cast<std::int64_t>(number)), is_number_(true) {}

  void append_to(std::string& sentence) const;

 private:
  std::string_view text_;
  std::int64_t number_ = 0;
  bool is_number_ = false;
};

using SentenceParts = std::initializer_list<SentencePart>;

std::string sentence(SentenceParts parts);

}  // namespace linearmem
