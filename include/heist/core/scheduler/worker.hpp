// One worker: its deque, the fields that it alone writes, and the fields that other threads read.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/random.hpp"
#include "heist/core/fiber/fiber_context.hpp"
#include "heist/core/fiber/handler_stack.hpp"
#include "heist/core/memory/block_pool.hpp"
#include "heist/core/memory/stack.hpp"
#include "heist/core/scheduler/fork_slot.hpp"
#include "heist/core/scheduler/open_loops.hpp"
#include "heist/core/scheduler/ready_tasks.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/sync/idle_gate.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/core/sync/notification.hpp"
#include "heist/core/sync/request_share.hpp"
#include "heist/core/sync/slot.hpp"
#include "heist/core/sync/task_stack.hpp"
#include "heist/core/sync/work_deque.hpp"

namespace heist::detail {

class core;
class fiber;
struct worker;

/// Counts tasks that workers have finished, in portions (a run of a graph).
struct pending_count_holder {
  /// `n` tasks more are finished. Called by `w`, which may push tasks that follow.
  void (*add)(pending_count_holder& self, std::uint32_t n, worker& w);
};

/// The state of a worker. worker_loop.hpp has its code.
struct worker {
  worker(core& owner, std::uint32_t index, bool alone_in_executor, std::uint64_t seed, block_freelist& freelist,
         stack&& slots, std::size_t most_continuations)
      : scheduler{owner},
        number{index},
        alone{alone_in_executor},
        random{seed},
        blocks{freelist},
        deque{work_deque<runnable*>::usual_capacity, !alone_in_executor},
        continuation_memory{std::move(slots)},
        continuations{reinterpret_cast<continuation_slot*>(continuation_memory.top()), most_continuations,
                      alone_in_executor} {
    continuation_top = continuations.first();
  }
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;

  // Set before the thread starts, then constant.
  core& scheduler;
  std::uint32_t const number;
  bool const alone;             ///< the executor has no other worker: no thief, and counters need no locked operation
  idle_gate<>* gate = nullptr;  ///< where it sleeps
  std::uint32_t group = 0;      ///< continuations are stolen within a group only, where the policy says so
  void* extension_data = nullptr;  ///< the data that the policy's extension keeps of it
  open_loops loops;                ///< the loops that its tasks share with other workers

  // Owner only.
  bool active = false;                        ///< counted among the active workers
  std::uint64_t active_since = 0;             ///< in ticks
  std::uint64_t worked = 0;                   ///< ticks from becoming active to becoming inactive, the last time
  bool loop_is_next = false;                  ///< a loop of a thread outside comes before the next request
  std::uint64_t permit_since = 0;             ///< when it got its permit, in ticks (worker_permits)
  std::uint32_t until_look = 64;              ///< tasks to run before the next look at the oldest entry
  worker* had_more = nullptr;                 ///< it stole there last, and left tasks in the deque
  std::uint32_t returned = 0;                 ///< how often it has come there again
  std::uint64_t last_look = os_env::ticks();  ///< when that was last taken, in ticks
  request_share share;                        ///< how much of its time requests get
  std::uint32_t pending_count = 0;            ///< tasks finished for `holder` and not yet reported
  pending_count_holder* holder = nullptr;
  fiber* cached = nullptr;         ///< fibers stopped in their loop, to continue with when one parks
  fiber* unused = nullptr;         ///< fibers with nothing on them, for children and new loops
  std::uint32_t cached_added = 0;  ///< added to `cached` since it was last given up
  std::uint32_t unused_added = 0;  ///< the same of `unused`
  static constexpr std::uint32_t keeps_fibers = 32;
  std::uint32_t pinned_fibers = 0;  ///< parked under a no_migrate guard: they resume on this worker's present thread
  bool has_helper = false;          ///< a thread from outside carries it for a while (helper.hpp)
  continuation_slot* continuation_top = nullptr;  ///< one past its youngest continuation
  std::uint64_t forked_at = 0;                    ///< ticks; continuations while tasks are long
  std::uint32_t short_forks = 0;                  ///< how many came one right after the other
  std::uint64_t ended[2]{};                       ///< units of work that ended here, by wave
  fast_random random;
  fiber_context* boot = nullptr;  ///< the stack that the thread was born with
  handler_stack signals;

