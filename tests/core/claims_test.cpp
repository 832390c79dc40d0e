// The registry of claims: every claim holds, every mistake that a claim names makes it fall, and nothing passes on NaN.
#include "linearmem/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "claims/checks.hpp"
#include "claims/memories.hpp"

namespace linearmem {
namespace {

std::string describe(const ClaimResult& result) {
  std::string text = result.id;
  for (const Check& check : result.checks)
    if (!check.pass) text += "\n  " + check.quantity + ": expected " + std::to_string(check.expected) + ", got " + std::to_string(check.got);
  return text;
}

TEST(Claims, EveryOneHolds) {
  for (const Claim& claim : claims()) {
    const ClaimResult result = run_claim(claim);
    EXPECT_TRUE(result.pass) << describe(result);
    EXPECT_FALSE(result.checks.empty()) << claim.id;
  }
}

TEST(Claims, EveryMistakeFellsTheClaimsThatNameIt) {
  std::set<Mistake> used;
  for (const Claim& claim : claims())
    for (Mistake mistake : claim.mistakes) {
      used.insert(mistake);
      EXPECT_FALSE(run_claim(claim, {mistake}).pass) << claim.id << " stands under mistake " << static_cast<int>(mistake);
    }
  EXPECT_EQ(used.size(), mistakes().size());
}

TEST(Claims, MistakesThatAClaimDoesNotNameLeaveItStanding) {
  for (const Claim& claim : claims()) {
    Mistakes others;
    for (const MistakeInfo& info : mistakes())
      if (std::find(claim.mistakes.begin(), claim.mistakes.end(), info.mistake) == claim.mistakes.end()) others.insert(info.mistake);
    EXPECT_TRUE(run_claim(claim, others).pass) << claim.id;
  }
}

TEST(Claims, AllAreHereInOrder) {
  std::vector<std::string> ids, expected;
  for (const auto& [prefix, last] : {std::pair("LM", 24), std::pair("AM", 22), std::pair("RM", 15)})
    for (int number = 1; number <= last; ++number) expected.push_back(prefix + std::string(number < 10 ? "0" : "") + std::to_string(number));
  for (const Claim& claim : claims()) ids.push_back(claim.id);
  EXPECT_EQ(ids, expected);
}

TEST(Claims, TheSameTwiceGivesTheSameNumbers) {
  for (const Claim& claim : claims()) {
    const ClaimResult first = run_claim(claim), second = run_claim(claim);
    for (std::size_t i = 0; i < first.checks.size(); ++i) EXPECT_EQ(first.checks[i].got, second.checks[i].got) << claim.id;
  }
}

TEST(Checks, NothingPassesOnNaN) {
  const double nan = std::nan("");
  EXPECT_FALSE(value_check("", 1, nan, 1e9).pass);
  EXPECT_FALSE(residual_check("", nan, 1e9).pass);
  EXPECT_FALSE(exact_check("", 0, nan).pass);
}

// A matrix that is NaN in any one place is NaN away from every other, wherever that place is.
TEST(Checks, NoLaterNumberHidesANaN) {
  for (std::int64_t at = 0; at < 4; ++at) {
    Matrix broken({2, 2}, 1.0);
    broken(at / 2, at % 2) = std::nan("");
    EXPECT_TRUE(std::isnan(largest_difference(broken, Matrix({2, 2})))) << at;
    EXPECT_TRUE(std::isnan(largest_difference(Matrix({2, 2}), broken))) << at;
  }
  EXPECT_TRUE(std::isnan(worse(std::nan(""), 1)));
  EXPECT_TRUE(std::isnan(worse(1, std::nan(""))));
  EXPECT_EQ(worse(1, 2), 2);
  EXPECT_EQ(worse(2, 1), 2);
  EXPECT_TRUE(std::isnan(largest_difference(Matrix({2, 2}), Matrix({2, 3}))));
}

TEST(Checks, DigitsAreThoseEveryTargetShares) {
  EXPECT_EQ(value_check("", 0.1, 0.123456789012345, 1).digits, "0");  // below the tolerance: noise
  EXPECT_EQ(value_check("", 0.1, 0.123456789012345, 1e-12).digits, "0.123456789");
  EXPECT_EQ(residual_check("", 3e-16, 1e-12).digits, "0");
  EXPECT_EQ(residual_check("", 0.25, 1e-12).digits, "0.25");
  EXPECT_EQ(exact_check("", 2, 2).digits, "2");
  EXPECT_EQ(stated_check("", "> 0", 1e-8, true).digits, "holds");
}

TEST(Claims, UnknownNamesAreRefusedByName) {
  EXPECT_EQ(find_claim("LM99").status().message().find("claim LM99 is not known"), 0u);
  EXPECT_EQ(find_mistake("haste").status().message().find("mistake haste is not one of read-before-write"), 0u);
}

}  // namespace
}  // namespace linearmem
