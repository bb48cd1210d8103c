// Direct task stacks with the same use and three ways to synchronise. One is heist::detail::task_stack, with one word for the
// stack and a private part. The other two are those of "Efficient Work Stealing" (Wool), section 3 and Fig. 3: one word
// for each task, and two words for each task. Both also exist with a private part of the same kind as heist's.
#pragma once

#include <heist/core/base/config.hpp>
#include <heist/core/base/env.hpp>
#include <heist/core/sync/task_stack.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace bench {

// Edges
//   E1  publish: state.store(release) -> thief: state.CAS/exchange(acquire); argument, and bot as the owner left it
//   E2  finish: state/alarm.store(release) -> owner: state/alarm.load(acquire); result, and bot as the thief left it
//   E3  ask: stores to the limits (relaxed) -> the owner's next fork or join; a request, no data travels along

/// A stolen task gets the worker that runs it.
using function = std::uint64_t (*)(void* thief, std::uint64_t argument);

inline constexpr std::size_t capacity = 1024;

/// Calls done() until it is true; the other thread may need this very core.
template <class Done>
void spin_until(Done done) {
  for (unsigned i = 1; !done(); ++i) i % 256 == 0 ? heist::os_env::yield() : heist::os_env::relax();
}

// --- one word for each task ---

/// The original: thieves change the state from the task to empty by compare-and-swap, the owner takes it by exchange.
class one_word {
 public:
  void publish(function f) noexcept { state_.store(reinterpret_cast<word>(f), std::memory_order_release); }  // E1
  bool looks_public() const noexcept { return is_task(state_.load(std::memory_order_relaxed)); }  // relaxed: a hint

  /// The owner's: true if the task is not stolen; otherwise it has ended.
  HEIST_ALWAYS_INLINE bool take_back() noexcept {
    // acquire: E2, if it is done
    word const s = state_.exchange(empty, std::memory_order_acq_rel);
    return is_task(s) || wait(s);
  }

  function try_take() noexcept {
    word s = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // acquire: E1
    return is_task(s) && state_.compare_exchange_strong(s, empty, std::memory_order_acquire, std::memory_order_relaxed)
               ? reinterpret_cast<function>(s)
               : nullptr;
  }
  void back_out(function f) noexcept { publish(f); }
  void commit() noexcept { state_.store(stolen, std::memory_order_relaxed); }  // relaxed: E2 follows
  void finish() noexcept { state_.store(done, std::memory_order_release); }    // E2

 private:
  using word = std::uintptr_t;
  static constexpr word empty = 0, done = 1, stolen = 2;
  static bool is_task(word s) noexcept { return s > stolen; }

  /// Empty: a thief is about to commit, or to back out.
  HEIST_NOINLINE bool wait(word s) noexcept {
    bool mine = false;
    spin_until([&] {
      if (is_task(s)) s = state_.exchange(empty, std::memory_order_acq_rel);  // acquire: E2
      mine = is_task(s);
      if (mine || s == done) return true;
      s = state_.load(std::memory_order_acquire);  // E2
      return false;
    });
    return mine;
  }

  std::atomic<word> state_{empty};
};

// --- two words for each task ---

/// Fig. 3: a thread that sets the state to empty and finds a task has the task. A thief reports the task's progress by
/// `alarm`. (The owner moves bot back only if the task was stolen: after a thief that backs out, Fig. 3 would move bot
/// below the oldest task.)
class two_words {
 public:
  void publish(function f) noexcept {
    alarm_.store(not_stolen, std::memory_order_relaxed);  // relaxed: E1 follows
    state_.store(f, std::memory_order_release);           // E1
  }
  bool looks_public() const noexcept { return state_.load(std::memory_order_relaxed) != nullptr; }  // relaxed: a hint

  HEIST_ALWAYS_INLINE bool take_back() noexcept { return test_and_set() != nullptr || wait(); }

  function try_take() noexcept { return looks_public() ? test_and_set() : nullptr; }
  void back_out(function f) noexcept { state_.store(f, std::memory_order_release); }  // E1, for the next thief
  void commit() noexcept { alarm_.store(stolen, std::memory_order_relaxed); }         // relaxed: E2 follows
  void finish() noexcept { alarm_.store(done, std::memory_order_release); }           // E2

