// The squads of an executor whose policy has two tiers. The set decides which squad takes an inter-squad task, and
// which heads wake up for it (README.md, "Squads"; CAB, Algorithms I and II; CATS, section 3.3).
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/sync/idle_gate.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/locality/squads/inter_pool.hpp"

namespace heist::detail {

/// Workers that share a cache. The head, one of them, is the only one that takes inter-squad tasks.
template <class Task, class Frame, class Env = os_env>
struct basic_squad {
  basic_squad(std::uint32_t index, std::size_t workers, idle_config config) : number{index}, gate{workers, config} {}

  std::uint32_t const number;
  inter_pool<Task, Env> pool;
  /// Frames of the subtree that keeps the squad busy, which can resume: any member may take them.
  injection_queue<Frame, Env> ready;
  /// Written by the head.
  typename Env::template atomic<bool> head_absent{false};  ///< has something to do, perhaps for long
  /// Written by the head. Asked by all whenever they add a task, so apart from what is written often.
  alignas(cache_line_size) typename Env::template atomic<bool> head_asleep{false};  ///< or about to be
  /// Frames of the subtree that wait for something which they have not forked: a future, a run of a graph.
  typename Env::template atomic<std::uint32_t> waits_outside{0};
  idle_gate<Env> gate;
};

// Edges (proof: README.md, "Squads"; numbers as there)
//   Q1  add, collect, release, waits_outside: fence(seq_cst) <-> head falls asleep: head_asleep, the gate's fence, then
//                                               may_take: the one sees the sleeping head, or the head sees the task or
//                                               that there are children to deal
//   Q2  add: push, fence(seq_cst), free?    <-> release, waits_outside: free, fence(seq_cst), pools?
//                                               the one sees that the squad is free, or the other sees the task
//   Q3  head_leaves: busy and head_absent, fence(seq_cst), pinned? <-> add_pinned: push, fence(seq_cst), head_absent?
//                                               the head sees the task, or the one that adds it sees that the head is
//                                               away

/// Threads  what begins with `head` by that squad's head, the rest by any worker; make() before there are any.
template <class Task, class Frame, class Env = os_env>
class squad_set {
 public:
  using squad_type = basic_squad<Task, Frame, Env>;

  void make(std::size_t squads, std::size_t workers, idle_config config) {
    for (std::size_t s = 0; s < squads; ++s) {
      squads_.push_back(std::make_unique<squad_type>(static_cast<std::uint32_t>(s), workers, config));
      if (s != 0) squads_.back()->gate.join(squads_.front()->gate);
    }
  }
  std::size_t size() const noexcept { return squads_.size(); }
  squad_type& operator[](std::size_t i) const noexcept { return *squads_[i]; }

  /// A new task: for `to` first, but any squad may take it.
  void add(squad_type& to, Task& task) noexcept {
    to.pool.push(task);
    Env::fence(std::memory_order_seq_cst);  // Q1, Q2
    wake_free_heads();
  }
  /// A task that belongs to `to`.
  void add_pinned(squad_type& to, Task& task) noexcept {
    to.pool.push_pinned(task);
    Env::fence(std::memory_order_seq_cst);  // Q1, Q2, Q3
    wake_for_pinned(to);
  }

  /// A scope has children that it has not dealt, where a head that has claimed them deals them; and has none any more.
  void collect_begins() noexcept {
    collecting_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the fence orders it (Q1, Q2)
    Env::fence(std::memory_order_seq_cst);                // Q1, Q2
    wake_free_heads();
  }
  void collect_ends() noexcept {
    collecting_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a head with the old count finds nothing
  }
  /// Does any? A hint, but for a head that falls asleep.
  bool collects() const noexcept {
    return collecting_.load(std::memory_order_relaxed) != 0;  // relaxed: Q1, Q2
  }

  /// The task that kept `s` busy has ended with its subtree, or waits for inter-squad children. `by_head`: the caller
  /// is the head, and searches next.
  void release(squad_type& s, bool by_head) noexcept {
    s.pool.release();
    if (by_head) return;
    Env::fence(std::memory_order_seq_cst);  // Q1, Q2
    if (!anything()) return;
    wake_head(s);
    if (s.pool.maybe_pinned()) wake_for_pinned(s);
  }

  /// Steps 2, 4 and 5 of Algorithm I, one attempt; `from` is a squad at random. The squad is busy if it gets one, and
  /// `from` is the squad that had it. What lies in a pool whose head searches is left to that head.
  Task* head_take(squad_type& own, std::uint32_t& from) noexcept {
    if (own.pool.busy()) return nullptr;
    Task* task = own.pool.take();
    Task* stolen = nullptr;
    if (task == nullptr && from != own.number && may_steal_from(*squads_[from])) {
      task = own.pool.take();  // again: a fork deals the tasks of its own squad last
      if (task == nullptr) task = stolen = squads_[from]->pool.steal();
    }
    if (task == nullptr) return nullptr;
    if (stolen == nullptr) from = own.number;
    own.pool.set_busy();
    return task;
  }

