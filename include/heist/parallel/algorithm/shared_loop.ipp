// Bodies of shared_loop.hpp.
#pragma once

#include "heist/parallel/algorithm/shared_loop.hpp"

#include <new>      // bad_alloc
#include <utility>  // exchange, swap

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/scheduler/open_loop.hpp"
#include "heist/core/scheduler/wait.hpp"

namespace heist::detail {

/// The state that the caller and its helpers share.
struct shared_loop : open_loop {
  shared_loop(core& on, open_loops& all)
      : open_loop{&help, &end_of_all}, scheduler{on}, one_of{all}, results{new void*[on.worker_count - 1]} {}
  static void end_of_all(open_loop& l) noexcept { delete static_cast<shared_loop*>(&l); }

  static open_loops& loops_of(core& scheduler, fiber* caller) noexcept {
    return caller != nullptr ? caller->worker->loops : scheduler.loops_of_outside;
  }
  /// A shared_loop for a loop of `caller`, which no other loop uses. Throws bad_alloc.
  static shared_loop& acquire(core& scheduler, fiber* caller) {
    open_loops& all = loops_of(scheduler, caller);
    if (open_loop* const unused = all.acquire(); unused != nullptr) return static_cast<shared_loop&>(*unused);
    auto* const made = new shared_loop{scheduler, all};
    all.add(*made);
    return *made;
  }

  /// Opens it for the iterations of `l` from `from` on. Each thread's first block has `first_block`. Nobody is told.
  void open(fiber* caller, loop<context>& l, std::size_t from, std::size_t first_block) noexcept {
    interrupt = caller != nullptr ? caller->interrupt : nullptr;
    of = &l;
    body = &l.body();
    least = l.least();
    first = from;
    start = first_block;
    may_stop = l.may_stop();
    modes = control_words::now();
    result_count = 0;
    ran = 0;
    left.open(l.end() - from, scheduler.worker_count - 1);
  }

  /// Wakes a worker for it. `inside`: as core::tell_open_loop(). `costs`: null, or are told how long that took. Returns the
  /// time after it, in ticks.
  std::uint64_t tell(bool inside, loop_costs* costs) noexcept {
    std::uint64_t const before = costs != nullptr ? os_env::ticks() : 0;
    scheduler.tell_open_loop(inside);
    std::uint64_t const now = os_env::ticks();
    if (costs != nullptr) costs->woke(now - before);
    return now;
  }

  /// Runs blocks until none is left. The caller takes them from the front, helpers from the back. `self`: the fiber of
  /// the calling code, null on a thread outside. `result`: to add to; null: the loop has none. False: a helper goes
  /// before, because its worker turns to something else. If it resumed after that, the caller would wait for both.
  bool work(bool caller, fiber* self, void* result) noexcept {
    // No thief waits for a block. With more workers blocks are longer, so that fewer exchanges meet on the word of the range.
    block_size block{least, block_ticks * (4 + scheduler.worker_count / 8), start};
    bool const front = caller || body->in_order;
    std::size_t const parts = 2 * scheduler.worker_count;
    // Where a block cannot become longer there is no need of a clock, which costs as much as a short iteration.
    bool const is_timed = (end() - first) / parts > least;
    std::uint64_t before = is_timed ? os_env::ticks() : 0;
    while (!left.empty()) {
      if (self != nullptr && self->worker->notification.is_set() && others_wait(*self)) [[unlikely]] {
        if (!caller) return false;
        self->handle_notification();
      }
      if (may_stop) of->stops();
      shared_range<>::share const how{least, block.get(), parts, block.get() / 32};
      auto const r = front ? left.take_front(how) : left.take_back(how);
      if (r.empty()) return true;
      std::size_t const now_end = end();
      std::size_t const lo = first + r.lo, hi = first + r.hi < now_end ? first + r.hi : now_end;
      if (lo >= hi) {
        left.drop_from(now_end > first ? now_end - first : 0);
        continue;
      }
      std::size_t at = lo;
      do {  // once, but one unit of a huge range may be longer than a block
        std::size_t const n = block.get() > (hi - at) / 2 ? hi - at : 2 * block.get();
        try {
          of->run_block(nullptr, result, at, at + n);
        } catch (...) {
          keep(exception_of_task(), at);
          return true;
        }
        at += n;
        if (!is_timed) continue;
        std::uint64_t const now = os_env::ticks();
        block.adapt(n, now - before);
        before = now;
      } while (at != hi && at < end());
      if (caller) ran += at - lo;
    }
    return true;
  }