 private:
  enum alarm : std::uint32_t { not_stolen, stolen, done };

  function test_and_set() noexcept { return state_.exchange(nullptr, std::memory_order_acq_rel); }  // acquire: E1

  HEIST_NOINLINE bool wait() noexcept {
    function s = nullptr;
    alarm a = not_stolen;
    spin_until([&] {
      s = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
      a = alarm_.load(std::memory_order_acquire);  // E2
      if (s != nullptr) s = test_and_set();
      return s != nullptr || a != not_stolen;
    });
    if (s != nullptr) return true;
    spin_until([&] { return alarm_.load(std::memory_order_acquire) == done; });  // E2
    return false;
  }

  std::atomic<function> state_{nullptr};
  std::atomic<alarm> alarm_{not_stolen};
};

/// The stack of the paper: no shared top, and a bot that belongs to the thread that has the task at bot. A thief may
/// use an old bot, and then backs out.
///
/// Threads  spawn(), join(), publish_all() by the owner; steal_and_run() by any other thread.
template <class Sync, bool Private>
class direct_stack {
 public:
  struct alignas(heist::cache_line_size) slot : Sync {
    std::atomic<function> run;
    std::atomic<std::uint64_t> argument;
    std::uint64_t result;
  };

  slot* first() const noexcept { return slots_.get(); }

  HEIST_ALWAYS_INLINE void spawn(slot* at, function f, std::uint64_t argument) noexcept {
    at->argument.store(argument, std::memory_order_relaxed);  // relaxed: E1 follows
    if constexpr (Private) {
      at->run.store(f, std::memory_order_relaxed);                           // relaxed: E1 follows
      if (!(at < fork_limit_.load(std::memory_order_relaxed))) [[unlikely]]  // relaxed: E3
        publish_half(at + 1);
    } else {
      at->publish(f);
    }
  }

  /// The result of the youngest task: of `call(argument)`, or of the thief.
  template <class Call>
  HEIST_ALWAYS_INLINE std::uint64_t join(slot* at, Call call) noexcept {
    if constexpr (Private) {
      if (!(at >= join_limit_.load(std::memory_order_relaxed))) [[unlikely]] {  // relaxed: E3
        if (!asked_or_public_is_mine(at)) return at->result;
      }
    } else {
      if (!at->take_back()) [[unlikely]] {
        bot_.store(at, std::memory_order_relaxed);  // relaxed: E2 came before, E1 follows
        return at->result;
      }
    }
    return call(at->argument.load(std::memory_order_relaxed));  // relaxed: its own
  }

  /// Makes everything below `top` public.
  void publish_all(slot* top) noexcept {
    if constexpr (Private) publish(top);
  }

  /// True if it has run a task, the oldest.
  bool steal_and_run(void* thief) {
    slot* const t = bot_.load(std::memory_order_relaxed);  // relaxed: looked at again below
    function const f = t->try_take();
    if (f == nullptr) {
      ask();
      return false;
    }
    if (bot_.load(std::memory_order_relaxed) != t) {  // relaxed: E1 came before
      t->back_out(f);
      return false;
    }
    t->commit();
    bot_.store(t + 1, std::memory_order_relaxed);  // relaxed: E2 follows; other thieves go by the state of the task
    if (!t[1].looks_public()) ask();
    t->result = f(thief, t->argument.load(std::memory_order_relaxed));  // relaxed: E1
    t->finish();
    return true;
  }

 private:
  HEIST_NOINLINE bool asked_or_public_is_mine(slot* at) noexcept {
    if (at >= split_) {                                                             // only asked
      if (!publish_half(at)) join_limit_.store(split_, std::memory_order_relaxed);  // relaxed: E3
      return true;
    }
    bool const mine = at->take_back();
    if (!mine) bot_.store(at, std::memory_order_relaxed);  // relaxed: E2 came before, E1 follows
    split_ = at;
    join_limit_.store(at, std::memory_order_relaxed);  // relaxed: E3
    // With nothing public the next fork publishes. relaxed, both: its own; E3
    if (bot_.load(std::memory_order_relaxed) == at) fork_limit_.store(nullptr, std::memory_order_relaxed);
    return mine;
  }

