// A block whose threads each go through the kernel on a stack of their own, as on a device: one runs on until it must wait, at a barrier for the
// block or at an exchange for its warp; only then comes the next, and a warp goes as far ahead of the others as it can. So what the phases of
// EmulatedBlock hide comes out: memory that a later phase writes while a slower thread still reads it, a barrier that not all threads reach, an
// exchange that a lane is missing from.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "cuda/emulated_tensor_core.hpp"

namespace linearmem::test {

// What a thread waits for; all who wait must wait for the same.
struct Wait {
  enum class Whom { nobody, warp, block } whom = Whom::nobody;
  const void* where = nullptr;
  bool operator==(const Wait&) const = default;
};

// The threads of one block, in the order in which they get their turns.
class Threads {
 public:
  Threads(int count, bool falling) : falling_(falling), count_(count), fibers_(fibers(static_cast<std::size_t>(count))), stacks_(stacks(static_cast<std::size_t>(count))) {}

  // True where all threads came to the end, and waited for each other alike.
  bool run(const std::function<void(int thread)>& body) {
    body_ = &body;
    for (int thread = 0; thread < count(); ++thread) begin(thread);
    while (true) {
      for (int warp = 0; warp < count() / 32; ++warp)
        if (!go_on(falling_ ? count() / 32 - 1 - warp : warp)) return false;
      for (const Fiber* fiber = fibers_; fiber < fibers_ + count_; ++fiber)
        if (fiber->done != fibers_[0].done || fiber->wait != fibers_[0].wait) return false;
      if (fibers_[0].done) return true;
      for (Fiber* fiber = fibers_; fiber < fibers_ + count_; ++fiber) fiber->wait = {};
    }
  }

  // Of the running thread.
  void wait(int thread, const Wait& wait) {
    fibers_[thread].wait = wait;
    if (_setjmp(fibers_[thread].place) == 0) _longjmp(scheduler_, 1);
  }
  int count() const { return count_; }

 private:
  static constexpr std::size_t kStack = 256 << 10;

  struct Fiber {
    ucontext_t context;  // where it begins
    jmp_buf place;       // where it waits: unlike a context it is left and taken up without asking the kernel
    bool begun = false;
    Wait wait;
    bool done = false;
  };

  // Both are used again by the next block, and stacks are not cleared: most of one is never touched.
  static Fiber* fibers(std::size_t count) {
    static thread_local std::vector<Fiber> room;
    if (room.size() < count) room = std::vector<Fiber>(count);
    return room.data();
  }
  static unsigned char* stacks(std::size_t count) {
    static thread_local std::unique_ptr<unsigned char[]> room;
    static thread_local std::size_t there = 0;
    if (there < count) room.reset(new unsigned char[(there = count) * kStack]);
    return room.get();
  }

  void begin(int thread) {
    Fiber& fiber = fibers_[thread];
    fiber.wait = {}, fiber.begun = fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks_ + static_cast<std::size_t>(thread) * kStack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;  // never returns: see enter()
    makecontext(&fiber.context, &Threads::enter, 0);
  }
  static void enter() {
    Threads* self = running_;
    const int thread = self->thread_;
    (*self->body_)(thread);
    self->fibers_[thread].done = true;
    _longjmp(self->scheduler_, 1);
  }

  // One warp, until all of it waits for the block or is done. False where some lanes wait for others that do not come.
  bool go_on(int warp) {
    while (true) {
      for (int lane = 0; lane < 32; ++lane) take_turn(warp * 32 + (falling_ ? 31 - lane : lane));
      Fiber* first = fibers_ + 32 * warp;
      int wait = 0, alike = 0;
      for (const Fiber* fiber = first; fiber < first + 32; ++fiber) {
        wait += fiber->wait.whom == Wait::Whom::warp;
        alike += fiber->wait == first->wait;
      }
      if (wait == 0) return true;
      if (wait != 32 || alike != 32) return false;
      for (Fiber* fiber = first; fiber < first + 32; ++fiber) fiber->wait = {};
    }
  }
  void take_turn(int thread) {
    Fiber& fiber = fibers_[thread];
    if (fiber.done || fiber.wait.whom != Wait::Whom::nobody) return;
    running_ = this, thread_ = thread;
    if (_setjmp(scheduler_) != 0) return;
    if (fiber.begun) _longjmp(fiber.place, 1);
    fiber.begun = true;
    setcontext(&fiber.context);
  }

