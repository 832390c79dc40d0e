// A libFuzzer entry: whatever words follow `linearmem run`, they are refused with a reason, or they run the mechanism they name on small
// tensors that fit it, and every output has the bytes of its shape. The first two bytes say which of the optional inputs are given;
// the words are the lines after them.
//   CXX=clang++ cmake -S . -B build/fuzz -G Ninja -DLINEARMEM_FUZZ=ON && cmake --build build/fuzz --target linearmem_run_options_fuzz
//   mkdir -p build/words && build/fuzz/native/cli/fuzz/linearmem_run_options_fuzz -max_total_time=60 -max_len=200 \
//     -dict=native/cli/fuzz/run_options.dict build/words
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "foundation/shape_check.hpp"
#include "linearmem/mechanisms.hpp"
#include "run_arguments.hpp"

namespace linearmem::cli {
namespace {

// B 1, T 3 and so on: small, and such that the default options of every mechanism accept them. N and Seq count the packed sequences.
std::int64_t size_of(const std::string& letter, std::int64_t sequences) {
  if (letter == "N" || letter == "Seq") return sequences;
  if (letter == "N+1" || letter == "Seq+1") return sequences + 1;
  if (letter == "B" || letter == "Lw" || letter == "Ld" || letter == "Ll") return 1;
  if (letter == "T" || letter == "L" || letter == "W") return 3;
  return 2;
}

NamedTensor small_tensor(const InputSpec& input, std::int64_t sequences) {
  std::vector<std::int64_t> shape;
  std::size_t count = 1;
  for (const std::string& letter : axis_letters(input.axes)) {
    shape.push_back(size_of(letter, sequences));
    count *= static_cast<std::size_t>(shape.back());
  }
  if (input.name == std::string("cu_seqlens")) return to_named(std::vector<std::int64_t>{0, 1, 3}, shape);
  if (input.kind == TensorKind::integer) return to_named(std::vector<std::int64_t>(count, 1), shape);
  if (input.kind == TensorKind::boolean) return to_named(std::vector<std::uint8_t>(count, 1), shape);
  const std::string name = input.name;
  const bool decay = name == "g" || name == "g_key" || name == "A";
  return to_named(std::vector<double>(count, decay ? -0.5 : 0.25), shape);
}

NamedTensors small_inputs(const Mechanism& mechanism, unsigned chosen) {
  std::vector<const InputSpec*> given;
  std::int64_t sequences = 1;
  int bit = 0;
  for (const InputSpec& input : mechanism.inputs) {
    if (!input.required && (chosen >> bit++ & 1) == 0) continue;
    given.push_back(&input);
    if (input.name == std::string("cu_seqlens")) sequences = 2;
  }
  NamedTensors inputs;
  for (const InputSpec* input : given) inputs[input->name] = small_tensor(*input, sequences);
  return inputs;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n') lines.emplace_back();
    else lines.back() += c;
  }
  return lines;
}

// Rounds are what they say: their work and their states grow with them without end.
bool is_endless(const RunSettings& settings) {
  const auto rounds = settings.options.find("rounds");
  return rounds != settings.options.end() && rounds->second.size() > 2;
}

void must(bool holds) {
  if (!holds) std::abort();
}

void run_words(std::vector<std::string> words, unsigned chosen) {
  CLI::App app;
  RunArguments arguments;
  declare_run_arguments(app, arguments);
  std::reverse(words.begin(), words.end());  // the order in which CLI11 takes a list
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return must(error.get_exit_code() == 0 || std::string(error.what()) != "");
  }
  const auto mechanism = find_mechanism(arguments.mechanism);
  if (!mechanism.ok()) return must(mechanism.status().message() != "");
  const auto settings = run_settings(*mechanism.value(), arguments);
  if (!settings.ok()) return must(settings.status().message() != "");
  if (is_endless(settings.value())) return;
  const auto outputs = run_mechanism(arguments.mechanism, small_inputs(*mechanism.value(), chosen), settings.value());
  if (!outputs.ok()) return must(outputs.status().message() != "");
  for (const char* name : mechanism.value()->outputs) must(outputs.value().count(name) == 1);
  for (const auto& [name, tensor] : outputs.value())
    must(static_cast<std::int64_t>(tensor.bytes.size()) == tensor.size() * dtype_bytes(tensor.dtype));
}

}  // namespace
}  // namespace linearmem::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  linearmem::cli::run_words(linearmem::cli::lines_of(text), data[0] | static_cast<unsigned>(data[1]) << 8);
  return 0;
}
