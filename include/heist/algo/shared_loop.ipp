// Bodies of shared_loop.hpp.
#pragma once

#include "heist/algo/shared_loop.hpp"

#include <array>
#include <memory>  // destroy_at
#include <new>
#include <utility>  // exchange, swap

#include "heist/executor/pooled.hpp"
#include "heist/sched/wait.hpp"

namespace heist::detail {

/// The state that the caller and its helpers share. Its last user frees it.
struct shared_loop {
  /// What starts a helper. Each helper asks for the next with what it came by, so several wake sleepers side by side.
  struct invitation : queued_runnable {
    invitation() noexcept : queued_runnable{{&help, nullptr}, nullptr} {}
    shared_loop* to = nullptr;
    unsigned wave = 0;
  };
  static constexpr unsigned most_invitations = 4;

  /// `from`: its first iteration. `results`: behind it there is room for a result of each helper.
  shared_loop(core& on, fiber* caller, loop<context>& l, std::size_t from, bool results) noexcept
      : home{on},
        interrupt{caller != nullptr ? caller->interrupt : nullptr},
        of{l},
        first{from},
        to_come{static_cast<std::int32_t>(on.worker_count) - 2},
        bytes{bytes_for(on, results)},
        left{l.end() - from} {}

  static std::size_t bytes_for(core const& on, bool results) noexcept {
    return sizeof(shared_loop) + (results ? on.worker_count - 1 : 0) * sizeof(void*);
  }

  /// Runs blocks until none is left. The caller takes them from the front and asks for helpers; helpers take them from the
  /// back. `self`: the fiber of the calling code, null on a thread outside. `result`: to add to; null: the loop has none.
  void work(bool caller, fiber* self, void* result) noexcept {
    // With more workers blocks are longer, so that fewer exchanges meet on the word of the range.
    block_size block{of.least(), block_ticks * (1 + home.worker_count / 8)};
    loop_body<context>& body = of.body();
    bool const front = caller || body.in_order;
    std::uint64_t before = os_env::ticks();
    for (bool asks = caller; !left.empty();) {
      if (asks) asks = !invite(invitations[0]);
      if (self != nullptr && self->worker->attention.raised()) [[unlikely]]
        self->attend();
      of.stops();
      shared_range<>::share const how{of.least(), block.get(), 2 * home.worker_count};
      auto const r = front ? left.take_front(how) : left.take_back(how);
      if (r.empty()) return;
      std::size_t const end = of.end();
      std::size_t const lo = first + r.lo, hi = first + r.hi < end ? first + r.hi : end;
      if (lo >= hi) {
        left.drop_from(end > first ? end - first : 0);
        continue;
      }
      try {
        body.run(body, nullptr, result, lo, hi);
      } catch (...) {
        keep(exception_of_task(), lo);
        return;
      }
      std::uint64_t const now = os_env::ticks();
      block.took(hi - lo, now - before);
      before = now;
    }
  }

  void keep(std::exception_ptr e, std::size_t at) noexcept {
    of.body().end_at(0);
    left.drop_from(0);
    spin_guard guard{lock};
    if (thrown == nullptr || at < thrown_at) {
      std::swap(thrown, e);
      thrown_at = at;
    }
  }

  /// Of a helper. False if there is no memory for it: then the others do the work.
  bool make_result(void*& to) noexcept {
    try {
      if (of.body().make != nullptr) to = of.body().make(of.body());
      return true;
    } catch (std::bad_alloc const&) {
      return false;
    }
  }
  void keep_result(void* result) noexcept {
    spin_guard guard{lock};
    results()[result_count++] = result;
  }
  void** results() noexcept { return reinterpret_cast<void**>(this + 1); }

  /// By the caller at the end: adds the helpers' results to its own. What a function of the user's throws comes last.
  void put_results(void* result) noexcept {
    loop_body<context>& body = of.body();
    for (std::size_t i = 0; i != result_count; ++i) {
      try {
        body.put(body, thrown == nullptr && !of.stopped() ? result : nullptr, results()[i]);
      } catch (...) {
        keep(exception_of_task(), of.end());
      }
    }
  }

