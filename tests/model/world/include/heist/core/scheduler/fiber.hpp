// Stands for core/scheduler/fiber.hpp: one fiber for each worker. Nothing forks or parks here.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>  // exchange

#include "heist/core/observe/outside_waits.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/scheduler/fork_slot.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/core/sync/work_deque.hpp"

namespace heist::detail {

class core;
struct worker;

/// A field that other threads read for advice, or that never changes: no step of an execution.
template <class T>
class silent {
 public:
  silent(T value) noexcept : value_{value} {}
  T load(std::memory_order) const noexcept { return value_; }
  void store(T value, std::memory_order) noexcept { value_ = value; }

 private:
  T value_;
};

/// A stack of forked tasks, always empty.
template <class Slot>
class empty_stack {
 public:
  struct snapshot {
    std::uint32_t tasks = 0, oldest = 0;
  };
  bool maybe_stealable() const noexcept { return false; }
  steal_result<Slot*> steal() noexcept { return {steal_status::empty, nullptr}; }
  void ask() noexcept {}
  snapshot public_snapshot() const noexcept { return {}; }
  Slot* first() const noexcept { return nullptr; }
};

class fiber {
 public:
  fiber(core& scheduler, detail::worker& w, fork_order order) noexcept
      : scheduler{scheduler}, worker{&w}, order{order} {}

  core& scheduler;
  detail::worker* worker;
  fork_order const order;
  interrupt_state const* interrupt = nullptr;
  static constexpr fork_slot* stolen = nullptr;
  outside_note const* limits = nullptr;
  silent<runnable const*> running{nullptr};
  empty_stack<fork_slot> tasks;
  silent<std::uint32_t> depth{0};
  queued_runnable resume_item{};  ///< nothing parks here

  bool runs_here() const noexcept { return true; }
  fork_slot* top() const noexcept { return nullptr; }
  runnable* as_runnable(fork_slot&) noexcept { return nullptr; }
};

inline fiber const& fiber_of_code(fiber const& of) noexcept {
  return of;
}

class interrupted_by {
 public:
  interrupted_by(fiber& self, interrupt_state const* interrupt) noexcept
      : on_{self}, outer_{std::exchange(self.interrupt, interrupt)} {}
  interrupted_by(interrupted_by const&) = delete;
  interrupted_by& operator=(interrupted_by const&) = delete;
  ~interrupted_by() { on_.interrupt = outer_; }

 private:
  fiber& on_;
  interrupt_state const* outer_;
};

class outside_its_task {
 public:
  explicit outside_its_task(fiber& self) noexcept : on_{self}, before_{self.running.load(std::memory_order_relaxed)} {
    self.running.store(nullptr, std::memory_order_relaxed);
  }
  outside_its_task(outside_its_task const&) = delete;
  outside_its_task& operator=(outside_its_task const&) = delete;
  ~outside_its_task() { on_.running.store(before_, std::memory_order_relaxed); }

 private:
  fiber& on_;
  runnable const* before_;
};

inline void continuation_slot::make_public() noexcept {}

}  // namespace heist::detail
