// linearmem agreement: how far the forms of each mechanism are from its float64 definition on the same random inputs, as a table.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>

#include "linearmem/mechanisms.hpp"
#include "linearmem/random.hpp"
#include "verb.hpp"

namespace linearmem::cli {
namespace {

struct AgreementArguments {
  std::vector<std::string> mechanisms;
  std::int64_t tokens = 4096, explicit_tokens = 512, width = 64;
  std::uint64_t seed = 1;
};

constexpr double kTolerances[] = {1e-12, 1e-5};  // float64, float32

// A mechanism with its required inputs, and one of its gates where it has any.
struct Subject {
  const Mechanism* mechanism;
  std::string gate;
};

std::vector<std::string> words_of(const char* axes) {
  std::vector<std::string> words(1);
  for (const char* at = axes; *at; ++at) {
    if (*at == ' ') words.emplace_back();
    else words.back() += *at;
  }
  return words;
}

std::int64_t size_of(const std::string& axis, std::int64_t tokens, std::int64_t width) {
  if (axis == "T") return tokens;
  if (axis == "B" || axis == "H" || axis == "Hk" || axis == "Hv" || axis == "G") return 1;
  if (axis == "W") return 4;   // taps of a convolution
  if (axis == "N") return 16;  // states of a scan's channel; sequences stand in optional inputs only
  return width;
}

// Standard normal, but for what has a range: decays that hold tens to hundreds of tokens, strengths and steps from 0 to 1.
double draw(Generator& generator, const std::string& name) {
  if (name == "g" || name == "g_key") return generator.uniform(-0.1, 0);
  if (name == "A") return generator.uniform(-1, -0.1);
  if (name == "a") return generator.uniform(0.9, 1);
  if (name == "beta") return generator.uniform(0, 1);
  if (name == "dt") return generator.uniform(0, 0.2);
  return generator.standard_normal();
}

NamedTensors inputs_of(const Subject& subject, std::int64_t tokens, const AgreementArguments& arguments) {
  Generator generator(arguments.seed);
  NamedTensors inputs;
  for (const InputSpec& input : subject.mechanism->inputs) {
    if (!input.required && input.name != subject.gate) continue;
    std::vector<std::int64_t> shape;
    std::int64_t count = 1;
    for (const std::string& axis : words_of(input.axes)) {
      shape.push_back(size_of(axis, tokens, arguments.width));
      count *= shape.back();
    }
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = draw(generator, input.name);
    inputs[input.name] = to_named(values, shape);
  }
  return inputs;
}

NamedTensors in_float32(const NamedTensors& inputs) {
  NamedTensors narrow;
  for (const auto& [name, tensor] : inputs) narrow[name] = to_named(floating_values<float>(name, tensor).value(), tensor.shape);
  return narrow;
}

// The largest over the outputs, each relative to max(1, its largest number). NaN where anything is NaN.
double difference(const NamedTensors& got, const NamedTensors& expected) {
  double worst = 0;
  for (const auto& [name, tensor] : expected) {
    const auto have = floating_values<double>(name, got.at(name)).value(), want = floating_values<double>(name, tensor).value();
    double largest = 1, gap = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      largest = std::max(largest, std::abs(want[i]));
      if (const double here = std::abs(have[i] - want[i]); !(here <= gap) && !std::isnan(gap)) gap = here;
    }
    if (!(gap / largest <= worst) && !std::isnan(worst)) worst = gap / largest;
  }
  return worst;
}

struct Worst {
  double difference = 0;
  std::int64_t tokens = 0;
  void meet(double here, std::int64_t at) {
    if (std::isnan(difference) || here < difference) return;
    difference = here;
    tokens = at;
  }
};

RunSettings settings_of(const Subject& subject, DType dtype, Form form) {
  RunSettings settings{.dtype = dtype, .form = form};
  for (const OptionSpec& option : subject.mechanism->options)
    if (option.name == std::string("l2norm")) settings.options["l2norm"] = "true";
  return settings;
}

// 16, 64, 256, ... and the longest.
std::vector<std::int64_t> lengths_up_to(std::int64_t longest) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t tokens = 16; tokens < longest; tokens *= 4) lengths.push_back(tokens);
  lengths.push_back(longest);
  return lengths;
}

Result<Worst> worst_of(const Subject& subject, Form form, DType dtype, const AgreementArguments& arguments) {
  Worst worst;
  for (std::int64_t tokens :
       lengths_up_to(form == Form::explicit_ ? std::min(arguments.tokens, arguments.explicit_tokens) : arguments.tokens)) {
    const NamedTensors wide = inputs_of(subject, tokens, arguments), inputs = dtype == DType::f32 ? in_float32(wide) : wide;
    const auto exact = run_mechanism(subject.mechanism->name, inputs, settings_of(subject, DType::f64, Form::reference));
    if (!exact.ok()) return exact.status();
    const auto outputs = run_mechanism(subject.mechanism->name, inputs, settings_of(subject, dtype, form));
    if (!outputs.ok()) return outputs.status();
    worst.meet(difference(outputs.value(), exact.value()), tokens);
  }
  return worst;
}

