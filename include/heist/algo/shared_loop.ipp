// Bodies of shared_loop.hpp.
#pragma once

#include "heist/algo/shared_loop.hpp"

#include <new>
#include <utility>  // exchange

#include "heist/executor/pooled.hpp"
#include "heist/sched/wait.hpp"

namespace heist::detail {

/// What the thread and its helpers share; the last of them frees it. It stands in a queue as the helper that comes next.
struct shared_loop : queued_runnable {
  shared_loop(core& of, fiber* caller, loop_body<context>& b, std::size_t from, std::size_t n,
              std::size_t grain_of_loop, std::stop_token const* s) noexcept
      : queued_runnable{{&help, nullptr}, nullptr},
        home{of},
        interrupt{caller != nullptr ? caller->interrupt : nullptr},
        body{b},
        stop{s},
        first{from},
        grain{grain_of_loop},
        parts{2 * of.worker_count},
        to_come{of.worker_count - 1},
        left{n - from} {}

  /// Takes blocks from one end until there are none. `caller`: from the first iterations on; it asks for helpers. `self`:
  /// the fiber that it runs on, null on a thread outside.
  void work(bool caller, fiber* self) noexcept {
    // With more workers they are longer, so that these do not wait for each other's turns to take one.
    block_size block{grain, block_ticks * (1 + home.worker_count / 8)};
    bool const front = caller || body.in_order;
    std::uint64_t before = os_env::ticks();
    for (bool asks = caller; !left.empty();) {
      if (asks) asks = !send();
      if (self != nullptr && self->worker->attention.raised()) [[unlikely]]
        self->attend();
      if (stop != nullptr && stop->stop_requested()) {
        stopped.store(true, std::memory_order_relaxed);  // relaxed: read when all have left
        body.end_at(0);
      }
      shared_range<>::share const how{grain, block.get(), parts};
      auto const r = front ? left.take_front(how) : left.take_back(how);
      if (r.empty()) return;
      std::size_t const end = body.end.load(std::memory_order_relaxed);  // relaxed: as in loop_body::end_at()
      std::size_t const lo = first + r.lo, hi = first + r.hi < end ? first + r.hi : end;
      if (lo >= hi) {
        left.drop_from(end > first ? end - first : 0);
        continue;
      }
      try {
        body.run(body, nullptr, nullptr, lo, hi);
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
    body.end_at(0);
    left.drop_from(0);
    spin_guard guard{lock};
    if (thrown == nullptr || at < thrown_at) {
      std::swap(thrown, e);
      thrown_at = at;
    }
  }

  /// By a worker.
  static runnable* help(runnable& task, fiber& self) {
    auto& loop = static_cast<shared_loop&>(task);
    core& home = loop.home;
    self.worker->report_pending_count();
    unsigned const wave = loop.wave;
    home.helpers_to_come.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count
    if (loop.left.enter()) {
      if (--loop.to_come != 0 && !loop.left.empty()) loop.send();  // the next helper
      interrupted_by const part_of{self, loop.interrupt};
      loop.work(false, &self);
      loop.left.leave();
    }
    loop.release();
    core::ended(*self.worker, wave);
    return nullptr;
  }

  /// Asks for a helper, unless as many are asked for as there are workers: those are busy. False: there is none.
  bool send() noexcept {
    // relaxed: a count
    if (home.helpers_to_come.fetch_add(1, std::memory_order_relaxed) < home.worker_count) {
      users.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller is one
      try {
        home.submit(*this, [this](unsigned of) { wave = of; });
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
    std::destroy_at(this);
    free_shared_block(this, sizeof(shared_loop));
  }

  /// By the caller, when nothing is left: until no helper is at work.
  void wait(fiber* caller) noexcept {
    if (left.close()) return;
    // A helper has a block at most, which is mostly over before another thread could have come.
    for (std::uint32_t looks = 0; looks != 100; ++looks) {
      if (left.all_have_left()) return;
      os_env::relax();
    }
    if (caller != nullptr) {
      caller->wait_for(left.all_left());
    } else {
      wait_outside(left.all_left());
    }
  }

  core& home;
  interrupt_state const* const interrupt;  ///< of the caller's task
  loop_body<context>& body;
  std::stop_token const* const stop;
  std::size_t const first;
  std::size_t const grain;
  std::size_t const parts;
  std::size_t to_come;  ///< helpers; of the one that stands in a queue
  unsigned wave = 0;    ///< as above
  os_env::atomic<std::uint32_t> users{1};
  os_env::atomic<bool> stopped{false};
  spin_lock<> lock;
  std::exception_ptr thrown;  ///< under the lock
  std::size_t thrown_at = 0;
  shared_range<> left;
};

HEIST_BODY bool run_shared(core& home, fiber* here, loop_body<context>& body, std::size_t n, std::size_t grain,
                           std::stop_token const& stop) {
  if (here == nullptr) home.check_open();
  bool const automatic = grain == loop_options::automatic;
  std::size_t const workers = home.worker_count;
  loop<context> alone{body, n, grain, stop};
  std::size_t first = 0;
  if (workers == 1 || (automatic && n / many_iterations >= workers)) {
    first = alone.begin_alone(0, workers == 1 ? ~std::uint64_t{0} : block_ticks / 2);
    if (first >= alone.end()) return !alone.stopped();
  }
  void* block = nullptr;
  try {
    block = allocate_shared_block(home, sizeof(shared_loop));
  } catch (std::bad_alloc const&) {
    alone.begin_alone(first, ~std::uint64_t{0});
    return !alone.stopped();
  }
  auto& shared = *::new (block) shared_loop{
      home, here, body, first, n, automatic ? 1 : grain, stop.stop_possible() ? &stop : nullptr};
  shared.work(true, here);
  shared.wait(here);
  bool const stopped = shared.stopped.load(std::memory_order_relaxed);  // relaxed: all have left
  std::exception_ptr const thrown = std::exchange(shared.thrown, nullptr);
  shared.release();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return !stopped;
}

}  // namespace heist::detail
