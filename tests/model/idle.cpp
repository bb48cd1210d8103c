// The idle protocol (H10): no worker sleeps while there is work that it may take. Workers here are as in
// core/scheduler/worker_loop.hpp, but a task that is taken keeps its worker busy for ever. Work conservation then means
// that as many workers wake up as there are tasks. A ring is one of two gates, as two squads have them.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/idle_gate.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/core/sync/work_deque.hpp"

namespace {

using model::env;
using order = std::memory_order;

struct task {
  task* next = nullptr;
  env::plain<int> payload{0};
  env::plain<int> taken{0};
};

constexpr heist::detail::idle_config wakes_on_push{false, false, true};
constexpr heist::detail::idle_config keeps_a_thief{false, true, false};

/// Events that may happen besides pushes. Workers look only for events that can happen in the harness.
enum class also { nothing, outside, stop };
/// The thieves that sleep at the second gate of a ring.
enum class ring { none, first_far, second_far, all_far };
constexpr bool same_gate(ring r) {
  return r == ring::none || r == ring::all_far;
}

template <class Env, also Also, ring Ring = ring::none>
struct executor {
  using gate_type = heist::detail::idle_gate<Env>;
  executor(std::size_t workers, heist::detail::idle_config config) : gate{workers, config}, far{workers, config} {
    if (Ring != ring::none) far.join(gate);
  }

  gate_type gate;
  gate_type far;
  heist::detail::work_deque<task*, Env> deque{2};  // owned by the worker that has the first task
  heist::detail::injection_queue<task, Env> requests;
  env::atomic<bool> stop{false};
  std::array<task, 2> tasks;
  env::plain<int> done{0};

  task& make(std::size_t i) {
    tasks[i].payload = 7;
    return tasks[i];
  }
  static void run(task& t) {
    model::check(t.payload == 7, "a task came out without what was written before");
    model::check(t.taken == 0, "a task ran twice");
    t.taken = 1;
  }

  /// The gate of thief number `th`.
  gate_type& gate_of(std::size_t th) {
    bool const is_far = Ring == ring::all_far || (Ring != ring::none && (Ring == ring::second_far) == (th != 0));
    return is_far ? far : gate;
  }

  /// By the deque's owner, at the first gate.
  void push(std::size_t i) { push(i, gate); }
  void push(std::size_t i, gate_type& at) {
    model::check(deque.push(&make(i)), "push failed");
    at.pushed();
  }
  void submit(std::size_t i) {
    requests.push(make(i));
    gate.submitted();
  }

  bool any_work() const { return (Also == also::outside && !requests.maybe_empty()) || !deque.maybe_empty(); }
  bool stopping() const { return Also == also::stop && stop.load(order::acquire); }

  task* explore() {
    if (Also == also::outside) {
      bool more = false;  // there is one request at most
      if (task* const t = requests.take(more)) return t;
    }
    return deque.steal().item;
  }

