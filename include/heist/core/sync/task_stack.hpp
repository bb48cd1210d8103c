// The direct task stack: forked tasks in place, private to their owner until a thief asks for them, or opens the stack.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>  // ptrdiff_t, size_t
#include <cstdint>

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/sync/work_deque.hpp"  // steal_result

namespace heist::detail {

// Slots, oldest first, and what their parts are called:
//
//   first_        taken           published == split_         top (known to the owner's frames)
//     |  stolen     |   public        |      private             |
//
// One word holds both counts, taken in the upper half: its value is true at that moment, so a value that comes back
// means the same again.
//
// Edges (README.md, "Task stack")
//   E1  publish: word_.fetch_add(release)  -> steal: word_.CAS(acquire)     the contents of the slots made public
//   E2  a stolen task's end is the business of its slot (a completion); reclaim() comes after it
//   E3  ask: stores to the limits (relaxed) -> the owner's next fork or join  a request; no data travels along
//   E4  join: slot's mark; free_fence         <-> open_begin, then heavy_fence  the thief sees that the task is joined, or
//                                                                            the join is not plain
//   E5  owner_part: busy_, free_fence        <-> open_begin, then heavy_fence  the thief sees the owner at work, or the
//                                                                            owner sees the thief
//   E6  open_end: gate_.store(release)       -> owner_part: gate_.load(acquire)  what the thief has made public

/// A slot that tells whether a task lies in it: thieves may open a stack of such slots.
///
/// The owner sets the mark with release, after everything else in the slot. It clears the mark before it calls
/// join_is_plain(), with a free_fence() between the two, and sets it again if a thief has the task.
///
/// open() is make_public() by a thief. It reads the mark once, since the owner may come to the join and clear it, and is
/// false where there is none.
template <class Slot>
concept marked_slot = requires(Slot s, Slot const c) {
  { c.pending() }
  noexcept->std::same_as<bool>;
  { s.open() }
  noexcept->std::same_as<bool>;
};

/// A stack of slots in place. `Slot` needs make_public(), called before other threads can see the slot: by the owner,
/// or by a thief that opens the stack.
///
/// Threads  one owner; steal(), maybe_stealable() and ask() by any thread; open_begin() and open_end() by one thread at
///          a time.
/// Cost     fork and join in the private part: a load and a comparison each, no fence, no locked operation. A public
///          join: one compare-and-swap. A steal: one compare-and-swap. To open: one heavy fence for several stacks.
/// Promises each slot that is forked is joined by its owner as `mine` or taken by one thief. An owner that has been
///          asked publishes something at its next fork or join, if there is anything. If the owner runs a long task
///          instead, a thief opens the stack: all of its tasks are public then, but for the last `Scratch` slots.
///
/// `Scratch`: slots written past the last one that counts, by forks that find the stack full.
template <class Slot, class Env = os_env, std::size_t Scratch = 64>
class task_stack {
  template <class T>
  using atomic = typename Env::template atomic<T>;
  static constexpr bool opens = marked_slot<Slot>;

 public:
  static constexpr std::size_t scratch = Scratch;

  /// `first`: room for `capacity` + scratch slots, which stays. `alone`: there is no thief.
  task_stack(Slot* first, std::size_t capacity, bool alone) noexcept
      : fork_limit_{alone ? first + capacity : nullptr},
        join_limit_{first},
        first_{first},
        end_{first + capacity},
        alone_{alone} {}
  task_stack(task_stack const&) = delete;
  task_stack& operator=(task_stack const&) = delete;

  // --- owner ---

  /// While it lives no thief opens the stack. Owners need it for every operation that is not plain: forked(), join(),
  /// publish_all(), reclaim(), and to change what `label` of open_end() reads.
  class owner_part {
   public:
    explicit owner_part(task_stack& on) noexcept : on_{on} {
      if constexpr (opens) {
        on_.busy_.store(1, std::memory_order_relaxed);                                    // relaxed: E5
        Env::free_fence();                                                                // E5
        if (on_.gate_.load(std::memory_order_acquire) != gate::closed) on_.close_gate();  // acquire: E6
      }
    }
    owner_part(owner_part const&) = delete;
    owner_part& operator=(owner_part const&) = delete;
    ~owner_part() {
      if constexpr (opens) on_.busy_.store(0, std::memory_order_release);  // release: pairs with open_end()
    }

