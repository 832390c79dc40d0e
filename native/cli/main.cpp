// linearmem: the command line. Exit codes: 0 done, 1 a claim failed, 2 refused (usage, input, output).
// The environment variable LINEARMEM_TARGET, where set, names the instruction set that the kernels run on.
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <new>
#include <stdexcept>

#include "linearmem/target.hpp"
#include "verb.hpp"

namespace {

using namespace linearmem::cli;

// One line, and nothing in it that a terminal would obey: a name may come from a file.
int refuse(std::string message) {
  for (std::size_t i = 0; i < message.size(); ++i) {
    const auto letter = static_cast<unsigned char>(message[i]), next = static_cast<unsigned char>(message[i + 1]);
    if (letter == 0xc2 && next < 0xa0) message[i] = message[i + 1] = ' ';  // U+0080 to U+009F
    else if (letter < ' ' || letter == 0x7f) message[i] = ' ';
  }
  std::cerr << "linearmem: " << message << "\n";
  return kRefused;
}

// CLI11 reads whole numbers as C does: 010 as 8, and what 64 bits do not hold as the most they do.
template <typename T>
std::string refused_number(const std::string& text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool octal = text.size() > 1 && text[0] == '0';
  const bool whole = error != std::errc::invalid_argument && end == text.data() + text.size() && !octal;
  if (!whole) return "takes a whole number, got \"" + text + "\"";
  return error == std::errc{} ? "" : text + " does not fit into 64 bits";
}

void take_whole_numbers_only(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    if (option->get_type_name() == "INT") option->check(refused_number<std::int64_t>);
    else if (option->get_type_name() == "UINT") option->check(refused_number<std::uint64_t>);
  }
  for (CLI::App* verb : app.get_subcommands({})) take_whole_numbers_only(*verb);
}

// The code, if all that was printed has arrived.
int ended(int code) { return std::cout.flush() ? code : refuse("cannot write to standard output"); }

int run_verb(const Verb& verb) {
  try {
    const auto code = verb();
    return code.ok() ? ended(code.value()) : refuse(code.status().message());
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
  take_whole_numbers_only(app);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return ended(app.exit(error));  // --help, --version
    return refuse(error.what());
  }
  if (const char* target = std::getenv("LINEARMEM_TARGET"))
    if (const linearmem::Status status = linearmem::choose_simd_target(target); !status.ok())
      return refuse("LINEARMEM_TARGET: " + status.message());
  return chosen ? run_verb(chosen) : refuse("no verb given; linearmem --help lists them");
}
