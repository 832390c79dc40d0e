#include "associative_memory/checks.hpp"

namespace linearmem::associative {

void check_rule(ShapeCheck& shapes, const ResponseRule& rule) {
  const bool relu = rule.response == Response::relu, truncated = rule.response == Response::truncated_exp;
  const bool uses_beta = truncated || rule.response == Response::exp || rule.response == Response::softmax;
  shapes.require(!relu || (rule.power >= 1 && rule.power <= 16), "power is " + std::to_string(rule.power) + ", must be from 1 to 16");
  shapes.require(!truncated || (rule.terms >= 1 && rule.terms <= 17), "terms is " + std::to_string(rule.terms) + ", must be from 1 to 17");
  shapes.require(!uses_beta || std::isfinite(rule.beta), "beta is " + number_text(rule.beta) + ", must be finite");
  shapes.require(!rule.sharpen_beyond || *rule.sharpen_beyond >= 2,
                 "sharpen_beyond is " + std::to_string(rule.sharpen_beyond.value_or(0)) + ", must be at least 2 items");
}

}  // namespace linearmem::associative
