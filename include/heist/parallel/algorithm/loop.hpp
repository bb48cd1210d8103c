// The loop engine: a range of iterations that is divided before the first one runs, and when a thief asks (README.md,
// "The loop engine").
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/scheduler/loop_costs.hpp"
#include "heist/parallel/algorithm/division.hpp"
#include "heist/parallel/algorithm/fork.hpp"
#include "heist/parallel/algorithm/options.hpp"

namespace heist::detail {

/// The body of a loop, without its types: so the engine is compiled once for each kind of context.
///
/// A loop may have a result, to which each block adds. A piece makes a result of its own if it begins before the piece
/// in front of it has ended. Each helper of a shared loop makes one, too. `result` is null in loops without a result.
template <class Context>
struct loop_body {
  /// Iterations [lo, hi). `c` may be null if the body needs no context.
  void (*run)(loop_body& self, Context const* c, void* result, std::size_t lo, std::size_t hi);
  /// Makes an empty result.
  void* (*make)(loop_body& self) = nullptr;
  /// Adds `made`, which is of make(), to `result`, if that is not null, and destroys it.
  void (*put)(loop_body& self, void* result, void* made) = nullptr;

  /// An iteration may end the loop, as in searches: every worker takes the first iterations that are left.
  bool in_order = false;

  /// No iteration from `i` on needs to run any more. Any thread.
  void end_at(std::size_t i) noexcept {
    std::size_t known = end.load(std::memory_order_relaxed);  // relaxed: advice; results are ordered by the joins
    // relaxed: as above
    while (i < known && !end.compare_exchange_weak(known, i, std::memory_order_relaxed)) {
    }
  }

  /// Written when the loop ends early, read before each block.
  alignas(cache_line_size) os_env::atomic<std::size_t> end{0};
};

/// How long a block of iterations is to take, in ticks: long beside a look at the clock, short beside the time that a
/// waiting thief loses.
inline constexpr std::uint64_t block_ticks = 8192;
/// A rest of so many ticks is worth handing to a worker that is awake.
inline constexpr double worth_sharing = 8192;
/// The next block may be four times as long as one that took less.
inline constexpr std::uint64_t quick_ticks = 128;
/// So many iterations for each worker, and the first may run before the first look: a loop that is short is not worth
/// waking any worker.
inline constexpr std::size_t many_iterations = 32;
/// A fixed division makes about so many parts for each worker.
inline constexpr std::size_t parts_per_worker = 8;
/// A piece is divided before its first block, down to so many pieces for each worker. A worker in a long iteration
/// keeps less than one such piece from the other workers.
inline constexpr std::size_t pieces_per_worker = 16;

/// How many iterations the next block has. It follows the cost of the iterations, which may change during the loop. A
/// worker has one block_size for all pieces that it runs. A thief copies it with the piece that it takes.
class block_size {
 public:
  block_size(std::size_t smallest, std::uint64_t target, std::size_t first = 1) noexcept
      : smallest_{smallest}, target_{target}, now_{first > smallest ? first : smallest} {}
  block_size(block_size const& of) noexcept : smallest_{of.smallest_}, target_{of.target_}, now_{of.get()} {}
  block_size& operator=(block_size const&) = delete;

  std::size_t get() const noexcept { return now_.load(std::memory_order_relaxed); }  // relaxed: advice
  /// From iteration `at` to the next multiple of a block. So blocks of contiguous data begin where their cache lines do.
  std::size_t from(std::size_t at) const noexcept {
    std::size_t const n = get() - at % get();
    return n >= smallest_ ? n : n + get();
  }