  block_pool blocks;  ///< for small objects that tasks make and destroy

  // Its thread, and a helper's (helper.hpp).
  basic_slot<> slot;
  std::uint32_t bed = number;  ///< its index in the gate's event count, or the helper's

  // Owner writes, other threads read.
  /// BWS: how many sleepers thieves may still wake on this worker's behalf; thieves take from it.
  alignas(cache_line_size) os_env::atomic<std::uint32_t> help_wanted{0};
  /// There may be something that waits for it, or for any worker, while all are busy: requests, fibers of its own. It
  /// is looked at after each task, and where forks are slow.
  notification_flag<> notification;
  os_env::atomic<char const*> state{"not started"};  ///< for state_text(); thieves know `searching`
  static constexpr char searching[] = "searching";
  static constexpr char running[] = "active";
  static constexpr char asleep[] = "asleep";
  static constexpr char vacant[] = "without a thread";  ///< options::caller_is_worker
  os_env::atomic<int> thread{0};                        ///< as the system numbers it
  os_env::atomic<bool> has_permit{false};               ///< where executors share a limit of threads
  /// When it has made a parked fiber ready while its deque was empty, in ticks.
  os_env::atomic<std::uint64_t> woke_at{0};
  /// Ticks, one or two microseconds: so long thieves leave such a fiber alone. Tasks that take turns (a lock, a channel) stay
  /// on one core so (core/sync/README.md, "Own turn").
  static constexpr std::uint64_t own_turn = 4096;
  /// How far its oldest continuation is from the root of the computation when none is stolen. As fiber::depth.
  os_env::atomic<std::uint32_t> depth{0};
  /// The fiber it runs on, whose forked tasks thieves may take. release: they see it constructed.
  os_env::atomic<fiber*> current{nullptr};

  work_deque<runnable*> deque;
  ready_tasks ready;  ///< tasks of graphs with priorities; the deque holds it once for each of them

  stack continuation_memory;
  /// Child-first: frames that have called a child, oldest first.
  task_stack<continuation_slot> continuations;

  /// Parked fibers that may resume nowhere else (no_migrate, rules of extensions); any worker adds to it.
  injection_queue<queued_runnable> own_fibers;
  /// Work given to this worker; any worker adds to it, and takes from it when it finds nothing else.
  injection_queue<queued_runnable> mailbox;

  /// Does it steal from `had_more` next? Among many workers that is hard to find again. Asked where the policy does not
  /// choose among victims. Before one of 16 returns it tries another victim: that one may have work, too.
  bool returns() noexcept { return had_more != nullptr && ++returned % 16 != 0; }

  /// Before it makes a parked fiber ready.
  void wakes() noexcept {
    if (deque.maybe_empty()) woke_at.store(os_env::ticks(), std::memory_order_relaxed);  // relaxed: a hint
  }
  /// Any thread: is the only item of its deque, if there is one, to be left alone?
  bool just_woke() const noexcept {
    std::uint64_t const at = woke_at.load(std::memory_order_relaxed);  // relaxed: a hint
    return at != 0 && os_env::ticks() - at < own_turn;
  }

  /// Before a task that counts for `k`: reports the count for another keeper, for which a task may wait.
  HEIST_ALWAYS_INLINE void work_for(pending_count_holder& k) {
    if (holder != &k) [[unlikely]]
      change_holder(k);
  }
  /// Counts one finished task for `k`, without telling it yet.
  HEIST_ALWAYS_INLINE void count_for(pending_count_holder& k) {
    if (holder != &k) [[unlikely]]
      change_holder(k);  // the task has moved here, or waited
    ++pending_count;
  }
  HEIST_NOINLINE void change_holder(pending_count_holder& k) {
    report_pending_count();
    holder = &k;
  }
  /// Reports the count to its keeper. To be called before anything that is not one of its tasks. Runs no user code.
  void report_pending_count() {
    while (pending_count != 0) {  // a task that ends by this may be another keeper's
      std::uint32_t const n = pending_count;
      pending_count = 0;
      holder->add(*holder, n, *this);
    }
  }
};

}  // namespace heist::detail
