// Measures the work and the span of a fork/join program, by a context that looks at the clock at every fork and join.
#pragma once

#include <algorithm>  // max, min, sort
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>  // forward, index_sequence, move

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/base/result.hpp"
#include "heist/fork/fork_join.hpp"
#include "heist/fork/scope.hpp"
#include "heist/fork/work_span_profile.hpp"
#include "heist/sched/context.hpp"

// What is counted
//
//   A strand is what a task does between two forks or joins of its own: the clock is read where it begins and where it
//   ends, and stands still for the task while a fork or a join is at work, or waits. Work is the sum of all strands,
//   span the largest sum along a chain of them; both are what the program itself takes, without the library.
//
//   Burdened: a child that its parent does not go on with itself begins steal_cost later, unless it is cheaper to run
//   all children of that fork one after the other, in which case they are counted so. With steal_cost 0 it is the span.
//
// What measuring costs
//
//   Two looks at the clock for each strand; about one of the two is counted with the strand, since nothing is
//   subtracted by guess. So strands of a few dozen cycles seem longer than they are: the profile says what an empty one
//   would take (20 to 40 cycles on x86-64), and work / strands says what one took on average. The compiler also inlines
//   less than without. A program that uses heist::context and not this one pays nothing: it is another type.
//
//   Time is wall time: what the operating system takes away from a strand, or a future that it waits for, counts as its
//   work, and a single long interruption may become the span. Measure with as many workers as there are idle CPUs, one
//   for the least noise: neither work nor span depends on their number.

namespace heist {
namespace detail {

struct span_totals {
  std::uint64_t work = 0, span = 0, burdened = 0, tasks = 0, strands = 0;
};

/// What one task has done so far, and since when its present strand runs. Of the task; on its frame.
template <class Clock>
class span_meter {
 public:
  explicit span_meter(std::uint64_t cost_of_steal) noexcept : steal_cost{cost_of_steal} {}
  span_meter(span_meter const&) = delete;
  span_meter& operator=(span_meter const&) = delete;

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

  std::uint64_t const steal_cost;
  span_totals totals;

