// The loop engine: on a request, a piece hands over the upper half of its remaining iterations, and the receiver may do
// so in turn. An exception, a stop or the result of a search ends the whole loop. The engine is the shipped one; forks
// are made on the shipped task stack as in core/fork/parent_first.hpp; see README.md, "The world".
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/parallel/algorithm/loop.hpp"

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <stop_token>
#include <utility>

#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/task_stack.hpp"
#include "world/bounds.hpp"

namespace {

using model::env;
using order = std::memory_order;

struct worker;

/// Where a task runs: its worker and its place on that worker's task stack.
struct context {
  template <class Lower, class Upper>
  void fork_join(Lower&& lower, Upper&& upper) const;

  worker* on;
  std::size_t depth;
  std::size_t workers;
  bool has_history;
};

struct slot {
  void make_public() { finished.reset(); }
  env::plain<void*> task{nullptr};
  void (*call)(void*, context) = nullptr;
  heist::detail::basic_completion<env> finished;
  std::exception_ptr thrown;
};

struct worker {
  std::array<slot, 8> slots;
  heist::detail::task_stack<slot, env> tasks{slots.data(), 6, false};
  int forks = 0;
};

/// Upper halves wait on the stack while the lower one runs. Of two exceptions the lower's comes.
template <class Lower, class Upper>
void context::fork_join(Lower&& lower, Upper&& upper) const {
  ++on->forks;
  slot& at = on->slots[depth];
  at.task = &upper;
  at.call = [](void* f, context c) { (*static_cast<std::remove_reference_t<Upper>*>(f))(c); };
  at.thrown = nullptr;
  if (!on->tasks.fork_is_plain(&at)) on->tasks.forked(&at);
  std::exception_ptr first;
  try {
    lower(context{on, depth + 1, workers, has_history});
  } catch (...) {
    first = std::current_exception();
  }
  if (on->tasks.join_is_plain(&at) || on->tasks.join(&at).mine) {
    try {
      upper(context{on, depth, workers, has_history});
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  } else {
    while (!at.finished.is_ready()) env::read_again();
    if (!first) first = std::exchange(at.thrown, nullptr);
    on->tasks.reclaim(&at);
  }
  if (first) std::rethrow_exception(first);
}

constexpr std::size_t workers_told = 3;  // other thieves may come, or not
constexpr std::size_t most_iterations = 12, no_place = ~std::size_t{0};

/// The iterations [lo, hi) that a piece has seen, in their order.
struct seen {
  env::plain<std::size_t> lo{no_place}, hi{no_place};
};

struct failure {
  std::size_t at;
};

/// A loop over n iterations, and the action of its body at `special`.
enum class does { nothing, throws, stops, finds };

struct stage : heist::detail::loop_body<context> {
  stage(std::size_t iterations, does something, std::size_t where)
      : loop_body<context>{&run_block, &make_result, &put_result}, n{iterations}, what{something}, special{where} {}

  static void run_block(loop_body<context>& self, context const*, void* result, std::size_t lo, std::size_t hi) {
    auto& it = static_cast<stage&>(self);
    auto& mine = *static_cast<seen*>(result);
    model::check(lo < hi && hi <= it.n, "a block that is none");
    model::check(!it.returned, "a block begins after the loop has returned");
    model::check(lo < it.known_end[static_cast<std::size_t>(model::self())],
                 "a block begins behind the end that its own thread has set");
    model::check(mine.hi == no_place || mine.hi == lo, "a block's result is added where it does not belong");
    if (mine.lo == no_place) mine.lo = lo;
    for (std::size_t i = lo; i != hi; ++i) {
      it.runs[i] = it.runs[i] + 1;
      mine.hi = i + 1;
      it.visit(i, self);
    }
  }
  static void* make_result(loop_body<context>&) { return new seen; }
  static void put_result(loop_body<context>&, void* result, void* made) {
    std::unique_ptr<seen> const gone{static_cast<seen*>(made)};
    if (result == nullptr || gone->lo == no_place) return;
    seen& upper = *gone;
    auto& lower = *static_cast<seen*>(result);
    model::check(lower.hi == no_place || lower.hi <= upper.lo, "results are put together in another order");
    if (lower.lo == no_place) lower.lo = static_cast<std::size_t>(upper.lo);
    lower.hi = static_cast<std::size_t>(upper.hi);
  }
  void visit(std::size_t i, loop_body<context>& self) {
    if (what == does::nothing || (i != special && i != other)) return;
    auto& known = known_end[static_cast<std::size_t>(model::self())];
    if (what == does::finds) {
      self.end_at(i);
      if (i < known) known = i;
    } else if (what == does::stops) {
      stop.request_stop();
      known = 0;
    } else {
      known = 0;
      throw failure{i};
    }
  }

  std::size_t n;
  does what;
  std::size_t special, other = no_place;
  std::stop_source stop;
  env::plain<bool> returned{false};
  std::array<env::plain<int>, most_iterations> runs{};
  std::array<std::size_t, model::max_threads> known_end = [] {
    std::array<std::size_t, model::max_threads> all{};
    for (std::size_t& e : all) e = no_place;
    return all;
  }();
};

template <std::size_t N, does What, std::size_t Special, int Thieves, int Steals, bool HasHistory = false,
          std::size_t Other = no_place>
void split_range(model::execution& t) {
  struct board {
    stage body{N, What, Special};
    std::array<worker, Thieves + 1> workers;
    bool all = true;
    std::size_t thrown = no_place;
    seen result;
  };
  auto& b = t.make<board>();
  b.body.other = Other;
  t.thread([&b] {
    std::stop_token const stop = What == does::stops ? b.body.stop.get_token() : std::stop_token{};
    heist::detail::loop<context> engine{b.body, N, HasHistory ? 2 : heist::loop_options::automatic, stop};
    try {
      b.all = engine.run(context{b.workers.data(), 0, workers_told, HasHistory}, &b.result);
    } catch (failure const& f) {
      b.thrown = f.at;
    }
    b.body.returned = true;
  });
  for (int k = 1; k <= Thieves; ++k) {
    t.thread([&b, k] {
      for (int i = 0; i < Steals; ++i) {
        // First the loop's own worker, then the worker that may have divided its stolen piece.
        worker& stolen_from = b.workers[static_cast<std::size_t>(i % 2 == 0 ? 0 : Thieves + 1 - k)];
        auto const found = stolen_from.tasks.steal();
        if (found.status == heist::detail::steal_status::empty) stolen_from.tasks.ask();
        if (found.item == nullptr) continue;
        slot& s = *found.item;
        try {
          s.call(s.task, context{&b.workers[static_cast<std::size_t>(k)], 0, workers_told, HasHistory});
        } catch (...) {
          s.thrown = std::current_exception();
        }
        s.finished.complete();
      }
    });
  }
  t.finally([&b] {
    std::size_t ran = 0, before_special = 0;
    for (std::size_t i = 0; i != N; ++i) {
      model::check(b.body.runs[i] <= 1, "an iteration ran twice");
      ran += static_cast<std::size_t>(b.body.runs[i]);
      if (i <= Special) before_special += static_cast<std::size_t>(b.body.runs[i]);
    }
    if (What == does::nothing) {
      model::check(b.all && ran == N, "an iteration did not run");
      model::check(b.result.lo == 0 && b.result.hi == N, "the result is not that of all iterations");
    }
    model::check(b.workers[0].forks != 0, "nothing is there for the others, and nothing was handed over");
    if (What == does::finds) {
      model::check(b.body.end.load(order::relaxed) == Special, "not the first was found");
      model::check(before_special == Special + 1, "something before what was found was not looked at");
    }
    if (What == does::throws) model::check(b.thrown == Special || b.thrown == Other, "an exception is lost");
    if (What == does::stops) model::check(!b.all || ran == N, "a loop that was stopped says that all has run");
    if (What == does::throws && Thieves == 0) model::check(ran == Special + 1, "what had not begun was begun");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};
  model::limits const three{.config = {.preemptions = 3, .odd_failures = 0}};

  all.verify("loop: 6 iterations, alone", three, split_range<6, does::nothing, 0, 0, 0>);
  all.verify("loop: 6 iterations, the third throws, alone", three, split_range<6, does::throws, 2, 0, 0>);
  all.verify("loop: 6 iterations, the third stops, alone", three, split_range<6, does::stops, 2, 0, 0>);
  all.verify("loop: 5 iterations and 1 steal", three, split_range<5, does::nothing, 0, 1, 1>);
  all.verify("loop: 6 iterations and 2 steals", two, split_range<6, does::nothing, 0, 1, 2>);
  all.verify("loop: 4 iterations and 2 thieves", two, split_range<4, does::nothing, 0, 2, 1>);
  all.verify("loop: 5 iterations, the third throws, 2 steals", two, split_range<5, does::throws, 2, 1, 2>);
  all.verify("loop: 6 iterations, two throw, 1 steal", two, split_range<6, does::throws, 1, 1, 1, false, 4>);
  all.verify("loop: 5 iterations, the second stops, 2 steals", two, split_range<5, does::stops, 1, 1, 2>);
  all.verify("loop: 6 iterations, two are found, 2 steals", two, split_range<6, does::finds, 1, 1, 2, false, 4>);
  all.verify("loop: a fixed division of 7 into parts of 2, 1 steal", two, split_range<7, does::nothing, 0, 1, 1, true>);
  all.verify("loop: the same, two are found", two, split_range<7, does::finds, 2, 1, 2, true, 5>);
  return all.finish();
}
