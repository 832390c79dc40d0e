// Threads for the doors: an executor over oneTBB. Link LinearMem::threads.
//
//   const auto threads = linearmem::thread_executor(2);
//   if (!threads.ok()) ...
//   linearmem::delta_rule(linearmem::DeltaRuleArguments<float>{..., .executor = threads.value().get(), .o = o.view()});
#pragma once

#include <cstdint>
#include <memory>

#include "linearmem/executor.hpp"
#include "linearmem/status.hpp"

namespace linearmem {

inline constexpr std::int64_t kMostThreads = 1024;

// Runs items on the calling thread and on up to threads - 1 others, which sleep between calls. May be used by many calls at once,
// from any thread, and must outlive them. More threads than processors are started where they are asked for; they gain nothing.
// Errors: threads outside 1 .. kMostThreads.
Result<std::unique_ptr<const Executor>> thread_executor(std::int64_t threads);

}  // namespace linearmem
