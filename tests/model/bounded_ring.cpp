// A bounded ring with waiters at both ends, as heist::channel uses it: values, closing, and waiters that leave.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/bounded_ring.hpp"

#include <cstddef>
#include <optional>

#include "engine/suite.hpp"
#include "heist/core/sync/two_lines.hpp"
#include "line_waiter.hpp"

namespace {

using model::env;
using order = std::memory_order;
using heist::detail::ring_answer;
using heist::detail::wait_end;
using lines = heist::detail::two_lines<env>;
using side = lines::side;

/// A value whose number, and whose place in a ring of one, the model checks for races.
struct value {
  static inline env::plain<int>* place = nullptr;

  explicit value(int n) noexcept : number{n}, in_place{true} { use(1); }
  value(value&& other) noexcept : number{static_cast<int>(other.number)} {}
  value& operator=(value&&) = delete;
  ~value() {
    if (in_place) use(0);
  }
  void use(int now) noexcept {
    if (place != nullptr) *place = now;
  }
  env::plain<int> number;
  bool in_place = false;
};

using waiter = model::line_waiter<>;

/// The protocol of parallel/primitives/channel.hpp, without the bound of its bypass.
struct stage {
  explicit stage(std::size_t capacity) : ring{capacity} { value::place = capacity == 1 ? &place : nullptr; }
  ~stage() { value::place = nullptr; }
  env::plain<int> place{0};
  heist::detail::bounded_ring<value, env> ring;
  lines all;
  env::atomic<int> sum{0};
  env::atomic<int> taken{0};
  env::atomic<int> put{0};
  model::stop_of_waiter<waiter> stop;

