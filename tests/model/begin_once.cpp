// expedite() (H21): core/sync/begin_once.hpp as shipped, with the shares and units of work of
// core/executor/async_base.hpp and async.ipp, repeated by hand.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/begin_once.hpp"

#include <cstdint>

#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"

namespace {

using model::env;
using order = std::memory_order;

struct task {
  env::atomic<std::uint32_t> owners{2};
  heist::detail::begin_once<env> entries;
  env::plain<int> second_wave{0};
  env::plain<int> result{0};
  heist::detail::basic_completion<env> finished;
  env::plain<int> freed{0};

  void release() noexcept {
    if (owners.load(order::acquire) == 1 || owners.fetch_sub(1, order::acq_rel) == 1) freed = freed + 1;
  }
};

void wait_for(heist::detail::basic_completion<env>& c) {
  heist::detail::thread_waiter<env, 1> me;
  if (c.add_entry(me)) me.wait();
}

/// The task, the queue of its second entry, and the counts of the harness.
struct world {
  task one;
  heist::detail::basic_completion<env> second;  // there is an entry, or none will come
  env::atomic<bool> none{false};
  env::atomic<int> handles{0};
  env::atomic<int> first_ended{0}, second_ended{0}, made{0};

  /// The taker of an entry.
  void taken() {
    if (!one.entries.begins(one.owners.load(order::acquire) == 1)) {
      int const wave = one.second_wave;
      one.release();
      model::check(wave == 2, "the unit of work of the second entry is not known");
      second_ended.fetch_add(1, order::relaxed);
      return;
    }
    one.result = one.result + 1;
    one.finished.complete();
    one.release();
    first_ended.fetch_add(1, order::relaxed);
  }
  void raise_priority() {
    if (one.finished.is_ready() || !one.entries.raise()) return;
    one.owners.fetch_add(1, order::relaxed);
    one.second_wave = 2;
    made.fetch_add(1, order::relaxed);
    second.complete();
  }
};

/// One worker takes the first entry, another the second. `Handles` threads raise the task. The last of these threads
/// asks for the result, or drops the handle.
template <int Handles, bool Asks>
void is_set(model::execution& t) {
  auto& w = t.make<world>();
  w.handles.store(Handles, order::relaxed);
  t.thread([&w] { w.taken(); });
  t.thread([&w] {
    wait_for(w.second);
    if (!w.none.load(order::relaxed)) w.taken();
  });
  for (int i = 0; i != Handles; ++i) {
    t.thread([&w] {
      w.raise_priority();
      if (w.handles.fetch_sub(1, order::acq_rel) != 1) return;
      if (Asks) {
        wait_for(w.one.finished);
        model::check(w.one.result == 1, "the task has not run when it is done");
      }
      w.one.release();
      if (w.made.load(order::relaxed) != 0) return;
      w.none.store(true, order::relaxed);
      w.second.complete();
    });
  }
  t.finally([&w] {
    model::check(w.one.result == 1 && w.first_ended.load(order::relaxed) == 1, "the task has not run once");
    model::check(w.second_ended.load(order::relaxed) == w.made.load(order::relaxed), "a unit of work does not end");
    model::check(w.one.freed == 1, "the task is not freed once");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const one{.config = {.preemptions = 1}};

  all.verify("H21 expedite: by one, who asks", three, is_set<1, true>);
  all.verify("H21 expedite: by one, who drops the handle", three, is_set<1, false>);
  all.verify("H21 expedite: by two", one, is_set<2, true>);
  return all.finish();
}
