// OpenBLAS as a contestant: its SGEMM of square matrices, what a well-tuned library gets out of this core. The words are those of the other
// contestants; K is the size of the matrices here, and nothing is read or written.
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "limits.hpp"
#include "linearmem/random.hpp"

namespace {

using namespace linearmem;

// The largest difference of the last row from the same row in float64.
double error_of(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c, std::size_t n) {
  double worst = 0;
  for (std::size_t column = 0; column < n; ++column) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(a[(n - 1) * n + i]) * static_cast<double>(b[i * n + column]);
    worst = std::max(worst, std::abs(sum - static_cast<double>(c[(n - 1) * n + column])));
  }
  return worst;
}

}  // namespace

int main(int count, char** words) {
  const int size = count == 7 ? std::atoi(words[6]) : 0;
  if (size < 1) {
    std::fprintf(stderr, "gemm: give six words, the last the size of the matrices\n");
    return 2;
  }
  const auto n = static_cast<std::size_t>(size);
  std::vector<float> a(n * n), b(n * n), c(n * n);
  Generator generator(1);
  for (auto* matrix : {&a, &b})
    for (float& value : *matrix) value = static_cast<float>(generator.standard_normal());
  const auto multiply = [&] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a.data(), size, b.data(), size, 0, c.data(), size);
  };
  openblas_set_num_threads(1);
  const char* name = std::getenv("CONTEST_CLOCK");
  const bench::Clock clock = name && std::string(name) == "processor" ? bench::Clock::processor : bench::Clock::wall;
  const double begin = bench::seconds(clock);
  multiply();
  const double cold = bench::seconds(clock) - begin;
  if (const double error = error_of(a, b, c, n); !(error <= 1e-4 * std::sqrt(static_cast<double>(size)))) {
    std::fprintf(stderr, "gemm: the product is %.1e from float64\n", error);
    return 2;
  }
  std::printf("{\"about\": \"%s\", \"call\": \"SGEMM %d\", \"cold_seconds\": %.9e}\n", openblas_get_config(), size, cold);
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const double start = bench::seconds(clock);
    for (int left = std::atoi(line.c_str()); left > 0; --left) multiply();
    std::printf("%.9e\n", bench::seconds(clock) - start);
    std::fflush(stdout);
  }
  return 0;
}