  /// Between two blocks: requests and parked fibers, whose turn it is; not one more helper.
  bool others_wait(fiber& self) {
    worker const& w = *self.worker;
    return (!scheduler.requests.maybe_empty() || !w.own_fibers.maybe_empty() || scheduler.is_permit_over(w)) &&
           self.must_suspend();
  }

  void keep(std::exception_ptr e, std::size_t at) noexcept {
    body->end_at(0);
    left.drop_from(0);
    spin_guard guard{lock};
    if (thrown == nullptr || at < thrown_at) {
      std::swap(thrown, e);
      thrown_at = at;
    }
  }

  /// Of a helper: that of one that has gone, or a new one. False if there is no memory for it: then the other threads
  /// do the work.
  bool make_result(void*& to) noexcept {
    {
      spin_guard guard{lock};
      if (result_count != 0) return to = results[--result_count], true;
    }
    try {
      if (body->make != nullptr) to = body->make(*body);
      return true;
    } catch (std::bad_alloc const&) {
      return false;
    }
  }
  void keep_result(void* result) noexcept {
    spin_guard guard{lock};
    results[result_count++] = result;
  }

  /// By the caller at the end: adds the helpers' results to its own. An exception of a user's function comes last.
  void put_results(void* result) noexcept {
    for (std::size_t i = 0; i != result_count; ++i) {
      try {
        body->put(*body, thrown == nullptr && !of->stopped() ? result : nullptr, results[i]);
      } catch (...) {
        keep(exception_of_task(), end());
      }
    }
  }

  /// By a worker that has entered.
  static runnable* help(runnable& task, fiber& self) {
    auto& me = static_cast<shared_loop&>(task);
    if (me.left.may_enter()) me.scheduler.tell_open_loop(true);  // in addition to the wake-up by a successful thief
    unsigned const wave = me.scheduler.work.current_wave();
    me.scheduler.work.add_work(self.worker->number, wave);
    interrupted_by const part_of{self, me.interrupt};
    in_modes const as_caller{me.modes};
    void* made = nullptr;
    bool const is_over = me.left.empty() || !me.make_result(made) || me.work(false, &self, made);
    if (made != nullptr) me.keep_result(made);
    me.left.leave(!is_over);
    core::ended(*self.worker, wave);
    return nullptr;
  }

  /// The caller waits until no helper is at work. Nothing is left to take.
  void wait(fiber* caller) noexcept {
    if (left.close()) return;
    // A helper has one block at most. It usually ends before a thread could have slept and woken.
    for (std::uint32_t looks = 0; looks != 100; ++looks) {
      if (left.all_have_left()) return;
      os_env::relax();
    }
    if (!left.will_wait()) return;
    if (caller != nullptr) {
      caller->wait_for(left.all_left());
    } else {
      wait_outside(left.all_left(), {"the end of a loop"});
    }
  }

  /// Where the loop ends now.
  std::size_t end() const noexcept { return body->end.load(std::memory_order_relaxed); }  // relaxed: as loop::end()

