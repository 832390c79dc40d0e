// What a run over many blocks keeps an eye on: signals that ask it to end, and how far it is.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>

namespace linearmem::cli {

// The signal that came since the newest Interrupts began; 0: none.
int interrupted_by();

// While it lives, Ctrl-C, a request to end and a terminal that goes are kept in mind and not obeyed at once. What was ignored stays so.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP}, kCount = 3;
  struct sigaction before_[kCount];
};

// Tokens done, on standard error: now and then one line, and a last one.
class Progress {
 public:
  explicit Progress(std::int64_t tokens);
  void add(std::int64_t tokens);
  void finish() const;

 private:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  double rate() const;

  std::int64_t all_, done_ = 0;
  double next_ = 1;
  bool terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace linearmem::cli