   private:
    task_stack& on_;
  };

  Slot* first() const noexcept { return first_; }
  Slot* end() const noexcept { return end_; }
  /// The oldest private slot.
  Slot* split() const noexcept {
    return first_ + published(word_.load(std::memory_order_relaxed));  // relaxed: the owner's, or E6
  }

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
    HEIST_ASSERT(is_part_of_owner(), "a fork that is not plain, outside of an owner_part");
    if (at >= end_) return fork_outcome::full;
    Slot* const oldest = split();
    bool const any = count == 1 ? publish_half(oldest, at + 1) : publish(oldest, at + 1);
    return any ? fork_outcome::published : fork_outcome::kept;
  }

  struct join_outcome {
    bool mine;
    bool published;  ///< other tasks have been made public
  };

  /// A join that is not plain: takes the youngest task back, unless a thief has it. A stolen one ends with reclaim().
  join_outcome join(Slot* at) noexcept {
    HEIST_ASSERT(is_part_of_owner(), "a join that is not plain, outside of an owner_part");
    if (Slot* const oldest = split(); at >= oldest) {  // only asked
      if (publish_half(oldest, at < end_ ? at : end_)) return {true, true};
      fork_limit_.store(nullptr, std::memory_order_relaxed);  // relaxed: E3; the next fork publishes
      join_limit_.store(oldest, std::memory_order_relaxed);   // relaxed: as above
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
    own_from(taken(word) == index);
    return {true, false};
  }

  /// Has everything below `top` been stolen? It stays so. acquire: the thieves' earlier effects
  bool all_taken(Slot* top) const noexcept {
    // acquire: as E1, from thief to owner; thieves do not write through the slots, so there is nothing else to see
    std::uint64_t const word = word_.load(std::memory_order_acquire);
    return published(word) == index_of(top) && taken(word) == index_of(top);
  }

  /// The task at `at`, which was stolen, has ended: the slot is free again.
  void reclaim(Slot* at) noexcept {
    HEIST_ASSERT(is_part_of_owner(), "a slot is reclaimed outside of an owner_part");
    std::uint64_t const index = index_of(at);
    // relaxed: everything is taken, so thieves only look; the next publish says so with E1
    word_.store(index << 32 | index, std::memory_order_relaxed);
    join_limit_.store(at, std::memory_order_relaxed);  // relaxed: E3; nothing private is left that could be asked for
    own_from(true);
  }

  /// Makes everything below `top` public. True if there was something private.
  bool publish_all(Slot* top) noexcept {
    HEIST_ASSERT(is_part_of_owner(), "slots are published outside of an owner_part");
    return publish(split(), top < end_ ? top : end_);
  }

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

  /// Has the owner been asked since its last fork that was not plain, with nothing public? Approximate.
  bool is_asked() const noexcept {
    return !maybe_stealable() && join_limit_.load(std::memory_order_relaxed) == everything();  // relaxed: E3
  }

  /// Is there no public task, but a private one that a thief could open? Approximate.
  bool maybe_openable() const noexcept {
    if constexpr (opens) {
      if (!Env::fences_all_threads()) return false;
      std::uint64_t const word = word_.load(std::memory_order_relaxed);  // relaxed: a hint
      return taken(word) == published(word) && first_ + published(word) < openable_end() &&
             first_[published(word)].pending();
    } else {
      return false;
    }
  }

  /// A thief that gets no answer opens the stack: open_begin(), a heavy fence, open_end(). False: there is nothing to
  /// open, and open_end() must not follow.
  bool open_begin() noexcept {
    // relaxed: this thread's own
    if (!maybe_openable() || gate_.load(std::memory_order_relaxed) != gate::closed) return false;
    gate_.store(gate::wanted, std::memory_order_release);  // E5; release: E6 of an earlier thief
    // As ask(), but written in any case: E4 is about a store of this thread.
    fork_limit_.store(nullptr, std::memory_order_relaxed);       // relaxed: E3
    join_limit_.store(everything(), std::memory_order_relaxed);  // relaxed: E3, E4
    return true;
  }
  /// Makes all tasks public that the owner has not joined, unless the owner has answered. True if there were some.
  /// `label(end)` is called before: slots below `end` are about to be public.
  template <class Label>
  bool open_end(Label&& label) noexcept {
    gate known = gate::wanted;
    // acquire: the limits that the owner stored before; relaxed: as they were stored. An owner at work, or one that has
    // written its limits since open_begin(), has answered.
    bool const waits = busy_.load(std::memory_order_acquire) == 0 &&
                       fork_limit_.load(std::memory_order_relaxed) == nullptr &&     // relaxed: as above
                       join_limit_.load(std::memory_order_relaxed) == everything();  // relaxed: as above
    gate const next = waits ? gate::opening : gate::closed;
    // acquire: the slots that the owner has published; relaxed: it has withdrawn the gate
    if (!gate_.compare_exchange_strong(known, next, std::memory_order_acquire, std::memory_order_relaxed) || !waits)
      return false;
    Slot* const from = split();
    Slot* to = from;
    while (to < openable_end() && to->open()) ++to;
    bool const some = to != from;
    if (some) {
      label(to);
      word_.fetch_add(static_cast<std::uint64_t>(to - from), std::memory_order_release);  // E1
    }
    gate_.store(gate::closed, std::memory_order_release);  // E6
    return some;
  }

  /// The tasks that a thief could take: their number, and the place of the oldest, counted from first().
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

  /// Forks of up to Scratch tasks that do not fit are taken off again: no thief may have opened them.
  Slot* openable_end() const noexcept { return end_ - first_ > std::ptrdiff_t{Scratch} ? end_ - Scratch : first_; }

  enum class gate : unsigned char {
    closed,
    wanted,  ///< a thief is between open_begin() and open_end(); the owner may set it back
    opening  ///< the thief publishes; the owner waits
  };

  bool is_part_of_owner() const noexcept {
    return !opens || busy_.load(std::memory_order_relaxed) != 0;  // relaxed: its own
  }

  /// Withdraws the slots that a thief is about to open, or waits until it has opened them.
  HEIST_COLD void close_gate() noexcept {
    for (std::uint32_t looks = 0;; ++looks) {
      gate known = gate::wanted;
      // acquire: E6, twice
      if (gate_.compare_exchange_strong(known, gate::closed, std::memory_order_acquire, std::memory_order_acquire) ||
          known == gate::closed)
        return;
      Env::spin(looks);
    }
  }

  /// Publishes half of the private slots below `top`, at least one.
  bool publish_half(Slot* oldest, Slot* top) noexcept {
    if (top <= oldest) return false;
    return publish(oldest, oldest + ((static_cast<std::size_t>(top - oldest) + 1) >> 1));
  }

  bool publish(Slot* oldest, Slot* new_split) noexcept {
    auto const count = new_split - oldest;
    if (count <= 0) return false;
    for (Slot* s = oldest; s != new_split; ++s) s->make_public();
    // relaxed: E3. Before the tasks become visible: a thief that asks after taking the last must not be overwritten.
    fork_limit_.store(end_, std::memory_order_relaxed);
    join_limit_.store(new_split, std::memory_order_relaxed);                        // relaxed: as above
    word_.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_release);  // E1
    return true;
  }

  /// With nothing public the next fork publishes, whether or not it is asked.
  void own_from(bool nothing_public) noexcept {
    if (nothing_public && !alone_) fork_limit_.store(nullptr, std::memory_order_relaxed);  // relaxed: E3
  }

  // Read by the owner at every fork and join, written by thieves that ask.
  alignas(cache_line_size) atomic<Slot*> fork_limit_;
  atomic<Slot*> join_limit_;
  Slot* const first_;
  Slot* const end_;
  bool const alone_;
  atomic<unsigned char> busy_{0};  // the owner is in its owner_part
  // The words that thieves compete for.
  alignas(cache_line_size) atomic<std::uint64_t> word_{0};
  atomic<gate> gate_{gate::closed};
};

}  // namespace heist::detail