  /// The life of a worker without tasks, until it has one or the executor stops. `looks`: it has not looked before.
  task* search(std::size_t me, gate_type& gate, bool looks = true) {
    gate.start_stealing();
    bool notified = false;
    for (;; looks = true) {
      if (task* const t = looks ? explore() : nullptr) {
        gate.found_work([this] { return any_work(); }, notified);
        return t;
      }
      if (stopping()) {
        gate.wake_all();
        return nullptr;
      }
      auto const outcome = gate.try_sleep(
          me, [this] { return any_work() || stopping(); }, [] {}, [] {});
      notified = outcome == heist::detail::idle_outcome::slept;
      if (notified) {
        gate.start_stealing();
      } else {
        Env::relax();
      }
    }
  }
};

/// A busy worker pushes as many tasks as there are thieves. `Looks`: the thieves have not looked before.
template <class Env, int Thieves, bool Looks, ring Ring = ring::none>
void pushed(model::execution& t) {
  auto& e = t.make<executor<Env, also::nothing, Ring>>(std::size_t{Thieves + 1}, wakes_on_push);
  t.thread([&e] {
    for (std::size_t i = 0; i < Thieves; ++i) e.push(i);
  });
  for (std::size_t w = 0; w < Thieves; ++w) {
    t.thread([&e, w] { e.run(*e.search(w, e.gate_of(w), Looks)); });
  }
  if (same_gate(Ring)) t.alike(Thieves);
}

/// The same while a helper has the place of a thief that sleeps, for a short time. A push wakes nobody in this time. So the
/// helper looks for work when it puts the thief back.
template <class Env, int Thieves, bool Looks>
void pushed_while_lent(model::execution& t) {
  auto& e = t.make<executor<Env, also::nothing>>(std::size_t{Thieves + 1}, wakes_on_push);
  t.thread([&e] {
    for (std::size_t i = 0; i < Thieves; ++i) e.push(i);
  });
  for (std::size_t w = 0; w < Thieves; ++w) {
    t.thread([&e, w] { e.run(*e.search(w, e.gate, Looks)); });
  }
  t.alike(Thieves);
  t.thread([&e] {
    std::size_t const lent = e.gate.lend();
    if (lent != heist::detail::event_count<Env>::none) e.gate.put_back(lent, [&e] { return e.any_work(); });
  });
}

/// A thread outside submits a task to a worker that may be about to sleep.
template <class Env, bool KeepsThief, ring Ring = ring::none>
void submitted(model::execution& t) {
  auto& e = t.make<executor<Env, also::outside, Ring>>(std::size_t{1}, KeepsThief ? keeps_a_thief : wakes_on_push);
  t.thread([&e] { e.submit(0); });
  t.thread([&e] { e.run(*e.search(0, e.gate_of(0))); });
}

/// The first task, from outside, pushes another before it keeps its worker busy. Where a thief is kept awake, a push
/// notifies no worker: the worker that becomes active makes sure that there is a thief.
template <class Env, bool KeepsThief, bool Looks, ring Ring = ring::none>
void submitted_then_pushed(model::execution& t) {
  auto& e = t.make<executor<Env, also::outside, Ring>>(std::size_t{2}, KeepsThief ? keeps_a_thief : wakes_on_push);
  t.thread([&e] { e.submit(0); });
  for (std::size_t w = 0; w < 2; ++w) {
    t.thread([&e, w] {
      auto& gate = e.gate_of(w);
      task* const found = e.search(w, gate, Looks);
      e.run(*found);
      if (found != &e.tasks[0]) return;
      gate.set_active();
      e.push(1, gate);
    });
  }
  if (same_gate(Ring)) t.alike(2);
}

/// A worker is active already and pushes; thieves may be about to sleep. The last thief that finds a task makes sure
/// that there is another thief.
template <int Thieves, bool Looks, ring Ring = ring::none>
void kept_thief(model::execution& t, bool lent) {
  auto& e = t.make<executor<env, also::nothing, Ring>>(std::size_t{Thieves + 1}, keeps_a_thief);
  t.thread([&e] {
    e.gate.set_active();
    for (std::size_t i = 0; i < Thieves; ++i) e.push(i);
  });
  for (std::size_t w = 0; w < Thieves; ++w) {
    t.thread([&e, w] {
      auto& gate = e.gate_of(w);
      e.run(*e.search(w + 1, gate, Looks));
      gate.set_active();
    });
  }
  if (same_gate(Ring)) t.alike(Thieves);
  if (!lent) return;
  t.thread([&e] {
    std::size_t const at = e.gate.lend();
    if (at == heist::detail::event_count<env>::none) return;
    e.gate.set_active();
    e.gate.set_inactive();
    e.gate.put_back(at, [&e] { return e.any_work(); });
  });
}
template <int Thieves, bool Looks, ring Ring = ring::none>
void kept_thief(model::execution& t) {
  kept_thief<Thieves, Looks, Ring>(t, false);
}

/// The same while a helper has the place of a thief that sleeps. The last thief then finds nobody to wake.
template <int Thieves, bool Looks>
void kept_thief_while_lent(model::execution& t) {
  kept_thief<Thieves, Looks>(t, true);
}

/// A helper has a worker that is in no list. It pushes a task, and leaves it to a thief, which may be about to sleep.
template <int Thieves, bool Looks>
void left_behind(model::execution& t, heist::detail::idle_config config) {
  auto& e = t.make<executor<env, also::stop>>(std::size_t{Thieves + 1}, config);
  t.thread([&e] {
    e.gate.set_active();
    e.push(0);
    e.gate.set_inactive();
    e.gate.leave([&e] { return e.any_work(); });
  });
  for (std::size_t w = 0; w < Thieves; ++w) {
    t.thread([&e, w] {
      task* const found = e.search(w, e.gate, Looks);
      if (found == nullptr) return;
      e.run(*found);
      e.stop.store(true, order::release);
      e.gate.wake_all();
    });
  }
  t.alike(Thieves);
  t.finally([&e] { model::check(e.tasks[0].taken == 1, "the task was left"); });
}
template <int Thieves, bool Looks, bool KeepsThief>
void left_behind(model::execution& t) {
  left_behind<Thieves, Looks>(t, KeepsThief ? keeps_a_thief : wakes_on_push);
}

/// Workers that sleep when the executor stops wake up.
template <bool KeepsThief, ring Ring = ring::none>
void stopped(model::execution& t) {
  auto& e = t.make<executor<env, also::stop, Ring>>(std::size_t{2}, KeepsThief ? keeps_a_thief : wakes_on_push);
  t.thread([&e] {
    e.stop.store(true, order::release);
    e.gate.wake_all();
  });
  for (std::size_t w = 0; w < 2; ++w) {
    t.thread([&e, w] { model::check(e.search(w, e.gate_of(w)) == nullptr, "there was no task"); });
  }
  if (same_gate(Ring)) t.alike(2);
}

/// A worker pushes something that only workers of its own gate may take. The thief at the other gate, whether it
/// searches or sleeps, can do nothing about it; it ends with the executor.
template <class Env, bool Looks>
void pushed_here(model::execution& t) {
  struct ring_executor : executor<Env, also::stop, ring::second_far> {
    using executor<Env, also::stop, ring::second_far>::executor;
    heist::detail::injection_queue<task, Env> here;
    /// As search(), for a worker at the first gate.
    void take_here(bool looks) {
      auto& gate = this->gate;
      gate.start_stealing();
      task* found = nullptr;
      bool notified = false;
      for (;; looks = true) {
        bool more = false;
        found = looks ? here.take(more) : nullptr;
        if (found != nullptr) break;
        auto const outcome = gate.try_sleep(
            0, [this] { return !here.maybe_empty(); }, [] {}, [] {});
        notified = outcome == heist::detail::idle_outcome::slept;
        notified ? gate.start_stealing() : Env::relax();
      }
      gate.found_work([this] { return !here.maybe_empty(); }, notified);
      this->run(*found);
      this->stop.store(true, order::release);
      gate.wake_all();
    }
  };
  auto& e = t.make<ring_executor>(std::size_t{2}, wakes_on_push);
  t.thread([&e] {
    e.here.push(e.make(0));
    e.gate.pushed_here();
  });
  t.thread([&e] { e.take_here(Looks); });
  t.thread([&e] { model::check(e.search(1, e.far, Looks) == nullptr, "there was nothing for the other gate"); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  // In the larger harnesses a CAS fails only for a reason; the smaller ones cover failures without a reason. The
  // workers of the larger ones have already looked without success when they start.
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};
  model::limits const three_plain{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const wide{.config = {.steps = 1000}, .random_executions = 100'000};

  all.verify("H10 idle: a push wakes a thief", three, pushed<env, 1, true>);
  all.verify("H10 idle: the same without membarrier", three, pushed<model::symmetric_env, 1, true>);
  all.verify("H10 idle: a submission wakes", three, submitted<env, false>);
  all.verify("H10 idle: a submission wakes (adaptive)", three, submitted<env, true>);
  all.verify("H10 idle: an active worker keeps a thief", three, kept_thief<1, true>);
  all.verify("H10 idle: an active worker keeps a thief, 2 thieves", three_plain, kept_thief<2, false>);
  all.verify("H10 idle: the same, random", wide, kept_thief<2, true>);
  all.verify("H10 idle: a stop wakes everybody", three_plain, stopped<false>);
  all.verify("H10 idle: a stop wakes everybody (adaptive)", three_plain, stopped<true>);
  all.verify("H10 idle: 2 pushes wake 2 thieves", three_plain, pushed<env, 2, false>);
  all.verify("H10 idle: 2 pushes wake 2 thieves, random", wide, pushed<env, 2, true>);
  all.verify("H10 idle: a push while the thief is lent", three, pushed_while_lent<env, 1, true>);
  all.verify("H10 idle: the same without membarrier", three, pushed_while_lent<model::symmetric_env, 1, true>);
  all.verify("H10 idle: 2 pushes while one of 2 thieves is lent, random", wide, pushed_while_lent<env, 2, true>);
  all.verify("H10 idle: what a helper leaves, a thief is kept", three, left_behind<1, true, true>);
  all.verify("H10 idle: what a helper leaves, pushes wake", three, left_behind<1, true, false>);
  all.verify("H10 idle: what a helper leaves to 2, random", wide, left_behind<2, true, true>);
  all.verify("H10 idle: a thief is kept while one is lent", three, kept_thief_while_lent<1, true>);
  all.verify("H10 idle: a thief is kept while one of 2 is lent, random", wide, kept_thief_while_lent<2, true>);
  all.verify("H10 idle: submitted, then pushed", three_plain, submitted_then_pushed<env, false, false>);
  all.verify("H10 idle: submitted, then pushed (adaptive)", three_plain, submitted_then_pushed<env, true, false>);

  all.verify("H10 ring: a push wakes a thief at the other gate", three, pushed<env, 1, true, ring::all_far>);
  all.verify("H10 ring: the same without membarrier", three, pushed<model::symmetric_env, 1, true, ring::all_far>);
  all.verify("H10 ring: a submission wakes", three, submitted<env, false, ring::all_far>);
  all.verify("H10 ring: a submission wakes (adaptive)", three, submitted<env, true, ring::all_far>);
  all.verify("H10 ring: a submission wakes at its own gate (adaptive)", three, submitted<env, true, ring::second_far>);
  all.verify("H10 ring: an active worker keeps a thief at each gate", three, kept_thief<1, true, ring::all_far>);
  all.verify("H10 ring: a stop wakes everybody", three_plain, stopped<false, ring::second_far>);
  all.verify("H10 ring: a stop wakes everybody (adaptive)", three_plain, stopped<true, ring::second_far>);
  all.verify("H10 ring: a push for one gate only", three_plain, pushed_here<env, false>);
  all.verify("H10 ring: 2 pushes wake a thief at each gate", two, pushed<env, 2, false, ring::second_far>);
  all.verify("H10 ring: 2 pushes wake both at the other gate", two, pushed<env, 2, false, ring::all_far>);
  all.verify("H10 ring: submitted, then pushed", two, submitted_then_pushed<env, false, false, ring::second_far>);
  all.verify("H10 ring: submitted, then pushed (adaptive)", two,
             submitted_then_pushed<env, true, false, ring::second_far>);
  all.verify("H10 ring: a push for one gate only, random", wide, pushed_here<env, true>);
  all.verify("H10 ring: 2 pushes, random", wide, pushed<env, 2, true, ring::first_far>);
  all.verify("H10 ring: submitted, then pushed, random", wide,
             submitted_then_pushed<env, false, true, ring::first_far>);
  all.verify("H10 ring: submitted, then pushed, random (adaptive)", wide,
             submitted_then_pushed<env, true, true, ring::second_far>);
  all.verify("H10 ring: an active worker keeps thieves, random", wide, kept_thief<2, true, ring::second_far>);
  return all.finish();
}
