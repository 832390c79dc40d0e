// A program that computes on a GPU where there is one, and otherwise says why not.
#include <cstdio>

#include "linearmem/cuda.hpp"

int main() {
  const auto gpu = linearmem::cuda_backend();
  std::printf("%s\n", gpu.ok() ? "backend cuda is there" : gpu.status().message().c_str());
  return 0;
}