  /// Adapts to the last block, which ran `n` iterations in `ticks`. While that is very short, blocks grow fast up to
  /// `soon` iterations: later ones may cost more, and no thief gets a part of a block.
  void adapt(std::size_t n, std::uint64_t ticks, std::size_t soon = 0) noexcept {
    if (n < get() / 2) {
      if (ticks <= target_ * 2) return;
      set(n > smallest_ ? n : smallest_);
    }
    if (ticks < target_ / 64 && 32 * get() <= soon) {
      grow(32);
    } else if (ticks < target_ / 8) {
      grow(8);
    } else if (ticks < target_ / 2) {
      grow(2);
    } else if (ticks > target_ * 8) {
      shrink(8);
    } else if (ticks > target_ * 2) {
      shrink(2);
    }
  }

 private:
  static constexpr std::size_t largest = std::size_t{1} << 40;
  void set(std::size_t n) noexcept { now_.store(n, std::memory_order_relaxed); }  // relaxed: advice
  void grow(std::size_t factor) noexcept {
    if (get() < largest) set(get() * factor);
  }
  void shrink(std::size_t factor) noexcept { set(get() / factor > smallest_ ? get() / factor : smallest_); }

  std::size_t const smallest_;
  std::uint64_t const target_;
  os_env::atomic<std::size_t> now_;
};

/// One run of a loop over [0, n).
///
/// Threads  of the task, or outside of one, whose loop it is.
/// Promises every iteration runs exactly once, unless an exception, a stop or end_at() ends the loop before. run()
///          returns, or throws, when no iteration runs any more.
template <class Context>
class loop {
 public:
  loop(loop_body<Context>& body, std::size_t n, std::size_t grain, std::stop_token const& stop) noexcept
      : body_{body}, stop_{stop.stop_possible() ? &stop : nullptr}, n_{n}, grain_{grain} {
    body.end.store(n, std::memory_order_relaxed);  // relaxed: no other thread has it yet
  }
  loop(loop const&) = delete;
  loop& operator=(loop const&) = delete;

  /// Runs all iterations. False if it was stopped. Rethrows what the body throws; of several
  /// exceptions, that of the lowest iterations.
  bool run(Context const& c, void* result) {
    if (n_ != 0) {
      split_mode const how = split_mode_of(c);
      std::size_t const workers = workers_of(c);
      bool const automatic = grain_ == loop_options::automatic;
      bool const alone = workers_of_part(c, how) == 1;
      kept_ = alone ? n_ : n_ / (workers * pieces_per_worker);
      // Alone, only requests ask, and they can wait for longer.
      block_size block{least(), alone ? 8 * block_ticks : block_ticks, alone ? std::size_t{8} : 1};
      if (how == split_mode::fixed) {
        part_ = automatic ? (n_ - 1) / fixed_parts(workers) + 1 : grain_;
        run_fixed(c, {0, n_}, block, result);
      } else {
        bool const is_long = automatic && n_ / many_iterations >= workers;
        run_part(c, {0, n_}, block, how, result, is_long ? block_ticks : 0);
      }
    }
    return !stopped();
  }

  /// Runs iterations from `at` on, without a context, for so many ticks. Then it goes on until the rest is worth sharing. If
  /// there are `costs`, the rest must also be worth waking a worker. Returns where the next iteration begins. Later
  /// iterations may cost much more, so a block is at most half of the rest. After that time, and in a loop of few iterations,
  /// it is at most 1 / `parts`. But after a very short block it may be a little longer than that one.
  /// `block` has the length of the first block, and at the end that of the next.
  HEIST_NOINLINE std::size_t begin_alone(std::size_t at, std::uint64_t ticks, loop_costs const* costs,
                                         std::size_t parts, block_size& block, void* result) {
    std::uint64_t const start_time = os_env::ticks();
    std::uint64_t before = start_time;
    bool const is_long = n_ / many_iterations >= parts;
    std::size_t quick = least();
    while (at < end()) {
      if (stops()) break;
      std::size_t const left = end() - at;
      std::size_t n = shorter(block.from(at), left);
      if (parts != 1 && left > few()) {
        std::size_t const part = is_long && before - start_time < ticks ? left / 2 : left / parts;
        n = shorter(n, longer(longer(part, shorter(quick, left / 2)), least()));
      }
      run_block(nullptr, result, at, at + n);
      at += n;
      std::uint64_t const now = os_env::ticks();
      if (now - start_time >= ticks) {
        double const rest = loop_costs::of_rest(now - before, n, end() - at);
        if (rest > worth_sharing && (costs == nullptr || costs->are_worth_waking(rest))) break;
      }
      quick = now - before < quick_ticks ? 4 * n : least();
      block.adapt(n, now - before);
      before = now;
    }
    return at;
  }