  static inline thread_local Threads* running_ = nullptr;

  bool falling_;
  int count_, thread_ = 0;
  const std::function<void(int)>* body_ = nullptr;
  Fiber* fibers_;
  unsigned char* stacks_;
  jmp_buf scheduler_;
};

// What the threads of a block share.
struct ThreadedState {
  std::int64_t index;
  void* shared;
  Threads* threads;
  std::vector<float> numbers[2];         // of an exchange, and of the one before, which slower lanes may still read
  std::vector<cuda::Product> products;
};

// What a warp makes of an exchange, in which each lane takes that of the lane `distance` away, for 1, 2, 4, ...: Block::across.
template <typename Block>
class EmulatedWarp {
 public:
  template <typename Values>
  void sum_across(Values& values, int lanes) {
    static_cast<Block*>(this)->across(values, lanes, [](float a, float b) { return a + b; });
  }
  template <typename Values>
  void max_across(Values& values, int lanes) {
    static_cast<Block*>(this)->across(values, lanes, [](float a, float b) { return std::fmax(a, b); });
  }
  static std::uint32_t pair(float first, float second) { return bfloat_pair(first, second); }
};

// A block as one of its threads sees it.
class ThreadedBlock : public EmulatedWarp<ThreadedBlock> {
 public:
  ThreadedBlock(ThreadedState& state, int thread) : state_(state), thread_(thread) {}

  template <typename T>
  class Registers {
   public:
    explicit Registers(const ThreadedBlock&) { std::memset(static_cast<void*>(&value_), 0xff, sizeof value_); }  // NaN
    T& operator[](int) { return value_; }

   private:
    T value_;
  };

  std::int64_t index() const { return state_.index; }
  int threads() const { return state_.threads->count(); }
  void* shared() { return state_.shared; }

  template <typename Phase>
  void each(Phase phase) {
    phase(thread_);
    state_.threads->wait(thread_, {Wait::Whom::block, place<Phase>()});
  }
  template <typename Phase>
  void each_apart(Phase phase) {
    phase(thread_);
  }

  template <typename Pick>
  void multiply(Pick pick) {
    state_.products[static_cast<std::size_t>(thread_)] = pick(thread_);
    state_.threads->wait(thread_, {Wait::Whom::warp, place<Pick>()});
    if (thread_ % 32 == 0) {
      cuda::Product lanes[32];
      for (int lane = 0; lane < 32; ++lane) lanes[lane] = state_.products[static_cast<std::size_t>(thread_ + lane)];
      multiply_lanes(lanes);
    }
    state_.threads->wait(thread_, {Wait::Whom::warp, place<Pick>()});
  }

 private:
  friend EmulatedWarp;

  template <typename Phase>
  static const void* place() {
    static const char here = 0;
    return &here;
  }

  template <typename Join>
  void across(Registers<float>& values, int lanes, Join join) {
    for (int distance = 1; distance < lanes; distance *= 2) {
      std::vector<float>& numbers = state_.numbers[turn_ ^= 1];
      numbers[static_cast<std::size_t>(thread_)] = values[thread_];
      state_.threads->wait(thread_, {Wait::Whom::warp, place<Join>()});
      values[thread_] = join(values[thread_], numbers[static_cast<std::size_t>(thread_ ^ distance)]);
    }
  }

  ThreadedState& state_;
  int thread_, turn_ = 0;
};

template <typename Kernel>
bool run_threaded(std::int64_t index, void* shared, int threads, const typename Kernel::Arguments& arguments, bool falling) {
  Threads all(threads, falling);
  const auto count = static_cast<std::size_t>(threads);
  ThreadedState state{index, shared, &all, {std::vector<float>(count), std::vector<float>(count)}, std::vector<cuda::Product>(count)};
  return all.run([&](int thread) {
    ThreadedBlock block(state, thread);
    Kernel::run(block, arguments);
  });
}

}  // namespace linearmem::test
