// A stop that is handed on follows tasks to their predecessors (H22). It reaches each task that has not ended, once,
// and touches no task that has been freed. Doubles of a few headers compile core/executor/async.hpp for the model
// (README.md, "The world"). The ends of tasks are repeated by hand, as in parallel/async/after.hpp and
// parallel/async/when.ipp.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/executor/async.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <optional>
#include <stop_token>

#include "engine/suite.hpp"
#include "world/bounds.hpp"

namespace {

using heist::os_env;
using heist::detail::async_base;
using heist::detail::async_operations;
using heist::detail::async_place;
using heist::detail::async_state;
using heist::detail::dependency;
using heist::detail::inherited_stop;
using heist::detail::interrupt_state;
using heist::detail::no_stop;

constexpr std::size_t most_links = 2;

/// A task that comes after other tasks, or the state of a when_any. It has an inherited_stop at the end of its block.
struct task final : async_state<int> {
  struct any_link : dependency {
    explicit any_link(async_base& state, async_base& awaited) noexcept : dependency{state, &awaited, true} {
      wake = &wake_up;
    }
    static void wake_up(heist::detail::completion_waiter& self) noexcept {
      auto& any = static_cast<task&>(*static_cast<any_link&>(self).of);
      any.finish();
      any.release();
    }
  };

  task(async_place const& at) noexcept : async_state<int>{nullptr, &what_it_is, at} {}
  ~task() { freed->fetch_add(1, std::memory_order_relaxed); }

  dependency* first_link() noexcept { return reinterpret_cast<dependency*>(room); }
  bool is_stopped() noexcept {
    inherited_stop& its = *inherited_stop::of(*this);
    return (its.own != nullptr ? *its.own : its.state).any();
  }

  void run() noexcept {
    // acquire: with go_on()
    bool const must_know = all_told->load(std::memory_order_acquire);
    model::check(!must_know || is_stopped() == needs_stop, "a task does not hear of a stop, or of another's");
    forget();
    finished.complete();
    release();
  }
  void forget() noexcept {
    inherited_stop::unlink(*this);
    for (std::uint32_t i = 0; i != links; ++i) {
      if (first_link()[i].on != nullptr) first_link()[i].on->release();
    }
  }
  void finish() noexcept {
    inherited_stop::unlink(*this);
    if (over.exchange(true, std::memory_order_relaxed)) return;
    finished.complete();
  }

  os_env::atomic<int>* freed = nullptr;
  os_env::atomic<bool>* all_told = nullptr;  ///< the stop has returned
  bool needs_stop = true;
  os_env::atomic<bool> over{false};
  std::optional<interrupt_state> own;  ///< of a task with a token
  alignas(dependency) unsigned char room[most_links * sizeof(dependency)];

 private:
  static constexpr async_operations operations_of_it = heist::detail::async_operations_of<task, no_stop>();
  static constexpr heist::detail::described what_it_is{&operations_of_it};
};

/// The state of the task that waits, which is only a number here, and the counts of the harness.
struct board {
  interrupt_state origin, others;
  os_env::atomic<int> freed{0};
  os_env::atomic<bool> all_told{false};
  os_env::atomic<int> stops{1};

