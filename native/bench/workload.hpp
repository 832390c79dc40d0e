// A call worth timing, the work it stands for by the field's nominal counts, and the proof that its result is right.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linearmem/executor.hpp"
#include "linearmem/status.hpp"

namespace linearmem::bench {

// Of one call. Nominal floating-point operations: what the recurrence costs token by token, whatever the form really does.
struct Work {
  double flops = 0;
  double bytes = 0;     // moved at least: states read and written, or inputs read and outputs written
  double elements = 0;  // channels times states times tokens, where the field counts nanoseconds per element; in "long" tokens
};

// What the call is held against.
enum class Limit {
  multiply_add,  // GFLOP/s
  update,        // GB/s of memory scaled in place, in a working set as large as the case's own
  read,          // GB/s of memory read, in a working set as large as the case's own
  none,          // overhead alone
};

struct Proof {
  double error = 0;          // largest difference from the float64 definition, relative to max(1, the largest number)
  double first_seconds = 0;  // the call whose outputs were compared, the first on these inputs
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual void use(const Executor* executor) = 0;  // in the calls that follow; null: the calling thread alone
  virtual Result<Proof> prove() = 0;  // the first state's next call
  virtual Status run() = 0;           // one call of the door
  virtual std::span<const float> streamed() const { return {}; }  // what Limit::read reads; empty: a working set of its own
  virtual bool unchanged() const = 0;  // where every call computes the same: are the outputs still those that were proven?
};

struct Case {
  std::string mechanism;  // "gated-delta-rule"
  std::string setting;    // "prefill", "short", "decode", "cached", "tiny", "long", "search" or "batch"
  std::string shape;      // "16 x 2048 x 128 x 128"
  Work work = {};
  Limit limit = Limit::none;
  std::int64_t limit_bytes = 0;  // working set of Limit::update and Limit::read
  std::int64_t turn = 1;         // calls until every state has been used once; a sample is whole turns
  double tolerance = 1e-5;
  bool wide = false;  // float64
  std::function<std::unique_ptr<Workload>()> make = {};
};

constexpr double kProofFlops = 2e8;  // that the definition's computation may take in a proof, about

// Sizes that a user may change; the defaults are those of the published table.
struct CaseOptions {
  std::int64_t heads = 16, tokens = 2048;
  std::vector<std::int64_t> widths = {64, 128, 256};
  std::int64_t longest = std::int64_t{1} << 20;        // tokens of the longest sequence of "long", from 1024 in steps of 4 times
  std::int64_t state_bytes = std::int64_t{128} << 20;  // all states that decode takes in turn; the keys of a kNN memory
  bool wide = false;                                   // float64
  double proof_flops = kProofFlops;
};

// Every mechanism in every setting it has. `mechanisms` and `settings` choose; empty: all, of the settings all but "long".
Result<std::vector<Case>> cases(const CaseOptions& options, const std::vector<std::string>& mechanisms,
                                const std::vector<std::string>& settings);

std::vector<std::string> case_mechanisms();
std::vector<std::string> case_settings();

}  // namespace linearmem::bench
