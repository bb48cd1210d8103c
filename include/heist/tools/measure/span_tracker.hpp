// The work and span of a task so far: the clock of its strands, and its children's sums.
#pragma once

#include <algorithm>  // max, min, sort
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <type_traits>
#include <utility>  // forward, index_sequence

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/tools/measure/instrumented_context.hpp"

namespace heist::detail {

struct span_totals {
  std::uint64_t work = 0, span = 0, burdened = 0, tasks = 0, strands = 0;
};

/// Children add to it as they end, wherever that is; all have when their scope has been waited for.
class span_tally {
 public:
  explicit span_tally(std::uint64_t cost_of_steal) noexcept : steal_cost{cost_of_steal} {}
  span_tally(span_tally const&) = delete;
  span_tally& operator=(span_tally const&) = delete;

  /// The child was forked when its parent's span, and burdened span, were these.
  void child_ended(span_totals const& child, std::uint64_t at_span, std::uint64_t at_burdened) noexcept {
    add(work_, child.work);
    add(tasks_, child.tasks + 1);
    add(strands_, child.strands);
    add(burdened_, child.burdened);
    raise(latest_, at_span + child.span);
    raise(latest_burdened_, at_burdened + steal_cost + child.burdened);
  }

  void add_to(span_totals& all) noexcept {
    all.work += take(work_);
    all.tasks += take(tasks_);
    all.strands += take(strands_);
    all.span = std::max(all.span, take(latest_));
    all.burdened = std::min(all.burdened + take(burdened_), std::max(all.burdened, take(latest_burdened_)));
  }

  std::uint64_t const steal_cost;

 private:
  using number = os_env::atomic<std::uint64_t>;
  static void add(number& sum, std::uint64_t value) noexcept {
    sum.fetch_add(value, std::memory_order_relaxed);  // relaxed: the join orders all of these
  }
  static void raise(number& largest, std::uint64_t value) noexcept {
    std::uint64_t seen = largest.load(std::memory_order_relaxed);  // relaxed: as above
    while (seen < value &&
           // relaxed: as above
           !largest.compare_exchange_weak(seen, value, std::memory_order_relaxed, std::memory_order_relaxed)) {
      os_env::relax();
    }
  }
  static std::uint64_t take(number& n) noexcept {
    // relaxed: as above
    return n.exchange(0, std::memory_order_relaxed);
  }

  number work_{0}, tasks_{0}, strands_{0}, burdened_{0};
  number latest_{0}, latest_burdened_{0};  ///< when the last child ends, from the beginning of the task that forks
};

/// The work and span of one task so far, and the start of its present strand. Lives on the task's frame.
template <class Clock>
class span_tracker {
 public:
  class scope_part;

  explicit span_tracker(std::uint64_t cost_of_steal) noexcept : steal_cost{cost_of_steal} {}
  span_tracker(span_tracker const&) = delete;
  span_tracker& operator=(span_tracker const&) = delete;

  HEIST_ALWAYS_INLINE void begin_strand() noexcept { since_ = Clock::ticks(); }
  HEIST_ALWAYS_INLINE void end_strand() noexcept {
    std::uint64_t const now = Clock::ticks();
    // A strand that waits for a future may end on another processor, whose clock may be some ticks behind.
    std::uint64_t const elapsed = now > since_ ? now - since_ : 0;
    totals.work += elapsed;
    totals.span += elapsed;
    totals.burdened += elapsed;
    ++totals.strands;
  }

  // Functions that instrumented_context calls

  void footprint(std::uint64_t) const noexcept {}

  /// Stops the strand while `all(children...)` forks and joins, and adds what the children did.
  template <class Fork, class... F>
  auto fork(Fork all, F&... f) {
    children<sizeof...(F)> forked{*this};
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return all(task<F>{&f, &forked.totals[I], steal_cost}...);
    }
    (std::index_sequence_for<F...>{});
  }

  /// A region's run is a child that nothing runs beside.
  template <class Context, class F>
  decltype(auto) enter(Context const& c, region& r, F& f) {
    children<1> body{*this};
    return c.invoke(r, task<F>{&f, &body.totals[0], steal_cost});
  }

  /// `f`, to be called with a context whose totals are not asked for.
  template <class F>
  auto unseen(F&& f) const {
    return submitted<std::decay_t<F>>{std::forward<F>(f), steal_cost};
  }

  /// In place of a callable: calls it with a context that measures, and stores its work and span in `*out`.
  template <class F>
  struct task {
    template <class Order, class... Values>
    requires(sizeof...(Values) == 0 ||
             can_be_instrumented<F, instrumented_context<basic_context<Order>, span_tracker>, Values...>) decltype(auto)
    operator()(basic_context<Order> c, Values&&... values) const {
      span_tracker tracker{steal_cost};
      strand_of_task const strand{tracker, *out};
      return call_instrumented(*function, c, tracker, std::forward<Values>(values)...);
    }