  /// Runs iterations [lo, hi). A loop that may be stopped looks for a stop every so many iterations: later ones may cost much
  /// more than those by which the block was measured.
  HEIST_ALWAYS_INLINE void run_block(Context const* c, void* result, std::size_t lo, std::size_t hi) {
    if (stop_ == nullptr) {
      body_.run(body_, c, result, lo, hi);
    } else {
      run_until_stop(c, result, lo, hi);
    }
  }

  /// The fewest iterations of a block.
  std::size_t least() const noexcept { return grain_ == loop_options::automatic ? 1 : grain_; }
  bool may_stop() const noexcept { return stop_ != nullptr; }
  /// Is it to stop? Then no iteration begins from now on. Any thread that takes part.
  bool stops() noexcept {
    if (stop_ == nullptr || !stop_->stop_requested()) return false;
    stopped_.store(true, std::memory_order_relaxed);  // relaxed: run() reads it after all joins
    body_.end_at(0);
    return true;
  }
  loop_body<Context>& body() noexcept { return body_; }
  /// The end of the loop: n, unless it was ended before.
  std::size_t end() const noexcept { return body_.end.load(std::memory_order_relaxed); }  // relaxed: as in end_at()
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }  // relaxed: asked after the joins

 private:
  struct range {
    std::size_t lo, hi;
  };
  static std::size_t shorter(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }
  static std::size_t longer(std::size_t a, std::size_t b) noexcept { return a < b ? b : a; }
  /// A block at the end may have so many, whatever they cost.
  std::size_t few() const noexcept { return shorter(n_ / 16, many_iterations); }

  HEIST_NOINLINE void run_until_stop(Context const* c, void* result, std::size_t lo, std::size_t hi) {
    std::size_t const between_looks = shorter(longer(n_ / 256, 16), 256);  // an iteration may be a piece of a list
    while (lo < (hi = shorter(hi, end())) && !stops()) {
      std::size_t const n = shorter(between_looks, hi - lo);
      body_.run(body_, c, result, lo, lo + n);
      lo += n;
    }
  }

  static std::size_t fixed_parts(std::size_t workers) noexcept {
    std::size_t parts = 1;
    while (parts < workers * parts_per_worker) parts *= 2;
    return parts;
  }

  /// An exception that leaves a piece ends the loop.
  struct ends_if_left {
    loop& self;
    bool returns = false;
    ~ends_if_left() {
      if (!returns) self.body_.end_at(0);
    }
  };

  /// Divides `r` down to kept_ iterations or a block. Then it runs blocks, and forks the upper half of the rest when a
  /// thief asks. For the first `patience` ticks it only runs blocks.
  void run_part(Context const& c, range r, block_size& block, split_mode how, void* result, std::uint64_t patience) {
    ends_if_left part{*this};
    std::uint64_t const start_time = os_env::ticks();
    std::uint64_t before = start_time;
    for (;;) {
      std::size_t const hi = shorter(r.hi, end());
      if (r.lo >= hi || stops()) break;
      std::size_t n = block.get();
      if (n >= hi - r.lo) {
        n = hi - r.lo;
      } else if (before - start_time >= patience && (hi - r.lo > kept_ || asked(c, how))) {
        fork(c, {r.lo, hi}, block, how, result);
        break;
      } else {
        n = shorter(block.from(r.lo), hi - r.lo);
      }
      if (kept_ != n_) {  // later ones may cost much more
        std::size_t const shortest = longer(longer(block.get() / 128, few()), least());
        n = shorter(n, longer((hi - r.lo) / 2, shortest));
      }
      run_block(&c, result, r.lo, r.lo + n);
      r.lo += n;
      std::uint64_t const now = os_env::ticks();
      block.adapt(n, now - before, 4 * kept_);
      before = now;
    }
    part.returns = true;
  }

