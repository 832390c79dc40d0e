#include "run_conventions.hpp"

#include <iostream>

#include "foundation/shape_check.hpp"
#include "option_values.hpp"

namespace linearmem::cli {
namespace {

const char* form_text(NumberForm form) {
  switch (form) {
    case NumberForm::same: return "";
    case NumberForm::factor: return ", a factor: ours is its logarithm";
    case NumberForm::log_of_negative: return ", a logarithm: ours is -exp of it";
    case NumberForm::before_softplus: return ", before a softplus";
    case NumberForm::before_sigmoid: return ", before a sigmoid";
  }
  return "";
}

std::string counterpart(const ConventionTensor& entry) {
  return *entry.ours ? std::string("ours: ") + entry.ours + " " + bracketed_axes(entry.our_axes) : std::string("a parameter of others");
}

}  // namespace

Result<int> list_conventions() {
  for (const Convention& convention : conventions()) {
    std::cout << convention.name << "\n    " << convention.meaning << ":";
    for (const ConventionMechanism& mechanism : convention.mechanisms) std::cout << " " << mechanism.mechanism;
    std::cout << "\n";
  }
  return kDone;
}

Result<int> describe_in(const ConventionMechanism& mechanism) {
  std::cout << mechanism.mechanism << " as " << mechanism.convention << " has it: " << mechanism.function << "\n  " << mechanism.source << "\n\ninputs\n";
  for (const ConventionTensor& input : mechanism.inputs)
    std::cout << "  " << input.name << " " << bracketed_axes(input.axes) << ", " << kind_text(input.kind) << (input.required ? "" : ", optional")
              << form_text(input.form) << " (" << counterpart(input) << ")\n";
  std::cout << "\noptions (--set key=value)\n";
  for (const OptionSpec& option : mechanism.options)
    std::cout << "  " << option.name << "=" << option.default_text << "  " << values_text(option) << ": " << option.meaning << "\n";
  if (mechanism.options.empty()) std::cout << "  none\n";
  std::cout << "\noutputs\n";
  for (const ConventionTensor& output : mechanism.outputs)
    std::cout << "  " << output.name << " " << bracketed_axes(output.axes) << " (" << counterpart(output) << ")\n";
  std::cout << "\ndifferences: here; there\n";
  for (const Difference& difference : mechanism.differences)
    std::cout << "  " << difference.what << ": " << difference.ours << "; " << difference.theirs << "\n";
  return kDone;
}

}  // namespace linearmem::cli
