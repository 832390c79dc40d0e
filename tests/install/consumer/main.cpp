// What the README shows: write one pair, read it back.
#include <cstdio>

#include "linearmem/delta_rule.hpp"
#include "linearmem/tensor.hpp"

int main() {
  const double key[] = {0.6, 0.8}, value[] = {5, 6}, beta[] = {1};
  linearmem::Tensor<double, 4> o({1, 1, 1, 2});
  const linearmem::Status status = linearmem::delta_rule(linearmem::DeltaRuleArguments<double>{
      .q = {key, {1, 1, 1, 2}}, .k = {key, {1, 1, 1, 2}}, .v = {value, {1, 1, 1, 2}}, .beta = {beta, {1, 1, 1}}, .scale = 1.0, .o = o.view()});
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  std::printf("the key reads back %g %g\n", o(0, 0, 0, 0), o(0, 0, 0, 1));
}
