// Whose threads a door may use. The library makes none: a call runs on the thread it is made from unless its arguments name an
// executor, and gives the same bits on any executor of any width, since only independent work is handed out: sequences, heads,
// columns of a state, channels, blocks of queries.
//
// LinearMem::threads (linearmem/threads.hpp) has one over oneTBB. Another takes two functions:
//
//   class Pool final : public linearmem::Executor {
//    public:
//     std::int64_t width() const override { return pool_.size(); }
//     void run(std::int64_t count, Item item, const void* context) const override {
//       pool_.parallel_for(count, [&](std::int64_t index) { item(context, index); });
//     }
//   };
#pragma once

#include <cstdint>

namespace linearmem {

class Executor {
 public:
  using Item = void (*)(const void* context, std::int64_t index) noexcept;

  virtual ~Executor() = default;

  // How many items may be under way at once; at least 1. Decides into how many pieces a door cuts its work, not what it computes.
  virtual std::int64_t width() const = 0;

  // Calls item(context, index) once for every index in [0, count), in any order and on any threads, and returns after all of them
  // have, with all they wrote visible to the caller.
  virtual void run(std::int64_t count, Item item, const void* context) const = 0;

  // Work in multiply-adds, roughly, below which handing out costs more than it brings; such a call stays on its own thread.
  virtual std::int64_t least_work() const { return 1 << 17; }
};

}  // namespace linearmem
