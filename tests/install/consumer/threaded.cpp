// The same on two threads: every one of 64 sequences writes one pair and reads it back.
#include <cstdio>
#include <vector>

#include "linearmem/delta_rule.hpp"
#include "linearmem/tensor.hpp"
#include "linearmem/threads.hpp"

int main() {
  const auto threads = linearmem::thread_executor(2);
  const std::int64_t B = 64, T = 8, K = 16, V = 64;
  const linearmem::Tensor<float, 4> key({B, T, 1, K}, 0.25f), value({B, T, 1, V}, 5.0f);
  const linearmem::Tensor<float, 3> beta({B, T, 1}, 1.0f);
  linearmem::Tensor<float, 4> o({B, T, 1, V});
  const linearmem::Status status = linearmem::delta_rule(linearmem::DeltaRuleArguments<float>{
      .q = key.view(), .k = key.view(), .v = value.view(), .beta = beta.view(), .scale = 1.0, .executor = threads.value().get(), .o = o.view()});
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  for (float read : o.values())
    if (read != 5.0f) return 1;
  std::printf("every key reads back 5 on %d threads\n", static_cast<int>(threads.value()->width()));
}
