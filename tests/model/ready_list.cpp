// Ready lists (core/sync/README.md): a worker that was promised a task gets one. Each task comes out once, the most
// urgent first, and its taker sees all writes before its push. After an exchange between lists, each list has as many
// tasks as it has promised.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/ready_list.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"

namespace {

/// A thread that waits for the lock looks again when another thread has written.
struct env : model::env {
  static void relax() noexcept { read_again(); }
  static void yield() noexcept { read_again(); }
};

struct task {
  env::plain<int> payload{0};
  env::plain<int> taken{0};
};

using list = heist::detail::ready_list<task, env>;

constexpr std::uint64_t urgency(std::uint64_t level, std::uint64_t rank) {
  return level << 56 | rank;
}

/// A list and its stand-ins, which are where the tasks of a real one are: in a deque.
struct worker {
  list ready;
  env::atomic<int> promises{0};

  void make_ready(task& t, std::uint64_t how) {
    t.payload = 7;
    model::check(ready.push(how, t), "no memory");
    promises.fetch_add(1, std::memory_order_release);
  }
  bool has_promise() {
    int now = promises.load(std::memory_order_relaxed);
    return now != 0 &&
           promises.compare_exchange_strong(now, now - 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  static void run(task& t) {
    model::check(t.payload == 7, "a task came out without what was written before");
    model::check(t.taken == 0, "a task was taken twice");
    t.taken = 1;
  }
};

struct pair_of_workers {
  std::array<worker, 2> workers;
  std::array<task, 4> tasks;
  std::array<std::uint64_t, 4> how{urgency(5, 2), urgency(3, 9), urgency(4, 1), urgency(4, 0)};

  void make_ready(std::size_t w, std::size_t t) { workers[w].make_ready(tasks[t], how[t]); }
  void take_promised(std::size_t w) {
    if (workers[w].has_promise()) worker::run(workers[w].ready.take_or_exchange(workers[1 - w].ready));
  }
  void check_end(std::size_t made) {
    for (std::size_t w = 0; w < 2; ++w) {
      while (workers[w].has_promise()) worker::run(workers[w].ready.take());
    }
    int taken = 0;
    for (task const& t : tasks) taken += t.taken;
    model::check(taken == static_cast<int>(made), "a task was lost");
  }
};

/// One thread: the most urgent first, whatever the order in which they came; then of two lists, by class only.
void order_of_tasks(model::execution& t) {
  auto& p = t.make<pair_of_workers>();
  t.thread([&p] {
    auto const is = [&p](task const& got, std::size_t wanted) {
      model::check(&got == &p.tasks[wanted], "another task than the most urgent");
    };
    list &a = p.workers[0].ready, &b = p.workers[1].ready;
    for (std::size_t i = 0; i < 4; ++i) model::check(a.push(p.how[i], p.tasks[i]), "no memory");
    is(a.take(), 1);
    is(a.take(), 3);
    is(a.take_or_exchange(b), 2);
    model::check(b.push(p.how[1], p.tasks[1]), "no memory");
    is(a.take_or_exchange(b), 1);  // and the only task that a had is b's now
    is(b.take_or_exchange(a), 0);
    model::check(a.push(p.how[2], p.tasks[2]) && b.push(p.how[3], p.tasks[3]), "no memory");
    is(a.take_or_exchange(b), 2);  // equal classes are not exchanged
    is(b.take_or_exchange(b), 3);
  });
}

/// Each worker makes one task ready, or two, and takes as many as it was promised. Each looks at the other's list.
template <int Each>
void exchanged(model::execution& t) {
  auto& p = t.make<pair_of_workers>();
  for (std::size_t w = 0; w < 2; ++w) {
    t.thread([&p, w] {
      for (std::size_t i = 0; i < Each; ++i) p.make_ready(w, 2 * i + w);
      for (std::size_t i = 0; i < Each; ++i) p.take_promised(w);
    });
  }
  t.finally([&p] { p.check_end(2 * Each); });
}

/// The owner makes tasks ready while a thief takes its promises.
void stolen_from(model::execution& t) {
  auto& p = t.make<pair_of_workers>();
  t.thread([&p] {
    p.make_ready(0, 0);
    p.make_ready(0, 1);
    p.take_promised(0);
  });
  t.thread([&p] {
    p.take_promised(0);
    p.take_promised(0);
  });
  t.finally([&p] { p.check_end(2); });
}

/// Two threads exchange between lists that are full, in both directions.
void crossing(model::execution& t) {
  auto& p = t.make<pair_of_workers>();
  for (std::size_t i = 0; i < 4; ++i) p.make_ready(i % 2, i);
  for (std::size_t w = 0; w < 2; ++w) {
    t.thread([&p, w] {
      p.take_promised(w);
      p.take_promised(1 - w);
    });
  }
  t.finally([&p] { p.check_end(4); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3}};

  all.verify("ready list: which task comes out", three, order_of_tasks);
  all.verify("ready list: a thief takes what was promised", three, stolen_from);
  all.verify("ready list: two look at each other, 1 task each", three, exchanged<1>);
  all.verify("ready list: two look at each other, 2 tasks each", three, exchanged<2>);
  all.verify("ready list: exchanges that cross", three, crossing);
  return all.finish();
}
