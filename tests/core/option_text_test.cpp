// Option texts: which are numbers, whole numbers, booleans and choices, what they are worth, and how the others are refused.
#include "mechanisms/option_text.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <utility>

#include "foundation/number_text.hpp"

namespace linearmem {
namespace {

const OptionSpec kNumber = {"eps", OptionKind::number, "1e-6", ""}, kWhole = {"limit", OptionKind::integer, "none", ""},
                 kSwitch = {"causal", OptionKind::boolean, "true", ""}, kChoice = {"feature", OptionKind::choice, "elu1", "", {"elu1", "relu"}},
                 kText = {"layers", OptionKind::text, "window", ""};

RunSettings with(const OptionSpec& spec, const std::string& text) { return {.options = {{spec.name, text}}}; }

TEST(OptionText, WholeNumbersFillAllOf64BitsAndNoMore) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::pair<const char*, std::int64_t> good[] = {{"0", 0}, {"-0", 0}, {"007", 7}, {"-12", -12},
                                                       {"9223372036854775807", Limits::max()}, {"-9223372036854775808", Limits::min()}};
  for (const auto& [text, value] : good) {
    EXPECT_TRUE(check_option(kWhole, text).ok()) << text;
    EXPECT_EQ(option_integer(with(kWhole, text), "limit"), value) << text;
  }
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "92233720368547758070", "", "-", "+5", "--5", "5 ", " 5", "4.5", "1e3", "0x10"})
    EXPECT_EQ(check_option(kWhole, text).message(), std::string("takes a whole number or none, got \"") + text + "\"");
}

TEST(OptionText, NumbersAreDecimalAndFinite) {
  const std::pair<const char*, double> good[] = {{"0.1", .1}, {"-2.5e-3", -2.5e-3}, {"+.5", .5}, {"1E3", 1000}, {"1e-400", 0}, {"3.", 3}};
  for (const auto& [text, value] : good) {
    EXPECT_TRUE(check_option(kNumber, text).ok()) << text;
    EXPECT_EQ(option_number(with(kNumber, text), "eps"), value) << text;
  }
  for (const char* text : {"", "inf", "nan", "1e999", "-1e999", "0x1p3", "1e", "1.2.3", "1,5", " 1", "1 ", "none", "."})
    EXPECT_EQ(check_option(kNumber, text).message(), std::string("takes a number, got \"") + text + "\"");
}

// A program with a window may have set its user's locale before it calls.
TEST(OptionText, NumbersHaveAPointInEveryLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  const char* comma = nullptr;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "pt_BR.UTF-8", "ru_RU.UTF-8"}) comma = comma ? comma : std::setlocale(LC_NUMERIC, name);
  const bool fits = check_option(kNumber, "2.5e-1").ok(), wrong = check_option(kNumber, "2,5").ok();
  const auto value = fits ? option_number(with(kNumber, "2.5e-1"), "eps") : std::nullopt;
  const std::string words = number_text(0.125), digits = number_text(1e-6, 17);
  std::setlocale(LC_NUMERIC, before.c_str());
  EXPECT_TRUE(fits);
  EXPECT_FALSE(wrong);
  EXPECT_EQ(value, 0.25);
  EXPECT_EQ(words, "0.125");
  EXPECT_EQ(digits, "9.9999999999999995e-07");
  if (!comma) GTEST_SKIP() << "no locale with a decimal comma is installed";
}

TEST(OptionText, NoneIsTakenWhereItIsTheDefault) {
  EXPECT_TRUE(check_option(kWhole, "none").ok());
  EXPECT_EQ(option_integer(with(kWhole, "none"), "limit"), std::nullopt);
  EXPECT_FALSE(check_option(kSwitch, "none").ok());
  EXPECT_FALSE(check_option(kChoice, "none").ok());
}

TEST(OptionText, WordsAreTakenAsTheyAre) {
  EXPECT_TRUE(option_boolean(with(kSwitch, "true"), "causal"));
  EXPECT_FALSE(option_boolean(with(kSwitch, "false"), "causal"));
  for (const char* text : {"True", "1", "yes", ""})
    EXPECT_EQ(check_option(kSwitch, text).message(), std::string("takes true or false, got \"") + text + "\"");
  EXPECT_TRUE(check_option(kChoice, "relu").ok());
  EXPECT_EQ(option_choice(with(kChoice, "relu"), "feature"), "relu");
  EXPECT_EQ(check_option(kChoice, "rel").message(), "takes one of elu1, relu, got \"rel\"");
  EXPECT_TRUE(check_option(kText, "anything, at all").ok());
}

}  // namespace
}  // namespace linearmem
