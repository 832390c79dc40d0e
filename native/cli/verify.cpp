// linearmem verify [ID...]: the claims, recomputed here. Exit code 1 when one fails.
#include <algorithm>
#include <iostream>
#include <memory>

#include "claim_run.hpp"
#include "linearmem/target.hpp"
#include "verb.hpp"

namespace linearmem::cli {
namespace {

struct VerifyArguments {
  std::vector<std::string> ids, mistakes;
  bool json = false;
};

Result<int> verify(const VerifyArguments& arguments) {
  const auto runs = run_claims(arguments.ids, arguments.mistakes);
  if (!runs.ok()) return runs.status();
  const auto passed = std::count_if(runs.value().begin(), runs.value().end(), [](const ClaimRun& run) { return run.result.pass; });
  const auto failed = static_cast<std::ptrdiff_t>(runs.value().size()) - passed;
  if (arguments.json) {
    nlohmann::ordered_json claims = nlohmann::ordered_json::array();
    for (const ClaimRun& run : runs.value()) claims.push_back(to_json(run));
    const nlohmann::ordered_json report = {
        {"build_id", build_id()}, {"simd_target", simd_target()}, {"mistakes", arguments.mistakes}, {"passed", passed},
        {"failed", failed},       {"claims", std::move(claims)}};
    std::cout << report.dump(2) << "\n";
  } else {
    for (const std::string& mistake : arguments.mistakes) std::cout << "with the mistake " << mistake << "\n";
    for (const ClaimRun& run : runs.value()) print(std::cout, run);
    std::cout << runs.value().size() << (runs.value().size() == 1 ? " claim: " : " claims: ") << passed << " passed, " << failed
              << " failed\n";
  }
  return failed == 0 ? kDone : kClaimFailed;
}

}  // namespace

void add_verify(CLI::App& app, Verb& chosen) {
  const auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* verb = app.add_subcommand("verify", "Recompute the claims and compare; exit code 1 when one fails");
  verb->add_option("ID", arguments->ids, "Claims such as LM08; all when none is given");
  std::string known = "Make a tempting mistake and see which claims fall; may be repeated:";
  for (const MistakeInfo& mistake : mistakes()) known += std::string(" ") + mistake.name;
  verb->add_option("--mistake", arguments->mistakes, known)->take_all()->expected(1);
  verb->add_flag("--json", arguments->json, "One JSON object on standard output");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return verify(*arguments); }; });
}

}  // namespace linearmem::cli