  void tell(side s) {
    lines::changed();
    if (all.may_wait(s)) all.tell(s);
    if (s == lines::pushers && all.may_wait(lines::consumers)) all.tell(lines::consumers);
  }
  template <class Attempt, class MayGo>
  void wait(side s, Attempt attempt, MayGo may_go, bool may_leave = false) {
    if (!may_leave && attempt()) return;
    waiter w;
    if (may_leave) stop.begin(w);
    bool again = false;
    for (;;) {
      if (attempt()) break;
      wait_end const end = all.enter(s, w, again, may_go);
      again = true;
      if (end == wait_end::completed) continue;
      if (end != wait_end::none) break;
      w.wait();
    }
    if (may_leave) stop.end();
    if (may_go() && all.may_wait(s)) all.tell(s);
  }
  void push(int number, bool may_leave = false) {
    wait(
        lines::pushers,
        [&] {
          ring_answer const now = ring.put(number);
          if (now == ring_answer::done) {
            put.fetch_add(1, order::relaxed);
            tell(lines::consumers);
          }
          return now != ring_answer::not_now;
        },
        [&] { return ring.may_put(); }, may_leave);
  }
  /// False: there will be no more.
  bool pop(bool may_leave = false) {
    bool had = false;
    wait(
        lines::consumers,
        [&] {
          std::optional<value> const taken_one = ring.take();
          if (taken_one) {
            had = true;
            sum.fetch_add(taken_one->number, order::relaxed);
            taken.fetch_add(1, order::relaxed);
            tell(lines::pushers);
          }
          return had || ring.is_over();
        },
        [&] { return ring.may_take(); }, may_leave);
    return had;
  }
  void close() {
    ring.close();
    lines::changed();
    all.tell_all();
  }
  auto leave(side s) {
    return [this, s](waiter& w) { all.leave(s, w, wait_end::stopped); };
  }
};

/// Each value is popped once, through a ring of `Capacity`.
template <int Capacity, int Producers, int Poppers, int Each>
void passes(model::execution& t) {
  auto& s = t.make<stage>(static_cast<std::size_t>(Capacity));
  static_assert(Producers * Each % Poppers == 0);
  for (int p = 0; p != Producers; ++p) {
    t.thread([&s, p] {
      for (int i = 0; i != Each; ++i) s.push(1 << (p * Each + i));
    });
  }
  for (int p = 0; p != Poppers; ++p) {
    t.thread([&s] {
      for (int i = 0; i != Producers * Each / Poppers; ++i) model::check(s.pop(), "a value is missing");
    });
  }
  t.finally([&s] {
    model::check(s.sum.load(order::relaxed) == (1 << (Producers * Each)) - 1, "a value is lost or had twice");
    model::check(!s.ring.take(), "a value is left");
    model::check(!s.all.may_any_wait(), "somebody waits");
  });
}

/// The ring is closed while threads push and pop. Every pushed value is popped, and every thread is notified of the
/// end.
template <int Poppers>
void closes(model::execution& t) {
  auto& s = t.make<stage>(1);
  t.thread([&s] {
    s.push(1);
    if (Poppers == 1) s.push(2);
  });
  for (int p = 0; p != Poppers; ++p) {
    t.thread([&s] {
      while (s.pop()) {
      }
    });
  }
  t.thread([&s] { s.close(); });
  t.finally([&s] {
    model::check(s.put.load(order::relaxed) == s.taken.load(order::relaxed), "a value is lost");
    model::check(!s.all.may_any_wait(), "somebody waits");
  });
}

/// One that waits is told to leave: the wake-up that it may have got is not lost.
void consumer_leaves(model::execution& t) {
  auto& s = t.make<stage>(1);
  t.thread([&s] { s.pop(true); });
  t.thread([&s] { s.pop(); });
  t.thread([&s] {
    s.push(1);
    s.close();
  });
  t.thread([&s] { s.stop.stop(s.leave(lines::consumers)); });
  t.finally([&s] { model::check(!s.all.may_any_wait(), "somebody waits"); });
}

/// Nothing comes. The one that waits goes when it is told, whenever that is.
void leaves_for_certain(model::execution& t) {
  auto& s = t.make<stage>(2);
  t.thread([&s] { model::check(!s.pop(true), "there is no value"); });
  t.thread([&s] { s.stop.wait_and_stop(s.leave(lines::consumers)); });
  t.finally([&s] { model::check(!s.all.may_any_wait(), "it is still counted"); });
}

/// There is always room while other threads put values, or always a value while other threads take values. A thread
/// that asks for room or for a value sees it.
void room_is_seen(model::execution& t) {
  auto& s = t.make<stage>(2);
  t.thread([&s] { model::check(s.ring.put(1) == ring_answer::done, "there is no room"); });
  t.thread([&s] { model::check(s.ring.may_put(), "there is room for one more"); });
}
void value_is_seen(model::execution& t) {
  auto& s = t.make<stage>(2);
  s.push(1);
  s.push(2);
  t.thread([&s] { model::check(s.ring.take().has_value(), "there is no value"); });
  t.thread([&s] { model::check(s.ring.may_take(), "there is one more value"); });
}

void putter_leaves(model::execution& t) {
  auto& s = t.make<stage>(1);
  s.push(1);
  t.thread([&s] { s.push(2, true); });
  t.thread([&s] { s.push(4); });
  t.thread([&s] {
    s.pop();
    s.pop();
  });
  t.thread([&s] { s.stop.stop(s.leave(lines::pushers)); });
  t.finally([&s] {
    model::check(s.put.load(order::relaxed) >= 2, "a value was not put");
    model::check(!s.all.may_any_wait(), "somebody waits");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};
  model::limits const wide{.config = {.steps = 4000}, .random_executions = 60'000};
  model::limits const one{.config = {.preemptions = 1, .odd_failures = 0}};
  all.verify("ring of 1: one to one, two values", three, passes<1, 1, 1, 2>);
  all.verify("ring of 2: one to one, three values", two, passes<2, 1, 1, 3>);
  all.verify("ring of 1: two to one", one, passes<1, 2, 1, 1>);
  all.verify("ring of 1: one to two", one, passes<1, 1, 2, 2>);
  all.verify("ring of 2: two to one", one, passes<2, 2, 1, 1>);
  all.verify("ring of 1: closes beside one", one, closes<1>);
  all.verify("ring of 2: one leaves that nobody serves", three, leaves_for_certain);
  all.verify("ring of 2: room is seen while another one puts", three, room_is_seen);
  all.verify("ring of 2: a value is seen while another one takes", three, value_is_seen);
  all.verify("ring of 1: closes beside two, random", wide, closes<2>);
  all.verify("ring of 1: a taker leaves, random", wide, consumer_leaves);
  all.verify("ring of 1: a putter leaves, random", wide, putter_leaves);
  return all.finish();
}