 private:
  std::uint64_t since_ = 0;
};

/// What a strand with nothing in it is measured to take: the median of some.
template <class Clock>
std::uint64_t empty_strand() noexcept {
  std::array<std::uint64_t, 101> times;
  for (std::uint64_t& t : times) {
    span_meter<Clock> meter{0};
    meter.begin_strand();
    meter.end_strand();
    t = meter.totals.work;
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// In place of a callable: calls it with a context that measures, and leaves what it has done in `*out`.
template <class Measuring, class Clock, class F>
struct measured_task {
  using inner_context = typename Measuring::inner_context;

  decltype(auto) operator()(inner_context c) const {
    span_meter<Clock> meter{steal_cost};
    strand_of_task const strand{meter, *out};
    if constexpr (std::is_invocable_v<F&>) {
      return (*function)();
    } else {
      static_assert(std::is_invocable_v<F&, Measuring>,
                    "heist: a task that is measured must be callable as f() or f(context) with a context of type "
                    "heist::work_span_context; mend it by taking the context as auto or as a template parameter.");
      return (*function)(Measuring{c, meter});
    }
  }

  struct strand_of_task {
    strand_of_task(span_meter<Clock>& m, span_totals& to) noexcept : meter{m}, out{to} { meter.begin_strand(); }
    strand_of_task(strand_of_task const&) = delete;
    strand_of_task& operator=(strand_of_task const&) = delete;
    ~strand_of_task() {
      meter.end_strand();
      out = meter.totals;
    }
    span_meter<Clock>& meter;
    span_totals& out;
  };

  F* function;
  span_totals* out;
  std::uint64_t steal_cost;
};

/// One fork_join: stops the parent's strand, and adds the children when they have ended.
template <class Clock, std::size_t N>
struct measured_fork {
  explicit measured_fork(span_meter<Clock>& m) noexcept : meter{m} { meter.end_strand(); }
  measured_fork(measured_fork const&) = delete;
  measured_fork& operator=(measured_fork const&) = delete;
  ~measured_fork() {
    std::uint64_t longest = 0, longest_burdened = children[0].burdened, in_sequence = 0;
    span_totals& all = meter.totals;
    for (std::size_t i = 0; i < N; ++i) {
      span_totals const& child = children[i];
      all.work += child.work;
      all.tasks += child.tasks;
      all.strands += child.strands;
      longest = std::max(longest, child.span);
      if (i != 0) longest_burdened = std::max(longest_burdened, child.burdened + meter.steal_cost);
      in_sequence += child.burdened;
    }
    all.tasks += N - 1;
    all.span += longest;
    all.burdened += std::min(longest_burdened, in_sequence);
    meter.begin_strand();
  }

  span_meter<Clock>& meter;
  std::array<span_totals, N> children{};
};

}  // namespace detail

/// A context that does what `Context` does and measures it; a task gets it from measure_work_span(), its children from
/// it. A kernel that takes its context as a template parameter, or as `auto`, need not know. Passed by value.
///
/// Threads  as Context. Cost: see the top of the file.
/// Promises what tasks submit(), graphs and heist::fork_join() without a context do is not measured: a strand that
/// waits
///          for it counts the time.
template <class Context, class Clock = os_env>
class work_span_context {
 public:
  using inner_context = Context;
  using scope = heist::scope<work_span_context>;

  work_span_context(Context const& c, detail::span_meter<Clock>& meter) noexcept : context_{c}, meter_{&meter} {}
  /// The same task, where another context is made from its own.
  template <class Other>
  requires(!std::same_as<Other, Context> && std::convertible_to<Other const&, Context>)
      work_span_context(work_span_context<Other, Clock> const& other)
  noexcept : context_{other.context_}, meter_{other.meter_} {}

  std::size_t worker_id() const noexcept { return context_.worker_id(); }
  std::size_t squad_id() const noexcept { return context_.squad_id(); }
  bool stop_requested() const noexcept { return context_.stop_requested(); }
  bool may_be_stolen() const noexcept { return context_.may_be_stolen(); }
  void designate(std::size_t worker) const { context_.designate(worker); }

  template <class... F>
  auto fork_join(F&&... f) const {
    static_assert(sizeof...(F) > 0, "heist: fork_join needs at least one callable.");
    detail::measured_fork<Clock, sizeof...(F)> fork{*meter_};
    return run_children(std::index_sequence_for<F...>{}, fork, f...);
  }

  /// As Context's; the task gets a context of this type.
  template <class F>
  auto submit(F&& f) const {
    return context_.submit(submitted<std::decay_t<F>>{std::forward<F>(f), meter_->steal_cost});
  }
  template <class F>
  auto submit(std::stop_token token, F&& f) const {
    return context_.submit(std::move(token), submitted<std::decay_t<F>>{std::forward<F>(f), meter_->steal_cost});
  }

  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) const {
    return context_.run(graph, std::forward<Options>(options)...);
  }

  /// The context that this one wraps. What is done with it is one strand.
  Context const& unmeasured() const noexcept { return context_; }

 private:
  template <class, class>
  friend class work_span_context;
  template <class>
  friend class heist::scope;

  template <class F>
  using measured = detail::measured_task<work_span_context, Clock, F>;

  template <class F>
  struct submitted {
    decltype(auto) operator()(Context c) {
      detail::span_totals nobody_asks;
      return measured<F>{&function, &nobody_asks, steal_cost}(c);
    }
    F function;
    std::uint64_t steal_cost;
  };

  template <std::size_t... I, class Fork, class... F>
  auto run_children(std::index_sequence<I...>, Fork& fork, F&... f) const {
    return context_.fork_join(measured<F>{&f, &fork.children[I], meter_->steal_cost}...);
  }

  Context context_;
  detail::span_meter<Clock>* meter_;
};

/// The scope of a context that measures; its children fork into scopes of their own. A child starts where its fork() is
/// in the span of the task that made the scope, and the burden is counted where join() is.
template <class Context, class Clock>
class scope<work_span_context<Context, Clock>> {
  using measuring = work_span_context<Context, Clock>;

 public:
  explicit scope(measuring const& c) noexcept : ledger_{*c.meter_}, inner_{c.context_} {}
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  ~scope() noexcept(false) { ledger_.meter.end_strand(); }  // then inner_ waits, then ledger_ adds up

