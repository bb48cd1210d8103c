// The direct task stack: forked tasks in place, private to their owner until a thief asks for them.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/base/assert.hpp"
#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/sync/work_deque.hpp"  // steal_result

namespace heist {

// Slots, oldest first, and what their parts are called:
//
//   first_        taken           published == split_         top (known to the owner's frames)
//     |  stolen     |   public        |      private             |
//
// One word holds both counts, taken in the upper half: what it says is true at that moment, so a value that comes back
// means the same again.
//
// Edges (README.md, "Task stack")
//   E1  publish: word_.fetch_add(release)  -> steal: word_.CAS(acquire)     the contents of the slots made public
//   E2  a stolen task's end is the business of its slot (a completion); reclaim() comes after it
//   E3  ask: stores to the limits (relaxed) -> the owner's next fork or join  a request; no data travels along

/// A stack of slots in place. `Slot` needs make_public(), called by the owner before others can see it.
///
/// Threads  one owner; steal(), maybe_stealable() and ask() by any thread.
/// Cost     fork and join in the private part: a load and a comparison each, no fence, no locked operation. A public
///          join: one compare-and-swap. A steal: one compare-and-swap.
/// Promises each slot that is forked is joined by its owner as `mine` or taken by one thief. An owner that has been
/// asked publishes something at its next fork or join, if there is anything.
template <class Slot, class Env = os_env>
class task_stack {
  template <class T>
  using atomic = typename Env::template atomic<T>;

 public:
  /// Slots written past the last one that counts, by forks that find the stack full.
  static constexpr std::size_t scratch = 64;

  /// `first`: room for `capacity` + scratch slots, which stays. `alone`: there is no thief.
  task_stack(Slot* first, std::size_t capacity, bool alone) noexcept
      : fork_limit_{alone ? first + capacity : nullptr},
        join_limit_{first},
        split_{first},
        first_{first},
        end_{first + capacity},
        alone_{alone} {}
  task_stack(task_stack const&) = delete;
  task_stack& operator=(task_stack const&) = delete;

  // --- owner ---

  Slot* first() const noexcept { return first_; }
  Slot* end() const noexcept { return end_; }
  /// The oldest private slot.
  Slot* split() const noexcept { return split_; }

  /// May a task that has been written to `at` just stay there? If not: forked().
  HEIST_ALWAYS_INLINE bool fork_is_plain(Slot* at) const noexcept {
    return at < fork_limit_.load(std::memory_order_relaxed);  // relaxed: E3
  }
  /// Is the youngest task, at `at`, still the owner's, and does no thief ask? If not: join().
  HEIST_ALWAYS_INLINE bool join_is_plain(Slot* at) const noexcept {
    return at >= join_limit_.load(std::memory_order_relaxed);  // relaxed: E3
  }

  enum class fork_outcome { kept, published, full };

  /// A fork that is not plain, of `count` tasks up to `at`. Several are published all together, so that each can run
  /// at once. `full`: they are not on the stack; those that have been written below end() must be taken away again.
  fork_outcome forked(Slot* at, std::size_t count = 1) noexcept {
    if (at >= end_) return fork_outcome::full;
    bool const any = count == 1 ? publish_half(at + 1) : publish(at + 1);
    return any ? fork_outcome::published : fork_outcome::kept;
  }

  struct join_outcome {
    bool mine;
    bool published;  ///< other tasks have been made public
  };

  /// A join that is not plain: takes the youngest task back, unless a thief has it. A stolen one ends with reclaim().
  join_outcome join(Slot* at) noexcept {
    if (at >= split_) {  // only asked
      if (publish_half(at < end_ ? at : end_)) return {true, true};
      fork_limit_.store(nullptr, std::memory_order_relaxed);  // relaxed: E3; the next fork publishes
      join_limit_.store(split_, std::memory_order_relaxed);   // relaxed: as above
      return {true, false};
    }
    std::uint32_t const index = index_of(at);
    // relaxed: E3. Before the exchange: a thief that asks after having taken the last must not be overwritten.
    join_limit_.store(at, std::memory_order_relaxed);
    std::uint64_t word = word_.load(std::memory_order_relaxed);  // relaxed: the owner wrote these slots itself
    do {
      if (taken(word) > index) return {false, false};
      HEIST_ASSERT(published(word) == index + 1, "a task is joined that is not the youngest");
      // release: join_limit_, as above; relaxed: as above
    } while (!word_.compare_exchange_weak(word, word - 1, std::memory_order_release, std::memory_order_relaxed));
    own_from(at, taken(word) == index);
    return {true, false};
  }

