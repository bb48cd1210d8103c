// Attention (H15). A request is in the injection queue and all workers are busy. Then each worker finds its flag set at
// the end of a task or at a slow fork, and its next fork is slow. The workers here follow
// core/scheduler/between_tasks.hpp, worker_loop.hpp and core.hpp. A worker that takes a request stays busy for ever.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/notification.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/core/sync/idle_gate.hpp"
#include "heist/core/sync/injection_queue.hpp"

namespace {

using model::env;
using order = std::memory_order;

struct request {
  env::plain<request*> next{nullptr};
};

constexpr std::size_t workers = 2;
constexpr std::size_t max_requests = 3;

struct executor {
  heist::detail::injection_queue<request, env> requests;
  heist::detail::idle_gate<env> gate;
  std::array<heist::detail::notification_flag<env>, workers> notification;
  std::array<env::atomic<int>, workers> fiber_of;  // which of its two fibers a worker is on
  std::array<std::array<env::atomic<bool>, 2>, workers> asked;
  std::array<request, max_requests> all;

  explicit executor(heist::detail::idle_config config) : gate{workers, config} {
    for (auto& f : fiber_of) f.store(0, order::relaxed);
    for (auto& a : asked) {
      for (auto& one : a) one.store(false, order::relaxed);
    }
  }

  bool something_waits() const { return !requests.maybe_empty(); }
  /// The next fork of the task that a worker runs now is slow.
  void ask_to_look(std::size_t w) {
    int const on = fiber_of[w].load(order::acquire);
    asked[w][static_cast<std::size_t>(on)].store(true, order::relaxed);
  }
  void notify_busy(std::size_t w) {
    notification[w].raise_and_ask([this, w] { ask_to_look(w); });
  }
  void notify_busy() {
    for (std::size_t w = 0; w < workers; ++w) notify_busy(w);
  }
  void announce(bool first) {
    if (!gate.submitted() && first) notify_busy();
  }
  void submit(std::size_t i) { announce(requests.push(all[i])); }
  request* take_request() {
    bool more = false;
    request* const r = requests.take(more);
    if (more) announce(true);
    return r;
  }

  /// The end of a task: true if a request was taken.
  bool handle_notification(std::size_t w, bool due) {
    if (!notification[w].is_set()) return false;
    if (notification[w].lower_unless([this] { return something_waits(); })) return false;
    ask_to_look(w);
    return due && take_request() != nullptr;
  }
  /// A worker that searches, until it has a request; `other`: it finds something else at once.
  void search(std::size_t w, bool other) {
    bool notified = false;
    while (!other && take_request() == nullptr) {
      auto const outcome = gate.try_sleep(
          w, [this] { return something_waits(); }, [] {}, [] {});
      notified = outcome == heist::detail::idle_outcome::slept;
      notified ? gate.start_stealing() : env::relax();
    }
    if (gate.found_work([this] { return something_waits(); }, notified) && something_waits()) notify_busy();
    gate.set_active();
  }
  /// At another fiber, which has public tasks, so that its forks are plain until a thief asks.
  void change_fiber(std::size_t w) {
    fiber_of[w].store(1, order::release);
    notification[w].ask_if_set([this, w] { ask_to_look(w); });
  }