std::string cell(const Worst& worst) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1e (%lld)", worst.difference, static_cast<long long>(worst.tokens));
  return text;
}

// One line for each form but the definition; whether all are within tolerance.
Result<bool> print_lines(const Subject& subject, const AgreementArguments& arguments) {
  bool within = true;
  for (Form form : subject.mechanism->forms) {
    if (form == Form::reference) continue;
    std::cout << "| " << subject.mechanism->name << (subject.gate.empty() ? "" : ", " + subject.gate) << " | " << form_name(form);
    for (DType dtype : {DType::f64, DType::f32}) {
      const auto worst = worst_of(subject, form, dtype, arguments);
      if (!worst.ok()) return worst.status();
      within = within && worst.value().difference <= kTolerances[dtype == DType::f32];
      std::cout << " | " << cell(worst.value());
    }
    std::cout << " |" << std::endl;  // each line as soon as it is known
  }
  return within;
}

// A mechanism of sequences, once for each gate it may have; the plain one only where no gate is needed. None where there is one form
// only, and for the rooms that stack or repeat others: their forms are those of their parts.
std::vector<Subject> subjects_of(const Mechanism& mechanism) {
  if (mechanism.room == std::string("hybrid") || mechanism.room == std::string("depth_recurrence")) return {};
  const auto has_input = [&](const char* name) {
    return std::any_of(mechanism.inputs.begin(), mechanism.inputs.end(),
                       [&](const InputSpec& input) { return input.name == std::string(name); });
  };
  const bool over_tokens = words_of(mechanism.inputs[0].axes).size() > 1 && words_of(mechanism.inputs[0].axes)[1] == "T";
  std::vector<Subject> subjects;
  if (!over_tokens || mechanism.forms.size() < 2) return subjects;
  if (mechanism.name != std::string("gated-delta-rule")) subjects.push_back({&mechanism, ""});
  for (const char* gate : {"g", "g_key"})
    if (has_input(gate)) subjects.push_back({&mechanism, gate});
  return subjects;
}

Status check(const AgreementArguments& arguments) {
  const auto limit = [](const char* name, std::int64_t value, std::int64_t most) {
    if (value >= 1 && value <= most) return Status();
    return Status::invalid(std::string(name) + " is " + std::to_string(value) + ", must be from 1 to " + std::to_string(most));
  };
  Status status = limit("--tokens", arguments.tokens, 65536);
  if (status.ok()) status = limit("--explicit-tokens", arguments.explicit_tokens, 65536);
  return status.ok() ? limit("--width", arguments.width, 1024) : status;
}

Result<int> agreement(const AgreementArguments& arguments) {
  if (Status status = check(arguments); !status.ok()) return status;
  std::vector<Subject> subjects;
  for (const std::string& name : arguments.mechanisms) {
    const auto mechanism = find_mechanism(name);
    if (!mechanism.ok()) return mechanism.status();
    const auto some = subjects_of(*mechanism.value());
    if (some.empty()) return Status::invalid(std::string(mechanism.value()->name) + " has nothing to compare: it has one form only, or is made of other mechanisms");
    subjects.insert(subjects.end(), some.begin(), some.end());
  }
  if (arguments.mechanisms.empty())
    for (const Mechanism& mechanism : mechanisms())
      for (const Subject& subject : subjects_of(mechanism)) subjects.push_back(subject);
  std::cout << "| mechanism | form | float64 (tokens) | float32 (tokens) |\n|---|---|---|---|\n";
  bool within = true;
  for (const Subject& subject : subjects) {
    const auto line = print_lines(subject, arguments);
    if (!line.ok()) return line.status();
    within = within && line.value();
  }
  return within ? kDone : kClaimFailed;
}

}  // namespace

void add_agreement(CLI::App& app, Verb& chosen) {
  const auto arguments = std::make_shared<AgreementArguments>();
  CLI::App* verb = app.add_subcommand(
      "agreement", "Measure how far the forms of each mechanism are from its definition, at lengths of 16, 64, ... tokens");
  verb->add_option("MECHANISM", arguments->mechanisms, "Which; all that have several forms when none is named");
  verb->add_option("--tokens", arguments->tokens, "Longest sequence")->capture_default_str();
  verb->add_option("--explicit-tokens", arguments->explicit_tokens, "Longest sequence for form explicit, whose work grows with the square")
      ->capture_default_str();
  verb->add_option("--width", arguments->width, "Key, value and channel width")->capture_default_str();
  verb->add_option("--seed", arguments->seed, "Of the random inputs")->capture_default_str();
  verb->callback([arguments, &chosen] { chosen = [arguments] { return agreement(*arguments); }; });
}

}  // namespace linearmem::cli