  /// Has everything below `top` been stolen? It stays so. acquire: what thieves did before
  bool all_taken(Slot* top) const noexcept {
    // acquire: as E1, from thief to owner; thieves do not write through the slots, so there is nothing else to see
    return split_ == top && taken(word_.load(std::memory_order_acquire)) == index_of(top);
  }

  /// The task at `at`, which was stolen, has ended: the slot is free again.
  void reclaim(Slot* at) noexcept {
    std::uint64_t const index = index_of(at);
    // relaxed: everything is taken, so thieves only look; what is published next says so with E1
    word_.store(index << 32 | index, std::memory_order_relaxed);
    join_limit_.store(at, std::memory_order_relaxed);  // relaxed: E3; nothing private is left that could be asked for
    own_from(at, true);
  }

  /// Makes everything below `top` public. True if there was something private.
  bool publish_all(Slot* top) noexcept { return publish(top < end_ ? top : end_); }

  // --- any thread ---

  /// Takes the oldest public task. After it the slot's fields belong to the thief, until the task has ended.
  steal_result<Slot*> steal() noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    if (taken(word) >= published(word)) return {steal_status::empty, nullptr};
    // acquire: E1
    if (!word_.compare_exchange_strong(word, word + (std::uint64_t{1} << 32), std::memory_order_acquire,
                                       std::memory_order_relaxed))
      return {steal_status::lost, nullptr};
    if (taken(word) + 1 == published(word)) ask();
    return {steal_status::stolen, first_ + taken(word)};
  }

  /// Is there a public task? Approximate.
  bool maybe_stealable() const noexcept {
    std::uint64_t const word = word_.load(std::memory_order_relaxed);  // relaxed: a hint; sleepers fence before
    return taken(word) < published(word);
  }

  /// Makes the owner publish at its next fork or join.
  void ask() noexcept {
    // relaxed: E3. Written only if it changes something: the owner reads this line at every fork.
    if (fork_limit_.load(std::memory_order_relaxed) != nullptr)
      fork_limit_.store(nullptr, std::memory_order_relaxed);          // relaxed: E3
    if (join_limit_.load(std::memory_order_relaxed) != everything())  // relaxed: E3
      join_limit_.store(everything(), std::memory_order_relaxed);     // relaxed: E3
  }

  /// What a thief could take: how many tasks, and where the oldest of them stands, counted from first().
  struct public_part {
    std::uint32_t tasks;
    std::uint32_t oldest;
  };
  /// A look that writes nothing. Approximate.
  public_part public_snapshot() const noexcept {
    std::uint64_t const word = word_.load(std::memory_order_relaxed);  // relaxed: a hint
    return {taken(word) < published(word) ? published(word) - taken(word) : 0, taken(word)};
  }
  /// How many public tasks there are. Approximate.
  std::size_t size_snapshot() const noexcept { return public_snapshot().tasks; }

 private:
  static constexpr std::uint32_t taken(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word >> 32); }
  static constexpr std::uint32_t published(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word); }
  static Slot* everything() noexcept { return reinterpret_cast<Slot*>(~std::uintptr_t{0}); }
  std::uint32_t index_of(Slot* at) const noexcept { return static_cast<std::uint32_t>(at - first_); }

  /// Half of what is private below `top`, at least one.
  bool publish_half(Slot* top) noexcept { return publish(split_ + (top - split_ + 1) / 2); }

  bool publish(Slot* new_split) noexcept {
    auto const count = new_split - split_;
    if (count <= 0) return false;
    for (Slot* s = split_; s != new_split; ++s) s->make_public();
    split_ = new_split;
    // relaxed: E3. Before the tasks become visible: a thief that asks after taking the last must not be overwritten.
    fork_limit_.store(end_, std::memory_order_relaxed);
    join_limit_.store(new_split, std::memory_order_relaxed);                        // relaxed: as above
    word_.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_release);  // E1
    return true;
  }

  /// The owner has the slots from `at` on. With nothing public the next fork publishes, whether or not it is asked.
  void own_from(Slot* at, bool nothing_public) noexcept {
    split_ = at;
    if (nothing_public && !alone_) fork_limit_.store(nullptr, std::memory_order_relaxed);  // relaxed: E3
  }

  // Read by the owner at every fork and join, written by thieves that ask.
  alignas(cache_line_size) atomic<Slot*> fork_limit_;
  atomic<Slot*> join_limit_;
  Slot* split_;
  Slot* const first_;
  Slot* const end_;
  bool const alone_;
  // What thieves compete for.
  alignas(cache_line_size) atomic<std::uint64_t> word_{0};
};

}  // namespace heist
