// The master queue (H9): every node pushed is taken once, with what was written before its push, also at shutdown.
#undef NDEBUG  // the assertions of the shipped code are part of what is proved
#include "heist/sync/master_queue.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/sync/event_count.hpp"

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
  heist::master_queue<node, env> queue;
  std::array<node, max_nodes> nodes;

  void push(std::size_t i) {
    nodes[i].payload = 7;
    queue.push(nodes[i]);
  }
  int take_all() {
    int taken = 0;
    for (node* n = queue.take_all(); n != nullptr; ++taken) {
      node* const next = n->next;
      model::check(n->payload == 7, "a node came out without what was written before its push");
      model::check(n->taken == 0, "a node came out twice");
      n->taken = 1;
      n = next;
    }
    return taken;
  }
};

template <int Pushers, int Each, int Takers>
void push_and_take(model::execution& t) {
  auto& b = t.make<board>();
  for (int p = 0; p < Pushers; ++p) {
    t.thread([&b, p] {
      for (int i = 0; i < Each; ++i) b.push(static_cast<std::size_t>(p * Each + i));
    });
  }
  for (int k = 0; k < Takers; ++k) {
    t.thread([&b] {
      b.take_all();
      b.take_all();
    });
  }
  t.finally([&b] {
    b.take_all();
    for (std::size_t i = 0; i < Pushers * Each; ++i) model::check(b.nodes[i].taken == 1, "a node is lost");
  });
}

/// A node is pushed again by whoever took it: nobody pops single nodes, so there is no ABA.
void pushed_again(model::execution& t) {
  auto& b = t.make<board>();
  t.thread([&b] { b.push(0); });
  t.thread([&b] {
    for (int i = 0; i < 2; ++i) {
      for (node* n = b.queue.take_all(); n != nullptr;) {
        node* const next = n->next;
        b.queue.push(*n);
        n = next;
      }
    }
  });
  t.thread([&b] { b.push(1); });
  t.finally([&b] { model::check(b.take_all() == 2, "a node is lost"); });
}

/// Foreign submitters and a worker that sleeps, then a stop: everything submitted is taken, the worker ends.
template <int Submitters>
void shutdown(model::execution& t) {
  struct executor : board {
    heist::event_count<env> notifier{1};
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
      int const n = e.take_all();
      taken += n;
      if (n != 0) continue;
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
  // A CAS fails for a reason only: that it may fail without one is covered by the smaller ones.
  model::limits const three_plain{.rules = {.preemptions = 3, .odd_failures = 0}};
  model::limits const three{.rules = {.preemptions = 3}};

  all.prove("H9 master queue: 2 pushers, 1 taker", three, push_and_take<2, 1, 1>);
  all.prove("H9 master queue: 2 pushes each, 1 taker", three, push_and_take<2, 2, 1>);
  all.prove("H9 master queue: 2 pushers, 2 takers", three, push_and_take<2, 1, 2>);
  all.prove("H9 master queue: pushed again", three, pushed_again);
  all.prove("H9 master queue: submit, sleep, stop", three, shutdown<1>);
  all.prove("H9 master queue: 2 submitters, sleep, stop", three_plain, shutdown<2>);
  return all.finish();
}
