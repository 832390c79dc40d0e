#include "linearmem/threads.hpp"

#include <optional>
#include <string>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace linearmem {
namespace {

class TbbExecutor final : public Executor {
 public:
  explicit TbbExecutor(int threads) : arena_(threads) {
    if (threads > tbb::info::default_concurrency())
      more_.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  }

  std::int64_t width() const override { return arena_.max_concurrency(); }

  void run(std::int64_t count, Item item, const void* context) const override {
    arena_.execute([&] {
      // A task for each item: they are few and long, and whoever is free takes the next.
      tbb::parallel_for(
          tbb::blocked_range<std::int64_t>(0, count, 1),
          [&](const tbb::blocked_range<std::int64_t>& range) {
            for (std::int64_t index = range.begin(); index < range.end(); ++index) item(context, index);
          },
          tbb::simple_partitioner());
    });
  }

 private:
  std::optional<tbb::global_control> more_;
  mutable tbb::task_arena arena_;
};

}  // namespace

Result<std::unique_ptr<const Executor>> thread_executor(std::int64_t threads) {
  if (threads < 1 || threads > kMostThreads)
    return Status::invalid("threads is " + std::to_string(threads) + ", must be from 1 to " + std::to_string(kMostThreads));
  return std::unique_ptr<const Executor>(std::make_unique<TbbExecutor>(static_cast<int>(threads)));
}

}  // namespace linearmem