  /// In the end every worker is busy.
  void check() {
    if (!something_waits()) return;
    for (std::size_t w = 0; w < workers; ++w) {
      model::check(notification[w].is_set(), "a request waits, and a busy worker does not know");
    }
  }
  void check_asked(std::size_t w) {
    if (!something_waits()) return;
    auto const on = static_cast<std::size_t>(fiber_of[w].load(order::relaxed));
    model::check(asked[w][on].load(order::relaxed), "a request waits, and the next fork is plain");
  }
};

constexpr heist::detail::idle_config wakes_on_push{false, false, true};
constexpr heist::detail::idle_config keeps_a_thief{false, true, false};
constexpr heist::detail::idle_config never_sleeps{true, false, false};

constexpr heist::detail::idle_config config_of(int policy) {
  return policy == 0 ? wakes_on_push : policy == 1 ? keeps_a_thief : never_sleeps;
}

/// Both workers are busy; one comes to the end of two tasks. `Due`: it takes a request if there is one.
template <int Submitters, int Each, bool Due>
void all_busy(model::execution& t) {
  auto& e = t.make<executor>(wakes_on_push);
  for (std::size_t s = 0; s < Submitters; ++s) {
    t.thread([&e, s] {
      for (std::size_t i = 0; i < Each; ++i) e.submit(s * Each + i);
    });
  }
  t.thread([&e] { e.handle_notification(0, Due) || e.handle_notification(0, Due); });
  t.finally([&e] { e.check(); });
}

/// The second worker takes all requests while the first one looks for requests: for a moment the queue looks empty.
template <int Each>
void taken_beside(model::execution& t) {
  auto& e = t.make<executor>(wakes_on_push);
  t.thread([&e] {
    for (std::size_t i = 0; i < Each; ++i) e.submit(i);
  });
  t.thread([&e] { e.handle_notification(0, false); });
  t.thread([&e] { e.handle_notification(1, true); });
  t.finally([&e] { e.check(); });
}

/// The first worker is busy, the second one searches. `Other`: it finds other work than a request.
template <int Policy, bool Other, int Each>
void last_thief(model::execution& t) {
  auto& e = t.make<executor>(config_of(Policy));
  e.gate.set_active();
  e.gate.start_stealing();
  t.thread([&e] {
    for (std::size_t i = 0; i < Each; ++i) e.submit(i);
  });
  t.thread([&e] { e.search(1, Other); });
  t.thread([&e] { e.handle_notification(0, false); });
  t.finally([&e] { e.check(); });
}

/// The last thief takes the last of a line, and leaves, while another request comes.
template <int Policy>
void end_of_the_line(model::execution& t) {
  auto& e = t.make<executor>(config_of(Policy));
  bool more = false;
  e.requests.push(e.all[0]);
  e.requests.push(e.all[1]);
  model::check(e.requests.take(more) == &e.all[0] && more, "a line of two");
  e.gate.set_active();
  e.gate.start_stealing();
  t.thread([&e] { e.submit(2); });
  t.thread([&e] { e.search(1, false); });
  t.finally([&e] { e.check(); });
}

/// A busy worker goes to another fiber meanwhile.
void another_fiber(model::execution& t) {
  auto& e = t.make<executor>(wakes_on_push);
  t.thread([&e] { e.submit(0); });
  t.thread([&e] { e.change_fiber(0); });
  t.finally([&e] {
    e.check();
    e.check_asked(0);
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};

  all.verify("H15 attention: a request, both busy", three, all_busy<1, 1, false>);
  all.verify("H15 attention: the same, and it is taken", three, all_busy<1, 2, true>);
  all.verify("H15 attention: 2 requests", three, all_busy<1, 2, false>);
  all.verify("H15 attention: 2 submitters", three, all_busy<2, 1, true>);
  all.verify("H15 attention: another worker takes one", two, taken_beside<2>);
  all.verify("H15 attention: 3 requests, another takes one", two, taken_beside<3>);
  all.verify("H15 attention: the last thief finds something else", two, last_thief<0, true, 1>);
  all.verify("H15 attention: the same (adaptive)", two, last_thief<1, true, 1>);
  all.verify("H15 attention: the same, never asleep", two, last_thief<2, true, 1>);
  all.verify("H15 attention: the last thief takes one of two", two, last_thief<0, false, 2>);
  all.verify("H15 attention: the same (adaptive)", two, last_thief<1, false, 2>);
  all.verify("H15 attention: the last thief takes the last of a line", three, end_of_the_line<0>);
  all.verify("H15 attention: the same (adaptive)", three, end_of_the_line<1>);
  all.verify("H15 attention: a worker changes fibers", three, another_fiber);
  return all.finish();
}