    F* function;
    span_totals* out;
    std::uint64_t steal_cost;
  };

  std::uint64_t const steal_cost;
  span_totals totals;

 private:
  struct strand_of_task {
    strand_of_task(span_tracker& m, span_totals& to) noexcept : tracker{m}, out{to} { tracker.begin_strand(); }
    strand_of_task(strand_of_task const&) = delete;
    strand_of_task& operator=(strand_of_task const&) = delete;
    ~strand_of_task() {
      tracker.end_strand();
      out = tracker.totals;
    }
    span_tracker& tracker;
    span_totals& out;
  };

  template <class F>
  struct submitted {
    template <class Order, class... Values>
    requires(sizeof...(Values) == 0 ||
             can_be_instrumented<F, instrumented_context<basic_context<Order>, span_tracker>, Values...>) decltype(auto)
    operator()(basic_context<Order> c, Values&&... values) {
      span_totals no_requests;
      return task<F>{&function, &no_requests, steal_cost}(c, std::forward<Values>(values)...);
    }
    F function;
    std::uint64_t steal_cost;
  };

  /// Of one fork_join: stops the parent's strand, and adds the children when they have ended.
  template <std::size_t N>
  struct children {
    explicit children(span_tracker& m) noexcept : tracker{m} { tracker.end_strand(); }
    children(children const&) = delete;
    children& operator=(children const&) = delete;
    ~children() {
      std::uint64_t longest = 0, longest_burdened = totals[0].burdened, in_sequence = 0;
      span_totals& all = tracker.totals;
      for (std::size_t i = 0; i < N; ++i) {
        span_totals const& child = totals[i];
        all.work += child.work;
        all.tasks += child.tasks;
        all.strands += child.strands;
        longest = std::max(longest, child.span);
        if (i != 0) longest_burdened = std::max(longest_burdened, child.burdened + tracker.steal_cost);
        in_sequence += child.burdened;
      }
      all.tasks += N - 1;
      all.span += longest;
      all.burdened += std::min(longest_burdened, in_sequence);
      tracker.begin_strand();
    }

    span_tracker& tracker;
    std::array<span_totals, N> totals{};
  };

  std::uint64_t since_ = 0;
};

/// A child of a scope starts where its fork() is in the span of the task that made the scope; the burden is counted
/// where join() is.
template <class Clock>
class span_tracker<Clock>::scope_part {
 public:
  explicit scope_part(span_tracker& m) noexcept : tracker_{m}, tally_{m.steal_cost} {}
  scope_part(scope_part const&) = delete;
  scope_part& operator=(scope_part const&) = delete;
  ~scope_part() {
    tally_.add_to(tracker_.totals);
    tracker_.begin_strand();
  }

  template <class Scope, class F>
  void fork(Scope& inner, std::size_t, F&& f) {
    stopped_clock const stop{tracker_};
    auto const& now = tracker_.totals;
    inner.fork(child<std::decay_t<F>>{std::forward<F>(f), &tally_, now.span, now.burdened});
  }

  template <class Scope>
  void join(Scope& inner) {
    stopped_clock const stop{tracker_};
    struct adding {
      scope_part& part;
      ~adding() { part.tally_.add_to(part.tracker_.totals); }
    } const end{*this};
    inner.join();
  }

  void leave() noexcept { tracker_.end_strand(); }

 private:
  struct stopped_clock {
    explicit stopped_clock(span_tracker& m) noexcept : tracker{m} { tracker.end_strand(); }
    stopped_clock(stopped_clock const&) = delete;
    stopped_clock& operator=(stopped_clock const&) = delete;
    ~stopped_clock() { tracker.begin_strand(); }
    span_tracker& tracker;
  };

  template <class F>
  struct child {
    template <class Order>
    void operator()(basic_context<Order> c) {
      span_totals mine;
      struct ending {
        child const& self;
        span_totals const& mine;
        ~ending() { self.to->child_ended(mine, self.at_span, self.at_burdened); }
      } const end{*this, mine};
      static_cast<void>(task<F>{&function, &mine, to->steal_cost}(c));
    }
    F function;
    span_tally* to;
    std::uint64_t at_span, at_burdened;
  };

  span_tracker& tracker_;
  span_tally tally_;
};

/// The measured time of an empty strand: the median of some measurements.
template <class Clock>
std::uint64_t empty_strand() noexcept {
  std::array<std::uint64_t, 101> times;
  for (std::uint64_t& t : times) {
    span_tracker<Clock> tracker{0};
    tracker.begin_strand();
    tracker.end_strand();
    t = tracker.totals.work;
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace heist::detail
