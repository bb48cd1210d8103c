// The injection queue (H14). Each pushed node is taken once, and its taker sees all writes before the push. Ordered
// pushes come out in their order. A taker that loses against another one gets nothing and loses no node. No worker
// sleeps while the queue holds a node, although the takers cannot see some nodes for a moment.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/injection_queue.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/core/sync/event_count.hpp"
#include "heist/core/sync/idle_gate.hpp"

namespace {

using model::env;
using order = std::memory_order;

struct node {
  env::plain<node*> next{nullptr};
  env::plain<int> payload{0};
  env::plain<int> taken{0};
};

constexpr std::size_t max_nodes = 4;

struct board {
  heist::detail::injection_queue<node, env> queue;
  std::array<node, max_nodes> nodes;

  bool push(std::size_t i) {
    nodes[i].payload = 7;
    return queue.push(nodes[i]);
  }
  /// One attempt.
  node* take(bool& more) {
    node* const n = queue.take(more);
    if (n == nullptr) return nullptr;
    model::check(n->payload == 7, "a node came out without what was written before its push");
    model::check(n->taken == 0, "a node came out twice");
    n->taken = 1;
    return n;
  }
  node* take() {
    bool more = false;
    return take(more);
  }
  /// One attempt for up to `most`; how many came, which are in order.
  unsigned take_some(unsigned most) {
    bool more = false;
    unsigned n = 0;
    for (node* at = queue.take(more, most); at != nullptr; at = at->next) {
      model::check(at->payload == 7, "a node came out without what was written before its push");
      model::check(at->taken == 0, "a node came out twice");
      at->taken = 1;
      ++n;
    }
    model::check(n <= most, "more than were asked for");
    return n;
  }
  std::size_t number_of(node const* n) const { return static_cast<std::size_t>(n - nodes.data()); }
};

/// One taker takes all: of two nodes of one pusher the first comes first.
template <int Producers, int Each>
void in_order(model::execution& t) {
  auto& b = t.make<board>();
  for (int p = 0; p < Producers; ++p) {
    t.thread([&b, p] {
      for (int i = 0; i < Each; ++i) b.push(static_cast<std::size_t>(p * Each + i));
    });
  }
  t.thread([&b] {
    std::array<int, Producers> next{};
    for (int n = 0; n != Producers * Each;) {
      node const* const got = b.take();
      if (got == nullptr) {
        env::read_again();
        continue;
      }
      ++n;
      int const number = static_cast<int>(b.number_of(got));
      int& due = next[static_cast<std::size_t>(number / Each)];
      model::check(number % Each == due, "a node overtook one that was pushed before");
      ++due;
    }
  });
}

/// Takers that meet. The nodes that they leave are there in the end.
template <int Producers, int Each, int Consumers>
void taken_once(model::execution& t) {
  auto& b = t.make<board>();
  for (int p = 0; p < Producers; ++p) {
    t.thread([&b, p] {
      for (int i = 0; i < Each; ++i) b.push(static_cast<std::size_t>(p * Each + i));
    });
  }
  for (int k = 0; k < Consumers; ++k) {
    t.thread([&b] {
      b.take();
      b.take();
    });
  }
  t.finally([&b] {
    while (b.take() != nullptr) {
    }
    model::check(b.queue.maybe_empty(), "a node is hidden");
    for (std::size_t i = 0; i < Producers * Each; ++i) model::check(b.nodes[i].taken == 1, "a node is lost");
  });
}

/// One taker takes two at once, other takers take one.
template <int Producers, int Each, int Consumers>
void some_at_once(model::execution& t) {
  auto& b = t.make<board>();
  for (int p = 0; p < Producers; ++p) {
    t.thread([&b, p] {
      for (int i = 0; i < Each; ++i) b.push(static_cast<std::size_t>(p * Each + i));
    });
  }
  for (int k = 0; k < Consumers; ++k)
    t.thread([&b, k] { k == 0 ? static_cast<void>(b.take_some(2)) : static_cast<void>(b.take()); });
  t.finally([&b] {
    while (b.take_some(3) != 0) {
    }
    model::check(b.queue.maybe_empty(), "a node is hidden");
    for (std::size_t i = 0; i < Producers * Each; ++i) model::check(b.nodes[i].taken == 1, "a node is lost");
  });
}

/// Two are there before there are takers, each of which takes until it has one: the first to come out is the older.
void older_first(model::execution& t) {
  auto& b = t.make<board>();
  b.push(0);
  b.push(1);
  for (int k = 0; k < 2; ++k) {
    t.thread([&b] {
      node const* n = nullptr;
      while ((n = b.take()) == nullptr) env::read_again();
      // A thread that has the younger node came after the older node was taken, so the older one has left the line.
      if (b.number_of(n) == 1) {
        model::check(b.queue.maybe_empty(), "the younger node was taken before the older one");
      }
    });
  }
  t.alike(2);
}

/// A thread that takes a node pushes it again, once.
void pushed_again(model::execution& t) {
  auto& b = t.make<board>();
  t.thread([&b] { b.push(0); });
  t.thread([&b] {
    for (int i = 0; i < 2; ++i) {
      bool more = false;
      if (node* const n = b.queue.take(more); n != nullptr) b.queue.push(*n);
    }
  });
  t.thread([&b] { b.push(1); });
  t.finally([&b] {
    int left = 0;
    while (b.take() != nullptr) ++left;
    model::check(left == 2, "a node is lost");
  });
}

/// A push onto an empty queue reports so. Otherwise an earlier node has not been taken.
void first_is_told(model::execution& t) {
  struct counting : board {
    env::atomic<int> firsts{0};
  };
  auto& b = t.make<counting>();
  for (std::size_t p = 0; p < 2; ++p) {
    t.thread([&b, p] {
      if (b.push(p)) b.firsts.fetch_add(1, order::relaxed);
    });
  }
  t.thread([&b] { b.take(); });
  t.finally([&b] {
    int left = 0;
    while (b.take() != nullptr) ++left;
    int const firsts = b.firsts.load(order::relaxed);
    model::check(firsts >= 1, "nobody was the first");
    model::check(firsts + left >= 2, "a node was pushed onto nothing, and nobody told");
  });
  t.alike(2);
}

/// Workers that sleep on an event count, each until it has a node. A worker that takes a node and finds `more` notifies
/// as a push does.
template <int Producers, int Each, int Workers>
void everybody_wakes(model::execution& t) {
  struct executor : board {
    heist::detail::event_count<env> notifier{std::size_t{Workers}};
  };
  static_assert(Producers * Each == Workers);
  auto& e = t.make<executor>();
  for (int p = 0; p < Producers; ++p) {
    t.thread([&e, p] {
      for (int i = 0; i < Each; ++i) {
        e.push(static_cast<std::size_t>(p * Each + i));
        e.notifier.notify_one();
      }
    });
  }
  for (std::size_t w = 0; w < Workers; ++w) {
    t.thread([&e, w] {
      for (;;) {
        bool more = false;
        node const* const n = e.take(more);
        if (more) e.notifier.notify_one();
        if (n != nullptr) return;
        auto const calls = e.notifier.prepare_wait();
        if (!e.queue.maybe_empty()) {
          e.notifier.cancel_wait();
          env::relax();
        } else {
          e.notifier.commit_wait(w, calls);
        }
      }
    });
  }
}

/// The same at an idle gate. A taker is a thief until it has left; each taker keeps its node for ever.
template <bool WakesOnPush>
void thieves_wake(model::execution& t) {
  struct executor : board {
    heist::detail::idle_gate<env> gate{std::size_t{2}, heist::detail::idle_config{false, !WakesOnPush, WakesOnPush}};
    bool there() const { return !this->queue.maybe_empty(); }
  };
  auto& e = t.make<executor>();
  t.thread([&e] {
    for (std::size_t i = 0; i < 2; ++i) {
      e.push(i);
      e.gate.submitted();
    }
  });
  for (std::size_t w = 0; w < 2; ++w) {
    t.thread([&e, w] {
      e.gate.start_stealing();
      bool notified = false;
      for (;;) {
        bool more = false;
        node const* const n = e.take(more);
        if (more) e.gate.submitted();
        if (n != nullptr) break;
        auto const outcome = e.gate.try_sleep(
            w, [&e] { return e.there(); }, [] {}, [] {});
        notified = outcome == heist::detail::idle_outcome::slept;
        notified ? e.gate.start_stealing() : env::relax();
      }
      e.gate.found_work([&e] { return e.there(); }, notified);
      e.gate.set_active();
    });
  }
  t.alike(2);
}

/// Foreign submitters and a worker that sleeps, then a stop: everything submitted is taken, the worker ends.
template <int Submitters>
void shutdown(model::execution& t) {
  struct executor : board {
    heist::detail::event_count<env> notifier{1};
    env::atomic<int> inside{Submitters};
    env::atomic<bool> stop{false};
  };
  auto& e = t.make<executor>();
  for (std::size_t s = 0; s < Submitters; ++s) {
    t.thread([&e, s] {
      e.push(s);
      e.notifier.notify_one();
      // The last one out stops the executor.
      if (e.inside.fetch_sub(1, order::acq_rel) == 1) {
        e.stop.store(true, order::release);
        e.notifier.notify_all();
      }
    });
  }
  t.thread([&e] {
    int taken = 0;
    for (;;) {
      bool const stopping = e.stop.load(order::acquire);
      if (e.take() != nullptr) {
        ++taken;
        continue;
      }
      if (stopping) break;
      auto const calls = e.notifier.prepare_wait();
      if (!e.queue.maybe_empty() || e.stop.load(order::acquire)) {
        e.notifier.cancel_wait();
      } else {
        e.notifier.commit_wait(0, calls);
      }
    }
    model::check(taken == Submitters, "the worker stopped and left work behind");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  // In the larger ones a CAS fails for a reason only (that it may fail without one is covered by the smaller ones).
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const three_plain{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};
  model::limits const one{.config = {.preemptions = 1, .odd_failures = 0}};

  all.verify("H14 injector: 3 pushes, 1 taker", three, in_order<1, 3>);
  all.verify("H14 injector: 2 pushers, 1 taker", three, in_order<2, 1>);
  all.verify("H14 injector: 2 pushes each, 1 taker", three_plain, in_order<2, 2>);
  all.verify("H14 injector: 3 pushes, 2 takers", three_plain, taken_once<1, 3, 2>);
  all.verify("H14 injector: 2 pushers, 2 takers", two, taken_once<2, 1, 2>);
  all.verify("H14 injector: 3 pushes, 1 taker of 2 at once", three, some_at_once<1, 3, 1>);
  all.verify("H14 injector: 3 pushes, 2 takers, one of 2 at once", three, some_at_once<1, 3, 2>);
  all.verify("H14 injector: the older comes first", three, older_first);
  all.verify("H14 injector: pushed again", three_plain, pushed_again);
  all.verify("H14 injector: who is first is told", three_plain, first_is_told);
  all.verify("H14 injector: 2 pushes wake 2 workers", two, everybody_wakes<1, 2, 2>);
  all.verify("H14 injector: 2 pushers wake 2 workers", one, everybody_wakes<2, 1, 2>);
  all.verify("H14 injector: 2 pushes wake 2 thieves", two, thieves_wake<true>);
  all.verify("H14 injector: 2 pushes wake 2 thieves (adaptive)", two, thieves_wake<false>);
  all.verify("H14 injector: submit, sleep, stop", three, shutdown<1>);
  all.verify("H14 injector: 2 submitters, sleep, stop", three_plain, shutdown<2>);
  return all.finish();
}