  /// The result of an upper half that begins before the lower one has ended.
  class upper_result {
   public:
    explicit upper_result(loop_body<Context>& body) noexcept : body_{body} {}
    upper_result(upper_result const&) = delete;
    upper_result& operator=(upper_result const&) = delete;
    ~upper_result() {
      if (made_ != nullptr) body_.put(body_, nullptr, made_);
    }

    /// The lower half calls it at its end: its result is complete.
    void lower_has_ended() noexcept { ended_.store(true, std::memory_order_release); }  // release: pairs with below
    /// The upper half calls it at its beginning. Returns the result to add to: `lower`, if the lower half has ended.
    void* begin(void* lower) {
      if (lower == nullptr || ended_.load(std::memory_order_acquire)) return lower;  // acquire: pairs with above
      return made_ = body_.make(body_);
    }
    /// After both.
    void append_to(void* lower) {
      if (made_ != nullptr) body_.put(body_, lower, std::exchange(made_, nullptr));
    }

   private:
    loop_body<Context>& body_;
    void* made_ = nullptr;
    os_env::atomic<bool> ended_{false};
  };

  /// Calls `lower(context, result)` and `upper(context, its result)`, at the same time if a thief comes.
  template <class Lower, class Upper>
  void fork_halves(Context const& c, void* result, Lower&& lower, Upper&& upper) {
    upper_result upper_part{body_};
    fork_or_call(
        c,
        [&](Context const& in) {
          lower(in, result);
          upper_part.lower_has_ended();
        },
        [&](Context const& in) { upper(in, upper_part.begin(result)); });
    upper_part.append_to(result);
  }

  void fork(Context const& c, range r, block_size& block, split_mode how, void* result) {
    std::size_t const middle = r.lo + (r.hi - r.lo) / 2;
    fork_halves(
        c, result,
        [&](Context const& in, void* to) {
          run_part(in, {r.lo, middle}, block, how, to, 0);
        },
        [&](Context const& in, void* to) {
          block_size own{block};
          run_part(in, {middle, r.hi}, own, how, to, 0);
        });
  }

  /// The same division each time: parts of part_ iterations, halved by their number. `first`: of all, so copied.
  void run_fixed(Context const& c, range r, block_size const& first, void* result) {
    ends_if_left part{*this};
    if (split_mode const here = split_mode_of(c); here != split_mode::fixed) {
      // Below the parts that the policy remembers, within a squad.
      block_size block{first};
      run_part(c, r, block, here, result, 0);
    } else if (r.hi - r.lo > part_) {
      std::size_t const parts = (r.hi - r.lo - 1) / part_ + 1;
      std::size_t const middle = r.lo + (parts + 1) / 2 * part_;
      fork_halves(
          c, result,
          [&](Context const& in, void* to) {
            run_fixed(in, {r.lo, middle}, first, to);
          },
          [&](Context const& in, void* to) {
            run_fixed(in, {middle, r.hi}, first, to);
          });
    } else if (std::size_t const hi = shorter(r.hi, end()); r.lo < hi && !stops()) {
      run_block(&c, result, r.lo, hi);
    }
    part.returns = true;
  }

  loop_body<Context>& body_;
  std::stop_token const* const stop_;
  std::size_t const n_;
  std::size_t const grain_;
  std::size_t part_ = 1;
  std::size_t kept_ = 1;  // a piece of so many iterations is divided only if a thief asks
  os_env::atomic<bool> stopped_{false};
};

}  // namespace heist::detail
