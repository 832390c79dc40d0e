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

std::string rate_text(double per_second, bool bytes) {
  char text[64];
  std::snprintf(text, sizeof text, bytes ? "%.1f GB/s" : "%.2f TFLOP/s", per_second * (bytes ? 1e-9 : 1e-12));
  return text;
}

std::string line_of(const CudaLimit& limit) {
  return "| " + limit.name + " | " + (limit.missing.empty() ? rate_text(limit.per_second, limit.bytes) : "missing: " + limit.missing) + " |\n";
}

std::string line_of(const CudaMeasurement& m) {
  if (!m.missing.empty()) return "| " + m.name + " | " + m.shape + " | missing: " + m.missing + " | | | | | |\n";
  char line[512];
  char fraction[32] = "";
  if (m.limit.missing.empty()) std::snprintf(fraction, sizeof fraction, "%.0f %%", m.fraction() * 100);
  std::snprintf(line, sizeof line, "| %s | %s | %.1e | %.3f ms | %s | %s | %s, %s | %s |\n", m.name.c_str(), m.shape.c_str(), m.error,
                m.seconds * 1e3, rate_text(m.flops / m.seconds, false).c_str(), rate_text(m.bytes / m.seconds, true).c_str(), m.limit.name.c_str(),
                m.limit.missing.empty() ? rate_text(m.limit.per_second, m.limit.bytes).c_str() : "missing", fraction);
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
            << "| what the device does at most | measured here |\n|---|---|\n";
  for (const CudaLimit& limit : report.value().limits) std::cout << line_of(limit);
  std::cout << "\n| mechanism | shape | error | median | | | limit | of limit |\n|---|---|---|---|---|---|---|---|\n";
  for (const CudaMeasurement& m : report.value().measurements) std::cout << line_of(m);
  return kDone;
}

}  // namespace linearmem::cli