  /// After a long search: whatever there is, also what belongs to another squad, whose head does not come for it.
  ///
  /// `was_busy`: the squad is busy already, with a subtree that waits for something outside. The task that is taken here
  /// may be the awaited one, so the squad takes it, although it runs two then. It does not keep the squad busy.
  Task* head_take_any(squad_type& own, bool& was_busy) noexcept {
    was_busy = own.pool.busy();
    // relaxed: Q2. free() is not called here, because busy is read once.
    if (was_busy && own.waits_outside.load(std::memory_order_relaxed) == 0) return nullptr;
    Task* task = own.pool.take();
    for (std::size_t i = 0; task == nullptr && i < squads_.size(); ++i) task = squads_[i]->pool.steal();
    for (std::size_t i = 0; task == nullptr && i < squads_.size(); ++i) task = squads_[i]->pool.steal_pinned();
    if (task != nullptr && !was_busy) own.pool.set_busy();
    return task;
  }

  /// The head is going to sleep, before the gate's try_sleep(); and did, or did not.
  void head_falls_asleep(squad_type& own) noexcept {
    own.head_asleep.store(true, std::memory_order_relaxed);  // relaxed: try_sleep fences (Q1)
  }
  void head_is_awake(squad_type& own) noexcept {
    own.head_asleep.store(false, std::memory_order_relaxed);  // relaxed: a needless wake-up does no harm
  }

  /// The head has found something to do, perhaps for long: another head takes what belongs to its squad.
  void head_leaves(squad_type& own) noexcept {
    if (own.head_absent.load(std::memory_order_relaxed)) return;  // relaxed: its own
    own.head_absent.store(true, std::memory_order_relaxed);       // relaxed: the fence orders it (Q3)
    Env::fence(std::memory_order_seq_cst);                        // Q3
    if (own.pool.maybe_pinned()) wake_free_heads();
  }
  /// The head searches again.
  void head_returns(squad_type& own) noexcept {
    // relaxed: a worker that still reads true wakes heads needlessly; written only if it changes something
    if (own.head_absent.load(std::memory_order_relaxed))
      own.head_absent.store(false, std::memory_order_relaxed);  // as above
  }

  /// A frame of the subtree that keeps `s` busy waits for something which it has not forked; and does no longer.
  void wait_outside_begins(squad_type& s) noexcept {
    s.waits_outside.fetch_add(1, std::memory_order_relaxed);  // relaxed: the fence orders it (Q1, Q2)
    Env::fence(std::memory_order_seq_cst);                    // Q1, Q2
    if (anything()) wake_head(s);
  }
  void wait_outside_ends(squad_type& s) noexcept {
    s.waits_outside.fetch_sub(1, std::memory_order_relaxed);  // relaxed: one that reads the old one takes one task more
  }

  /// Is there a task that a member of `own` may take from the squads? Exact after the fence of Q1.
  bool may_take(squad_type const& own, bool head) const noexcept {
    if (!own.ready.maybe_empty()) return true;
    return head && free(own) && anything();
  }

  /// Has a worker put a task where only `own`'s members look? Lines that other workers seldom write: a thief may ask
  /// all the time.
  bool called(squad_type const& own, bool head) const noexcept {
    return !own.ready.maybe_empty() ||
           (head && (!own.pool.maybe_empty() || own.pool.maybe_pinned()) && !own.pool.busy());
  }

  /// A frame of the subtree that keeps `s` busy can resume.
  void add_ready(squad_type& s, Frame& frame) noexcept {
    s.ready.push(frame);
    s.gate.submitted_here();
  }
  /// One of them, the oldest.
  Frame* take_ready(squad_type& s) noexcept {
    bool more = false;
    Frame* const frame = s.ready.take(more);
    if (more) s.gate.submitted_here();
    return frame;
  }

 private:
  /// After a full fence. Members sleep at one gate, so all wake: a task for the squad's head is soon work for them.
  static void wake_head(squad_type& s) noexcept {
    if (asleep(s)) s.gate.wake_here();
  }
  // `asleep` is asked first. It changes seldom; a squad writes the other flags for each task.
  void wake_free_heads() const noexcept {
    for (auto const& s : squads_) {
      if (asleep(*s) && free(*s)) wake_head(*s);  // others look when they become free: Q2
    }
  }
  void wake_for_pinned(squad_type& to) const noexcept {
    if (!any_asleep()) return;
    if (to.pool.busy() || to.head_absent.load(std::memory_order_relaxed)) {  // relaxed: Q3
      wake_free_heads();
    } else {
      wake_head(to);
    }
  }
  bool any_asleep() const noexcept {
    for (auto const& s : squads_) {
      if (asleep(*s)) return true;
    }
    return false;
  }
  static bool asleep(squad_type const& s) noexcept {
    return s.head_asleep.load(std::memory_order_relaxed);  // relaxed: Q1
  }
  /// May its head take a task?
  static bool free(squad_type const& s) noexcept {
    return !s.pool.busy() || s.waits_outside.load(std::memory_order_relaxed) != 0;  // relaxed: Q2
  }
  /// Is there an open task that its head does not come for now? A hint: a head that cannot run looks as if it came
  /// (head_take_any()).
  static bool may_steal_from(squad_type const& s) noexcept {
    return !s.pool.maybe_empty() &&
           (s.pool.busy() || asleep(s) || s.head_absent.load(std::memory_order_relaxed));  // relaxed: a hint
  }
  bool anything() const noexcept {
    if (collects()) return true;
    for (auto const& s : squads_) {
      if (!s->pool.maybe_empty() || s->pool.maybe_pinned()) return true;
    }
    return false;
  }

  std::vector<std::unique_ptr<squad_type>> squads_;
  typename Env::template atomic<std::uint32_t> collecting_{0};
};

}  // namespace heist::detail
