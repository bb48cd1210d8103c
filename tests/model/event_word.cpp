// An event of a graph (H17). One thread gives the event its value or gives it up, and the run reaches the event, in
// either order. Then the next run begins. (graph/event_word.hpp, used as in graph/event_part.ipp.)
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/graph/event_word.hpp"

#include <memory>

#include "engine/suite.hpp"

namespace {

using heist::detail::event_claim;
using model::env;

/// The task of an event, as event_part is one.
struct event {
  heist::detail::basic_event_word<env> word;
  env::plain<int> at{0};  ///< where the run waits
  env::plain<int> value{0};
  env::atomic<int> gone_on{0};  ///< runs that went on with it

  void complete() {
    model::check(at == 5, "a run goes on that had not come by");
    model::check(value == (word.was_released() ? 0 : 7),
                 "the run does not see the value, or sees one that was given up");
    gone_on.fetch_add(1, std::memory_order_relaxed);
  }
  void give() {
    if (word.claim() != event_claim::mine) return;
    value = 7;
    if (word.fill()) complete();
  }
  void give_up() {
    if (word.drop()) complete();
  }
  void reach() {
    at = 5;
    if (word.full()) return complete();
    if (word.reach()) complete();
  }
};

event& armed(model::execution& t) {
  auto& e = t.make<event>();
  e.word.arm();
  return e;
}
void goes_on_once(model::execution& t, event& e) {
  t.finally([&e] { model::check(e.gone_on.load(std::memory_order_relaxed) == 1, "the run went on twice, or never"); });
}

void given(model::execution& t) {
  event& e = armed(t);
  t.thread([&e] { e.give(); });
  t.thread([&e] { e.reach(); });
  goes_on_once(t, e);
}

void given_twice(model::execution& t) {
  event& e = armed(t);
  auto& rejected = t.make<env::atomic<int>>(0);
  auto const give = [&e, &rejected] {
    switch (e.word.claim()) {
      case event_claim::mine:
        e.value = 7;
        if (e.word.fill()) e.complete();
        return;
      case event_claim::twice:
        rejected.fetch_add(1, std::memory_order_relaxed);
        return;
      default:
        model::check(false, "an event in a run is said to be in none");
    }
  };
  t.thread(give);
  t.thread(give);
  t.thread([&e] { e.reach(); });
  t.finally([&] {
    model::check(e.gone_on.load(std::memory_order_relaxed) == 1, "the run went on twice, or never");
    model::check(rejected.load(std::memory_order_relaxed) == 1, "the second value was not refused");
  });
}

void given_up(model::execution& t) {
  event& e = armed(t);
  t.thread([&e] { e.give_up(); });
  t.thread([&e] { e.reach(); });
  goes_on_once(t, e);
}

void given_and_given_up(model::execution& t) {
  event& e = armed(t);
  t.thread([&e] { e.give(); });
  t.thread([&e] { e.give_up(); });
  t.thread([&e] { e.reach(); });
  goes_on_once(t, e);
}

/// Conditions lead the run around the event, and the next run begins. The next run finds the slot empty, or finds the
/// value that was given.
void next_run(model::execution& t) {
  event& e = armed(t);
  t.thread([&e] { e.give(); });
  t.thread([&e] {
    e.word.close();
    e.value = 0;  // a thread that had begun to fill the slot has finished
    e.word.arm();
    e.reach();
    e.give();
  });
  t.finally(
      [&e] { model::check(e.gone_on.load(std::memory_order_relaxed) == 1, "the next run went on twice, or never"); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};

  all.verify("H17 event: a value and the run", three, given);
  all.verify("H17 event: two values and the run", three, given_twice);
  all.verify("H17 event: it is given up", three, given_up);
  all.verify("H17 event: a value, given up, and the run", three, given_and_given_up);
  all.verify("H17 event: a value comes late, in the next run", three, next_run);
  return all.finish();
}