  template <class F>
  void fork(F&& f) {
    stopped_clock const stop{ledger_.meter};
    auto const& now = ledger_.meter.totals;
    inner_.fork(child<std::decay_t<F>>{std::forward<F>(f), &ledger_, now.span, now.burdened});
  }

  void join() {
    stopped_clock const stop{ledger_.meter};
    struct adding {
      ledger& to;
      ~adding() { to.add_up(); }
    } const end{ledger_};
    inner_.join();
  }

  void request_stop() noexcept { inner_.request_stop(); }

 private:
  struct stopped_clock {
    explicit stopped_clock(detail::span_meter<Clock>& m) noexcept : meter{m} { meter.end_strand(); }
    stopped_clock(stopped_clock const&) = delete;
    stopped_clock& operator=(stopped_clock const&) = delete;
    ~stopped_clock() { meter.begin_strand(); }
    detail::span_meter<Clock>& meter;
  };

  /// Children add to it as they end, wherever that is; all have when inner_ has been waited for.
  struct ledger {
    explicit ledger(detail::span_meter<Clock>& m) noexcept : meter{m} {}
    ledger(ledger const&) = delete;
    ledger& operator=(ledger const&) = delete;
    ~ledger() {
      add_up();
      meter.begin_strand();
    }

    void child_ended(detail::span_totals const& child, std::uint64_t at_span, std::uint64_t at_burdened) noexcept {
      add(children_work, child.work);
      add(children_tasks, child.tasks + 1);
      add(children_strands, child.strands);
      add(children_burdened, child.burdened);
      raise(latest, at_span + child.span);
      raise(latest_burdened, at_burdened + meter.steal_cost + child.burdened);
    }

    void add_up() noexcept {
      detail::span_totals& all = meter.totals;
      all.work += take(children_work);
      all.tasks += take(children_tasks);
      all.strands += take(children_strands);
      all.span = std::max(all.span, take(latest));
      all.burdened = std::min(all.burdened + take(children_burdened), std::max(all.burdened, take(latest_burdened)));
    }

    detail::span_meter<Clock>& meter;
    using number = os_env::atomic<std::uint64_t>;
    number children_work{0}, children_tasks{0}, children_strands{0}, children_burdened{0};
    number latest{0}, latest_burdened{0};  ///< when the last child ends, from the beginning of the task that forks

   private:
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
  };

  template <class F>
  struct child {
    void operator()(Context c) {
      detail::span_totals mine;
      struct ending {
        child const& self;
        detail::span_totals const& mine;
        ~ending() { self.to->child_ended(mine, self.at_span, self.at_burdened); }
      } const end{*this, mine};
      detail::measured_task<measuring, Clock, F>{&function, &mine, to->meter.steal_cost}(c);
    }
    F function;
    ledger* to;
    std::uint64_t at_span, at_burdened;
  };

  ledger ledger_;
  scope<Context> inner_;
};

template <class Context, class Clock>
scope(work_span_context<Context, Clock>) -> scope<work_span_context<Context, Clock>>;

struct work_span_options {
  std::uint64_t steal_cost = 1000;  ///< in ticks
};

template <class R>
struct work_span_measurement {
  detail::value_or_monostate<R> result;
  work_span_profile profile;
};

/// Runs `f(context)`, or `f()`, on a worker of `ex` with a context that measures it, and waits. Returns its result
/// (std::monostate for void) with the profile; rethrows its exception. `Clock`: ticks() gives the time.
template <class Clock = os_env, class Executor, class F>
auto measure_work_span(Executor& ex, F&& f, work_span_options options = {}) {
  using function = std::remove_reference_t<F>;
  using measuring = work_span_context<typename Executor::context_type, Clock>;
  using task = detail::measured_task<measuring, Clock, function>;
  using result = std::invoke_result_t<task const&, typename Executor::context_type>;
  detail::span_totals all;
  task const root{&f, &all, options.steal_cost};
  auto const profile = [&] {
    return work_span_profile{
        all.work, all.span, all.burdened, all.tasks, all.strands, options.steal_cost, detail::empty_strand<Clock>()};
  };
  if constexpr (std::is_void_v<result>) {
    ex.sync_wait(root);
    return work_span_measurement<result>{{}, profile()};
  } else {
    return work_span_measurement<result>{ex.sync_wait(root), profile()};  // braces: from left to right
  }
}

}  // namespace heist
