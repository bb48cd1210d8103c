// Completion (H6): a waiter wakes once, sees all writes before the completion, and may free the completion at once.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/completion.hpp"

#include "engine/suite.hpp"

namespace {

using model::env;
using completion = heist::detail::basic_completion<env>;
using waiter = heist::detail::thread_waiter<env, 1>;

struct job {
  completion finished;
  env::plain<int> result{0};
};

void complete(job& j) {
  j.result = 7;
  j.finished.complete();
}

void wait(job& j) {
  waiter me;
  if (j.finished.add_entry(me)) me.wait();
  model::check(j.result == 7, "the waiter woke before the result was there");
}

/// The waiter owns the job, and frees it as soon as it is done.
void freed_by_waiter(model::execution& t) {
  job* const j = new job;
  t.thread([j] { complete(*j); });
  t.thread([j] {
    wait(*j);
    delete j;
  });
}

/// The same, by looking instead of waiting.
void freed_by_looker(model::execution& t) {
  job* const j = new job;
  t.thread([j] { complete(*j); });
  t.thread([j] {
    while (!j->finished.is_ready()) env::relax();
    model::check(j->result == 7, "done before the result was there");
    delete j;
  });
}

/// A waiter without an owner: it frees itself when it is woken, as a parked frame does when it resumes.
struct self_freeing : heist::detail::completion_waiter {
  explicit self_freeing(env::atomic<int>& notified) : completion_waiter{&wake_up}, notified{notified}, prepared{7} {}

  static void wake_up(completion_waiter& w) noexcept {
    auto& self = static_cast<self_freeing&>(w);
    model::check(self.prepared == 7, "a waiter was woken before it was ready");
    self.notified.fetch_add(1, std::memory_order_relaxed);
    delete &self;
  }

  env::atomic<int>& notified;
  env::plain<int> prepared;
};

template <int Waiters>
void every_waiter_once(model::execution& t) {
  auto& j = t.make<job>();
  auto& notified = t.make<env::atomic<int>>(0);
  auto& rejected = t.make<env::atomic<int>>(0);
  t.thread([&] { complete(j); });
  for (int i = 0; i < Waiters; ++i) {
    t.thread([&] {
      auto* const w = new self_freeing{notified};
      if (j.finished.add_entry(*w)) return;
      model::check(j.result == 7, "refused before the result was there");
      rejected.fetch_add(1, std::memory_order_relaxed);
      delete w;
    });
  }
  t.finally([&] {
    model::check(notified.load(std::memory_order_relaxed) + rejected.load(std::memory_order_relaxed) == Waiters,
                 "a waiter was forgotten, or woken twice");
  });
}

/// Threads that sleep; one of them frees the job.
void two_sleepers(model::execution& t) {
  auto& j = t.make<job>();
  t.thread([&] { complete(j); });
  t.thread([&] { wait(j); });
  t.thread([&] { wait(j); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const spurious{.config = {.preemptions = 3, .spurious = 1}};

  all.verify("H6 completion: freed by its waiter", three, freed_by_waiter);
  all.verify("H6 completion: the same, futex returns early", spurious, freed_by_waiter);
  all.verify("H6 completion: freed by a thread that looks", three, freed_by_looker);
  all.verify("H6 completion: 2 waiters, each woken once", three, every_waiter_once<2>);
  all.verify("H6 completion: 3 waiters, each woken once", three, every_waiter_once<3>);
  all.verify("H6 completion: 2 sleepers", three, two_sleepers);
  return all.finish();
}