  HEIST_NOINLINE bool publish_half(slot* top) noexcept { return publish(split_ + (top - split_ + 1) / 2); }

  bool publish(slot* new_split) noexcept {
    if (new_split <= split_) return false;
    slot* s = split_;
    split_ = new_split;
    fork_limit_.store(first() + capacity, std::memory_order_relaxed);                // relaxed: E3
    join_limit_.store(new_split, std::memory_order_relaxed);                         // relaxed: E3
    for (; s != new_split; ++s) s->publish(s->run.load(std::memory_order_relaxed));  // relaxed: its own
    return true;
  }

  void ask() noexcept {
    if constexpr (Private) {
      slot* const everything = reinterpret_cast<slot*>(~std::uintptr_t{0});
      // relaxed, all: E3
      if (fork_limit_.load(std::memory_order_relaxed) != nullptr) fork_limit_.store(nullptr, std::memory_order_relaxed);
      if (join_limit_.load(std::memory_order_relaxed) != everything)
        join_limit_.store(everything, std::memory_order_relaxed);
    }
  }

  std::unique_ptr<slot[]> slots_ = std::make_unique<slot[]>(capacity + 1);
  alignas(heist::cache_line_size) std::atomic<slot*> fork_limit_{nullptr};
  std::atomic<slot*> join_limit_{first()};
  slot* split_ = first();
  alignas(heist::cache_line_size) std::atomic<slot*> bot_{first()};
};

// --- one word for the stack ---

/// heist::detail::task_stack as heist uses it, or with everything public at once.
template <bool Private>
class shipped_stack {
 public:
  struct alignas(heist::cache_line_size) slot {
    void make_public() noexcept { done.store(false, std::memory_order_relaxed); }  // relaxed: published with the slot
    std::atomic<function> run;
    std::atomic<std::uint64_t> argument;
    std::atomic<bool> done;
    std::uint64_t result;
  };

  slot* first() const noexcept { return stack_.first(); }

  HEIST_ALWAYS_INLINE void spawn(slot* at, function f, std::uint64_t argument) noexcept {
    at->argument.store(argument, std::memory_order_relaxed);  // relaxed, both: the stack publishes the slot
    at->run.store(f, std::memory_order_relaxed);
    if constexpr (Private) {
      if (!stack_.fork_is_plain(at)) [[unlikely]]
        publish(at);
    } else {
      stack_.publish_all(at + 1);
    }
  }

  template <class Call>
  HEIST_ALWAYS_INLINE std::uint64_t join(slot* at, Call call) noexcept {
    if ((Private && stack_.join_is_plain(at)) || take_back(at)) [[likely]]
      return call(at->argument.load(std::memory_order_relaxed));  // relaxed: its own
    return at->result;
  }

  void publish_all(slot* top) noexcept { stack_.publish_all(top); }

  bool steal_and_run(void* thief) {
    auto const loot = stack_.steal();
    if (loot.status != heist::detail::steal_status::stolen) {
      if (Private && loot.status == heist::detail::steal_status::empty) stack_.ask();
      return false;
    }
    slot& s = *loot.item;
    // relaxed, both: came with the steal
    s.result = s.run.load(std::memory_order_relaxed)(thief, s.argument.load(std::memory_order_relaxed));
    s.done.store(true, std::memory_order_release);  // E2
    return true;
  }

 private:
  HEIST_NOINLINE void publish(slot* at) noexcept { stack_.forked(at); }
  HEIST_NOINLINE bool take_back(slot* at) noexcept {
    if (stack_.join(at).mine) return true;
    spin_until([&] { return at->done.load(std::memory_order_acquire); });  // E2
    stack_.reclaim(at);
    return false;
  }

  std::unique_ptr<slot[]> slots_ = std::make_unique<slot[]>(capacity + heist::detail::task_stack<slot>::scratch);
  heist::detail::task_stack<slot> stack_{slots_.get(), capacity, false};
};

}  // namespace bench
