#include "claim_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ostream>

#include "settings.hpp"

namespace linearmem::cli {
namespace {

const char* kind_name(CheckKind kind) {
  switch (kind) {
    case CheckKind::value: return "value";
    case CheckKind::residual: return "residual";
    case CheckKind::exact: return "exact";
    case CheckKind::stated: return "stated";
  }
  return "";
}

const char* verdict(bool pass) { return pass ? "pass" : "FAIL"; }

nlohmann::ordered_json to_json(const Check& check) {
  return {{"quantity", check.quantity}, {"kind", kind_name(check.kind)}, {"expected", check.expected}, {"got", check.got},
          {"error", check.error},       {"tolerance", check.tolerance},  {"relative", check.relative}, {"unit", check.unit},
          {"condition", check.condition}, {"pass", check.pass},        {"digits", check.digits}};
}

// "got 1.1e-16, error 1.1e-16, allowed 1e-12"
std::string comparison(const Check& check) {
  const std::string unit = check.unit.empty() ? "" : " " + check.unit;
  const std::string got = "got " + number_text(check.got) + unit;
  if (check.kind == CheckKind::stated) return "expected " + check.condition + ", " + got;
  const std::string allowed =
      check.kind == CheckKind::exact ? "exact" : "allowed " + number_text(check.tolerance) + (check.relative ? " relative" : "");
  return "expected " + number_text(check.expected) + unit + ", " + got + ", error " + number_text(check.error) + ", " + allowed;
}

std::string milliseconds_text(double milliseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", milliseconds);
  return text;
}

ClaimRun run_timed(const Claim& claim, const Mistakes& mistakes) {
  const auto start = std::chrono::steady_clock::now();
  ClaimResult result = run_claim(claim, mistakes);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return {&claim, std::move(result), time.count()};
}

Result<Mistakes> mistakes_named(const std::vector<std::string>& names) {
  Mistakes mistakes;
  for (const std::string& name : names) {
    const auto mistake = find_mistake(name);
    if (!mistake.ok()) return mistake.status();
    mistakes.insert(mistake.value());
  }
  return mistakes;
}

}  // namespace

Result<std::vector<ClaimRun>> run_claims(const std::vector<std::string>& ids, const std::vector<std::string>& mistake_names) {
  const auto mistakes = mistakes_named(mistake_names);
  if (!mistakes.ok()) return mistakes.status();
  std::vector<const Claim*> chosen;
  for (const std::string& id : ids) {
    const auto claim = find_claim(id);
    if (!claim.ok()) return claim.status();
    chosen.push_back(claim.value());
  }
  if (ids.empty())
    for (const Claim& claim : claims()) chosen.push_back(&claim);
  std::vector<ClaimRun> runs;
  for (const Claim* claim : chosen) runs.push_back(run_timed(*claim, mistakes.value()));
  return runs;
}

bool all_pass(const std::vector<ClaimRun>& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const ClaimRun& run) { return run.result.pass; });
}

nlohmann::ordered_json to_json(const ClaimRun& run) {
  const Claim& claim = *run.claim;
  nlohmann::ordered_json checks = nlohmann::ordered_json::array();
  for (const Check& check : run.result.checks) checks.push_back(to_json(check));
  return {{"id", claim.id},         {"room", claim.room},      {"statement", claim.statement},     {"source", claim.source},
          {"inputs", claim.inputs}, {"pass", run.result.pass}, {"milliseconds", run.milliseconds}, {"checks", std::move(checks)}};
}

void print(std::ostream& out, const ClaimRun& run) {
  const Claim& claim = *run.claim;
  out << claim.id << "  " << verdict(run.result.pass) << "  " << claim.statement << "  (" << milliseconds_text(run.milliseconds) << ")\n"
      << "      source: " << claim.source << "\n";
  for (const Check& check : run.result.checks)
    out << "      " << check.quantity << ": " << comparison(check) << ": " << verdict(check.pass) << "\n";
}

}  // namespace linearmem::cli
