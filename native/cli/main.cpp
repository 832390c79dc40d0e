// linearmem: the command line. Exit codes: 0 done, 1 a claim failed, 2 refused (usage, input, output).
// The environment variable LINEARMEM_TARGET, where set, names the instruction set that the kernels run on.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <new>
#include <stdexcept>

#include "linearmem/target.hpp"
#include "verb.hpp"

namespace {

using namespace linearmem::cli;

int refuse(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cerr << "linearmem: " << message << "\n";
  return kRefused;
}

int run_verb(const Verb& verb) {
  try {
    const auto code = verb();
    if (!code.ok()) return refuse(code.status().message());
    if (!std::cout.flush()) return refuse("cannot write to standard output");
    return code.value();
  } catch (const std::bad_alloc&) {
    return refuse("out of memory");
  } catch (const std::length_error&) {
    return refuse("out of memory: a tensor is larger than this machine can hold");
  }
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("LinearMem: linear, recurrent and memory architectures, run and verified", "linearmem");
  app.set_version_flag("--version", "linearmem " + std::string(linearmem::build_id()));
  app.require_subcommand(0, 1);  // at most one: a mechanism may have the name of a verb
  Verb chosen;
  add_verify(app, chosen);
  add_report(app, chosen);
  add_run(app, chosen);
  add_run_layer(app, chosen);
  add_sweep(app, chosen);
  add_agreement(app, chosen);
  add_bench(app, chosen);
  add_knn(app, chosen);
  add_ledger(app, chosen);
  add_task(app, chosen);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return refuse(error.what());
  }
  if (const char* target = std::getenv("LINEARMEM_TARGET"))
    if (const linearmem::Status status = linearmem::choose_simd_target(target); !status.ok())
      return refuse("LINEARMEM_TARGET: " + status.message());
  return chosen ? run_verb(chosen) : refuse("no verb given; linearmem --help lists them");
}
