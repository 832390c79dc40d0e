#include "ledger/sentence.hpp"

namespace linearmem {

void SentencePart::append_to(std::string& sentence) const {
  if (is_number_)
    sentence += std::to_string(number_);
  else
    sentence += text_;
}

std::string sentence(SentenceParts parts) {
  std::string text;
  for (const SentencePart& part : parts) part.append_to(text);
  return text;
}

}  // namespace linearmem
