// linearmem: the command line. Exit codes: 0 done, 1 a claim failed, 2 refused (usage, input, output).
#include <algorithm>
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
  Verb chosen;
  add_verify(app, chosen);
  add_report(app, chosen);
  add_run(app, chosen);
  add_sweep(app, chosen);
  add_agreement(app, chosen);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return refuse(error.what());
  }
  return chosen ? run_verb(chosen) : refuse("no verb given; linearmem --help lists them");
}
