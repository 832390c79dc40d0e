#include "stream_watch.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace linearmem::cli {
namespace {

volatile std::sig_atomic_t came = 0;

}  // namespace

int interrupted_by() { return static_cast<int>(came); }

Interrupts::Interrupts() {
  came = 0;
  struct sigaction keep {};
  keep.sa_handler = [](int signal) { came = signal; };
  for (int n = 0; n < kCount; ++n) {
    ::sigaction(kSignals[n], nullptr, &before_[n]);
    if (before_[n].sa_handler != SIG_IGN) ::sigaction(kSignals[n], &keep, nullptr);  // nohup means it
  }
}

Interrupts::~Interrupts() {
  for (int n = 0; n < kCount; ++n) ::sigaction(kSignals[n], &before_[n], nullptr);
}

Progress::Progress(std::int64_t tokens) : all_(tokens), terminal_(::isatty(STDERR_FILENO) == 1) {}

double Progress::rate() const { return static_cast<double>(done_) / std::max(seconds(), 1e-9); }

void Progress::add(std::int64_t tokens) {
  done_ += tokens;
  if (seconds() < next_) return;
  next_ = seconds() + 1;
  std::fprintf(stderr, "linearmem: %lld of %lld tokens, %.0f tokens/s%s", static_cast<long long>(done_), static_cast<long long>(all_), rate(),
               terminal_ ? "\r" : "\n");
}

void Progress::finish() const {
  struct rusage used {};
  ::getrusage(RUSAGE_SELF, &used);
  std::fprintf(stderr, "%slinearmem: %lld tokens in %.1f s, %.0f tokens/s, peak resident size %.1f MiB\n", terminal_ ? "\33[K" : "",
               static_cast<long long>(done_), seconds(), rate(), static_cast<double>(used.ru_maxrss) / 1024);
}

}  // namespace linearmem::cli