  /// One share is its own; `handles` more. It owns a share in each that it comes after.
  task& make(std::uint32_t handles, std::initializer_list<task*> after = {}, bool has_token = false,
             bool of_others = false) {
    std::size_t const bytes = sizeof(task) + sizeof(inherited_stop);
    task& t = *::new (::operator new(bytes)) task{async_place{nullptr, 0, bytes}};
    t.freed = &freed;
    t.all_told = &all_told;
    t.needs_stop = !of_others;
    t.owners.store(1 + handles, std::memory_order_relaxed);
    if (has_token) t.own.emplace();
    for (task* on : after) {
      on->retain();
      ::new (static_cast<void*>(t.first_link() + t.links++)) dependency{t, on, true};
    }
    inherited_stop::add(t, of_others ? &others : &origin, has_token ? &*t.own : nullptr,
                        t.links == 0 ? nullptr : t.first_link());
    return t;
  }
  /// One share is the caller's, and one each link's.
  task& make_any(std::array<task*, 2> const& of) {
    task& any = make(static_cast<std::uint32_t>(of.size()));
    for (task* on : of) {
      auto* const link = ::new (static_cast<void*>(any.first_link() + any.links++)) task::any_link{any, *on};
      model::check(on->finished.add_entry(*link), "a task has ended before it began");
    }
    inherited_stop::place(any)->first = any.first_link();
    return any;
  }
  /// The end of a wait: the stop has been handed on, and the handle goes.
  void stop(task& what) noexcept {
    inherited_stop::stop(what);
    // acq_rel: the last one tells of all
    if (stops.fetch_sub(1, std::memory_order_acq_rel) == 1) all_told.store(true, std::memory_order_release);
    what.release();
  }
};
void all_freed(model::execution& t, board& b, int tasks) {
  t.finally(
      [&b, tasks] { model::check(b.freed.load(std::memory_order_relaxed) == tasks, "a task is not freed once"); });
}

/// c after b after a: their worker runs them while a stop goes along. `Token`: b has a token of its own.
template <bool Token>
void chain(model::execution& t) {
  auto& b = t.make<board>();
  task& one = b.make(0);
  task& two = b.make(0, {&one}, Token);
  task& three = b.make(1, {&two});
  t.thread([&] { one.run(), two.run(), three.run(); });
  t.thread([&b, &three] { b.stop(three); });
  all_freed(t, b, 3);
}

/// A task after two, one of which comes after the other.
void two_ways(model::execution& t) {
  auto& b = t.make<board>();
  task& top = b.make(0);
  task& middle = b.make(0, {&top});
  task& last = b.make(1, {&top, &middle});
  t.thread([&] { top.run(), middle.run(), last.run(); });
  t.thread([&b, &last] { b.stop(last); });
  all_freed(t, b, 3);
}

/// Two stops at a time that meet at a task before both; each comes after another one, too.
void two_stops(model::execution& t) {
  auto& b = t.make<board>();
  b.stops.store(2, std::memory_order_relaxed);
  task& top = b.make(0);
  task& one = b.make(0);
  task& two = b.make(0);
  task& left = b.make(1, {&one, &top});
  task& right = b.make(1, {&two, &top});
  t.thread([&] { top.run(), one.run(), two.run(), left.run(), right.run(); });
  t.thread([&b, &left] { b.stop(left); });
  t.thread([&b, &right] { b.stop(right); });
  all_freed(t, b, 5);
}

/// A stop reaches neither a task that another user has started nor the predecessors of that task.
void of_others(model::execution& t) {
  auto& b = t.make<board>();
  task& before = b.make(0, {}, false, true);
  task& theirs = b.make(0, {&before}, false, true);
  task& mine = b.make(1, {&theirs});
  t.thread([&] { before.run(), theirs.run(), mine.run(); });
  t.thread([&b, &mine] { b.stop(mine); });
  all_freed(t, b, 3);
}

/// The first of two, ended by a worker each; a task after it, if `Then`.
template <bool Then>
void first_of(model::execution& t) {
  auto& b = t.make<board>();
  task& one = b.make(0);
  task& two = b.make(0);
  task& any = b.make_any({&one, &two});
  if (Then) {
    task& next = b.make(1, {&any});
    any.release();  // the handle is given away
    t.thread([&] {
      one.forget(), one.finished.complete(), one.release();
      next.run();
    });
    t.thread([&b, &next] { b.stop(next); });
  } else {
    t.thread([&] { one.forget(), one.finished.complete(), one.release(); });
    t.thread([&b, &any] { b.stop(any); });
  }
  t.thread([&] { two.forget(), two.finished.complete(), two.release(); });
  all_freed(t, b, Then ? 4 : 3);
}

/// The waiting task's handle goes while the stop calls the callbacks that a user has registered.
void dropped_concurrently(model::execution& t) {
  auto& b = t.make<board>();
  task& one = b.make(0);
  task& two = b.make(1, {&one});
  struct drop {
    task* what;
    void operator()() const noexcept { what->release(); }
  };
  auto& calls = t.make<std::optional<std::stop_callback<drop>>>();
  calls.emplace(inherited_stop::of(two)->state.token(), drop{&two});
  t.thread([&] { one.run(), two.run(); });
  t.thread([&two] { inherited_stop::stop(two); });
  all_freed(t, b, 2);
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three = world::bounds(3, 3), two = world::bounds(2, 1);

  all.verify("H22 stop walk: a chain of 3", three, chain<false>);
  all.verify("H22 stop walk: a chain with a token of its own", three, chain<true>);
  all.verify("H22 stop walk: two ways to one task", three, two_ways);
  all.verify("H22 stop walk: two stops that meet", two, two_stops);
  all.verify("H22 stop walk: tasks of others", three, of_others);
  all.verify("H22 stop walk: the first of 2", two, first_of<false>);
  all.verify("H22 stop walk: a task after the first of 2", two, first_of<true>);
  all.verify("H22 stop walk: a handle that goes meanwhile", three, dropped_concurrently);
  return all.finish();
}
