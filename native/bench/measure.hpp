// Proves a case, then times it in rounds: in each, a sample of its limit and a sample of the case, so that a slow moment of the machine
// meets both.
#pragma once

#include "limits.hpp"
#include "workload.hpp"

namespace linearmem::bench {

struct MeasureOptions {
  int rounds = 11;
  Timing timing = {};                  // its threads are the executor's
  const Executor* executor = nullptr;  // times both the executor's threads and one, round by round
};

struct Measurement {
  Case subject;
  Proof proof;
  double minimum = 0, median = 0;  // seconds of one call
  double limit = 0;                // flops or bytes per second: the best round's
  double fraction = 0;             // of the limit: the median of each round's own ratio; 0 without a limit
  double best_fraction = 0;        // the best time's rate over the best limit
  double speed_up = 0;             // one thread's time over the executor's, the median of the rounds' ratios; 0 without an executor
};

// The value at the middle, of the lower two when their number is even.
double median_of(std::vector<double> values);

// Errors: the door's own, and a result that is not the definition's: its time is not told.
Result<Measurement> measure(const Case& subject, const MeasureOptions& options);

}  // namespace linearmem::bench
