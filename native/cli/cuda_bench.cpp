#include "cuda_bench.hpp"

#include <cstdio>
#include <iostream>

#include "backend.hpp"
#include "linearmem/cuda_measure.hpp"
#include "verb.hpp"

namespace linearmem::cli {
namespace {

// The cases and their sizes are fixed.
Status check_options(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options())
    if (option->count() > 0 && option->get_name() != "--backend" && option->get_name() != "--rounds")
      return Status::invalid(option->get_name() + " does not go with --backend cuda, whose cases are fixed; --rounds does");
  return {};
}

std::string line_of(const CudaMeasurement& m) {
  char line[512];
  std::snprintf(line, sizeof line, "| %s | %s | %.1e | %.3f ms | %.2f TFLOP/s | %.1f GB/s | %.1f %s | %.0f %% |\n", m.name.c_str(), m.shape.c_str(),
                m.error, m.seconds * 1e3, m.flops / m.seconds * 1e-12, m.bytes / m.seconds * 1e-9, m.limit * (m.limited_by_bytes ? 1e-9 : 1e-12),
                m.limited_by_bytes ? "GB/s" : "TFLOP/s", m.fraction() * 100);
  return line;
}

}  // namespace

Result<int> bench_cuda(const CLI::App& verb, const std::string& backend, int rounds) {
  if (Status status = check_options(verb); !status.ok()) return status;
  if (rounds < 1 || rounds > 10000) return Status::invalid("--rounds is " + std::to_string(rounds) + ", must be from 1 to 10000");
  const auto device = cuda_device_of(backend);
  if (!device.ok()) return device.status();
  const auto report = cuda_measure(*device.value(), rounds);
  if (!report.ok()) return report.status();
  std::cout << report.value().device << ", rounds " << rounds << "\n\n"
            << "| mechanism | shape | error | median | | | limit measured here | of limit |\n|---|---|---|---|---|---|---|---|\n";
  for (const CudaMeasurement& m : report.value().measurements) std::cout << line_of(m);
  return kDone;
}

}  // namespace linearmem::cli