  /// By a worker.
  static runnable* help(runnable& task, fiber& self) {
    auto& by = static_cast<invitation&>(task);
    shared_loop& me = *by.to;
    self.worker->report_pending_count();
    unsigned const wave = by.wave;
    me.home.helpers_to_come.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count
    if (me.left.enter()) {
      if (me.more_to_come()) me.invite(by);
      // relaxed: a count
      if (me.in_use.load(std::memory_order_relaxed) < most_invitations) {
        unsigned const i = me.in_use.fetch_add(1, std::memory_order_relaxed);  // relaxed: as above
        if (i < most_invitations && me.more_to_come()) me.invite(me.invitations[i]);
      }
      interrupted_by const part_of{self, me.interrupt};
      void* made = nullptr;
      if (!me.left.empty() && me.make_result(made)) me.work(false, &self, made);
      if (made != nullptr) me.keep_result(made);
      me.left.leave();
    }
    me.release();
    core::ended(*self.worker, wave);
    return nullptr;
  }

  /// Is there something for one more helper? Then it is to be asked for.
  bool more_to_come() noexcept {
    // relaxed: a count
    return !left.empty() && to_come.load(std::memory_order_relaxed) > 0 &&
           to_come.fetch_sub(1, std::memory_order_relaxed) > 0;
  }

  /// Asks for a helper. False if as many helpers stand in queues as there are workers: then all workers are busy.
  bool invite(invitation& by) noexcept {
    // relaxed: a count
    if (home.helpers_to_come.fetch_add(1, std::memory_order_relaxed) < home.worker_count) {
      users.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller is one
      by.to = this;
      try {
        home.submit(by, [&by](unsigned its) { by.wave = its; });
        return true;
      } catch (...) {
        users.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as above
      }
    }
    home.helpers_to_come.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count
    return false;
  }

  void release() noexcept {
    // acq_rel: what the others have done comes before the end
    if (users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    std::size_t const size = bytes;
    std::destroy_at(this);
    free_shared_block(this, size);
  }

  /// The caller waits until no helper is at work. Nothing is left to take.
  void wait(fiber* caller) noexcept {
    if (left.close()) return;
    // A helper has one block at most. It usually ends before a thread could have slept and woken.
    for (std::uint32_t looks = 0; looks != 100; ++looks) {
      if (left.all_have_left()) return;
      os_env::relax();
    }
    if (caller != nullptr) {
      caller->wait_for(left.all_left());
    } else {
      wait_outside(left.all_left(), {"the end of a loop"});
    }
  }

  core& home;
  interrupt_state const* const interrupt;  ///< of the caller's task
  loop<context>& of;                       ///< the caller's; gone when the range is closed and no helper is inside
  std::size_t const first;
  os_env::atomic<std::int32_t> to_come;  ///< helpers, after the one that the caller asks for
  os_env::atomic<std::uint32_t> in_use{1};
  std::array<invitation, most_invitations> invitations;
  std::size_t const bytes;
  os_env::atomic<std::uint32_t> users{1};
  spin_lock<> lock;
  std::exception_ptr thrown;  ///< under the lock
  std::size_t thrown_at = 0;
  std::size_t result_count = 0;  ///< under the lock
  shared_range<> left;
};

HEIST_BODY bool run_shared(core& home, fiber* here, loop_body<context>& body, std::size_t n, std::size_t grain,
                           std::stop_token const& stop, void* result) {
  if (here == nullptr) home.check_open();
  constexpr std::uint64_t to_the_end = ~std::uint64_t{0};
  std::size_t const workers = home.worker_count;
  loop<context> all{body, n, grain, stop};
  std::size_t first = 0;
  if (workers == 1 || (grain == loop_options::automatic && n / many_iterations >= workers)) {
    first = all.begin_alone(0, workers == 1 ? to_the_end : block_ticks / 2, result);
    if (first >= all.end()) return !all.stopped();
  }
  void* block = nullptr;
  try {
    block = allocate_shared_block(home, shared_loop::bytes_for(home, result != nullptr));
  } catch (std::bad_alloc const&) {
    all.begin_alone(first, to_the_end, result);
    return !all.stopped();
  }
  auto& shared = *::new (block) shared_loop{home, here, all, first, result != nullptr};
  shared.work(true, here, result);
  shared.wait(here);
  shared.put_results(result);
  std::exception_ptr const thrown = std::exchange(shared.thrown, nullptr);
  shared.release();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return !all.stopped();
}

}  // namespace heist::detail
