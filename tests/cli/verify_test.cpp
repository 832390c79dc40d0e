// linearmem verify: exit codes, both outputs, mistakes, refusals.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "linearmem/claims.hpp"
#include "linearmem/target.hpp"

namespace linearmem {
namespace {

TEST(Verify, AllClaimsPassAndTheSummarySaysSo) {
  const test::Outcome outcome = test::linearmem({"verify"});
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  const std::string count = std::to_string(claims().size());
  EXPECT_NE(outcome.out.find("\n" + count + " claims: " + count + " passed, 0 failed\n"), std::string::npos) << outcome.out;
  for (const Claim& claim : claims()) {
    EXPECT_NE(outcome.out.find(std::string(claim.id) + "  pass  " + claim.statement), std::string::npos) << claim.id;
    EXPECT_NE(outcome.out.find(std::string("source: ") + claim.source), std::string::npos) << claim.id;
  }
}

TEST(Verify, OnlyTheNamedClaimsRun) {
  const test::Outcome outcome = test::linearmem({"verify", "LM01", "LM11"});
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_EQ(outcome.out.find("LM08"), std::string::npos);
  EXPECT_NE(outcome.out.find("2 claims: 2 passed, 0 failed"), std::string::npos);
  EXPECT_NE(outcome.out.find("expected 32 MiB, got 32 MiB, error 0, exact: pass"), std::string::npos) << outcome.out;
}

TEST(Verify, JsonHasEveryClaimAndCheck) {
  const test::Outcome outcome = test::linearmem({"verify", "--json"});
  EXPECT_EQ(outcome.code, 0);
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["build_id"], build_id());
  EXPECT_EQ(report["passed"], claims().size());
  EXPECT_EQ(report["failed"], 0);
  ASSERT_EQ(report["claims"].size(), claims().size());
  for (std::size_t i = 0; i < claims().size(); ++i) {
    const auto& entry = report["claims"][i];
    const ClaimResult here = run_claim(claims()[i]);
    EXPECT_EQ(entry["id"], claims()[i].id);
    EXPECT_EQ(entry["source"], claims()[i].source);
    EXPECT_GE(entry["milliseconds"].get<double>(), 0);
    ASSERT_EQ(entry["checks"].size(), here.checks.size()) << claims()[i].id;
    for (std::size_t c = 0; c < here.checks.size(); ++c) {
      EXPECT_EQ(entry["checks"][c]["digits"], here.checks[c].digits) << claims()[i].id;
      EXPECT_EQ(entry["checks"][c]["got"].get<double>(), here.checks[c].got) << claims()[i].id;
      EXPECT_EQ(entry["checks"][c]["pass"], true) << claims()[i].id;
    }
  }
}

TEST(Verify, AMistakeMakesItsClaimFail) {
  const test::Outcome text = test::linearmem({"verify", "LM08", "--mistake", "half-beta"});
  EXPECT_EQ(text.code, 1);
  EXPECT_NE(text.out.find("with the mistake half-beta"), std::string::npos);
  EXPECT_NE(text.out.find("LM08  FAIL"), std::string::npos);
  EXPECT_NE(text.out.find("1 claim: 0 passed, 1 failed"), std::string::npos);
  const test::Outcome json = test::linearmem({"verify", "--json", "--mistake", "half-beta", "--mistake", "no-forgetting"});
  EXPECT_EQ(json.code, 1);
  const auto report = nlohmann::json::parse(json.out);
  EXPECT_GE(report["failed"].get<int>(), 2);
  EXPECT_EQ(report["mistakes"], (nlohmann::json{"half-beta", "no-forgetting"}));
}

TEST(Verify, RefusesUnknownClaimsAndMistakes) {
  EXPECT_NE(test::refused({"verify", "LM99"}).find("LM99"), std::string::npos);
  EXPECT_NE(test::refused({"verify", "LM01", "lm02"}).find("lm02"), std::string::npos);
  const std::string message = test::refused({"verify", "--mistake", "no-coffee"});
  EXPECT_NE(message.find("no-coffee"), std::string::npos);
  EXPECT_NE(message.find("half-beta"), std::string::npos);
  EXPECT_NE(test::refused({"verify", "--yaml"}).find("--yaml"), std::string::npos);
}

}  // namespace
}  // namespace linearmem