  // The loop's; up to the lock what a helper reads before its first block.
  std::size_t first = 0;
  loop_body<context>* body = nullptr;          ///< the caller's
  interrupt_state const* interrupt = nullptr;  ///< the caller's task's
  std::size_t least = 1;                       ///< iterations of a block
  std::size_t start = 1;                       ///< iterations of each thread's first block
  loop<context>* of = nullptr;                 ///< the caller's
  bool may_stop = false;
  control_words modes;  ///< of the caller
  core& scheduler;
  open_loops& one_of;
  unique_ptr<void*[]> const results;  ///< of helpers
  alignas(cache_line_size) spin_lock<> lock;
  std::exception_ptr thrown;  ///< under the lock
  std::size_t thrown_at = 0;
  std::size_t result_count = 0;  ///< under the lock
  std::size_t ran = 0;           ///< iterations by the caller: not on a line that helpers read for each block
};

HEIST_BODY bool run_shared(core& scheduler, fiber* here, loop_body<context>& body, std::size_t n, std::size_t grain,
                           std::stop_token const& stop, void* result) {
  if (here == nullptr) scheduler.check_open();
  if (n == 0) return true;
  constexpr std::uint64_t to_the_end = ~std::uint64_t{0}, patience = block_ticks / 2, short_ticks = block_ticks / 64;
  std::size_t const workers = scheduler.worker_count;
  loop<context> all{body, n, grain, stop};
  bool const is_long = grain == loop_options::automatic && n / many_iterations >= workers;
  // Iterations that can all run at the same time may wait for each other: such a loop is opened at once.
  bool const may_be_alone = workers == 1 || n / all.least() > workers;
  bool const remembers = workers != 1 && may_be_alone;
  bool const wakes = remembers && scheduler.workers[0]->gate->would_wake();
  bool const times_all = remembers && !is_long;  // long ones are timed when they are shared
  auto* const kind = reinterpret_cast<void const*>(body.run);
  loop_costs& costs = shared_loop::loops_of(scheduler, here).costs;
  std::uint64_t begin = wakes || times_all ? os_env::ticks() : 0;
  if (wakes) costs.begin(begin);
  double const iteration = remembers ? costs.of_iteration(kind) : loop_costs::unknown;
  double const expected = iteration * static_cast<double>(n);
  double const worth_opening = static_cast<double>(patience) + worth_sharing;
  bool opens = expected > worth_opening && (!wakes || (!is_long && costs.are_worth_waking(expected)));
  if (opens) {
    opens = is_long ? iteration != loop_costs::unknown : expected > 8 * worth_opening || !costs.is_measured_again();
  }
  std::size_t first = 0;
  block_size block{all.least(), block_ticks};
  if (n <= all.least() || (may_be_alone && (workers == 1 || !opens))) {
    std::size_t const parts = workers == 1 ? 1 : workers < 16 ? 2 * workers : 32;
    first = all.begin_alone(0, workers == 1 ? to_the_end : patience, wakes ? &costs : nullptr, parts, block, result);
    if (first >= all.end()) {
      std::uint64_t const now = wakes || times_all ? os_env::ticks() : 0;
      if (wakes && now - begin > patience) costs.woke_nobody(now, now - begin);
      if (times_all && first == n) costs.set_iteration(kind, now - begin, n);
      return !all.stopped();
    }
  }
  shared_loop* shared = nullptr;
  try {
    shared = &shared_loop::acquire(scheduler, here);
  } catch (std::bad_alloc const&) {
    all.begin_alone(first, to_the_end, nullptr, 1, block, result);
    return !all.stopped();
  }
  // From an earlier call, or from what the caller has run.
  std::size_t const short_block =
      opens && is_long ? static_cast<std::size_t>(short_ticks / iteration) : block.get() / 64;
  shared->open(here, all, first, short_block);
  begin = shared->tell(here != nullptr, wakes ? &costs : nullptr);
  shared->work(true, here, result);
  if (remembers && shared->ran != 0) costs.set_iteration(kind, os_env::ticks() - begin, shared->ran);
  shared->wait(here);
  shared->put_results(result);
  std::exception_ptr const thrown = std::exchange(shared->thrown, nullptr);
  shared->one_of.give_back(*shared);
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return !all.stopped();
}

}  // namespace heist::detail
