// A limit of threads that executors share (core/sync/permit_line.hpp): permits, the line of those that wait, and the end of
// an executor.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/permit_line.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"

namespace {

using model::env;

using limit_type = heist::detail::permit_line<env>;

struct executor : limit_type::member {
  void ask() noexcept override { asked.fetch_add(1, std::memory_order_release); }
  env::atomic<bool> stops{false};
  env::atomic<int> asked{0};
};

struct shared {
  explicit shared(std::size_t most) noexcept : limit{most} {
    for (executor& e : executors) limit.join(e);
  }
  limit_type limit;
  std::array<executor, 3> executors;
  env::atomic<std::size_t> inside{0};
  env::atomic<std::size_t> entries{0};

  bool acquire(std::size_t of) {
    executor& e = executors[of];
    return limit.acquire(e, [&e] { return e.stops.load(std::memory_order_acquire); });
  }
  bool pass(std::size_t of) {
    executor& e = executors[of];
    return limit.pass(e, [&e] { return e.stops.load(std::memory_order_acquire); });
  }
  bool try_acquire(std::size_t of) { return limit.try_acquire(executors[of]); }
  void release(std::size_t of) { limit.release(executors[of]); }
  void work(std::size_t most) {
    std::size_t const now = inside.fetch_add(1, std::memory_order_relaxed) + 1;
    model::check(now <= most, "more threads work than the limit allows");
    entries.fetch_add(1, std::memory_order_relaxed);
    inside.fetch_sub(1, std::memory_order_relaxed);
  }
  void check_rest(std::size_t most) {
    for (std::size_t i = 0; i != most; ++i) model::check(try_acquire(0), "a permit is lost");
    model::check(!try_acquire(0), "there is a permit too many");
    model::check(!limit.wanted(), "somebody is said to wait");
  }
};

/// Threads of two executors work some times each.
template <std::size_t Most, int Threads, int Times>
void all_work(model::execution& t) {
  auto& s = t.make<shared>(Most);
  for (int i = 0; i != Threads; ++i) {
    t.thread([&s, i] {
      for (int k = 0; k != Times; ++k) {
        model::check(s.acquire(static_cast<std::size_t>(i % 2)), "nobody has cancelled it");
        s.work(Most);
        s.release(static_cast<std::size_t>(i % 2));
      }
    });
  }
  t.finally([&s] {
    model::check(s.entries.load(std::memory_order_relaxed) == Threads * Times, "a thread has not worked");
    s.check_rest(Most);
  });
}

/// A thread has the only permit and keeps it until the other executor has stopped, whose threads wait.
void stopped(model::execution& t) {
  auto& s = t.make<shared>(1);
  model::check(s.try_acquire(0), "it is free");
  auto const waits = [&s] {
    if (s.acquire(1)) s.work(1), s.release(1);
  };
  t.thread(waits);
  t.thread([&s] {
    s.executors[1].stops.store(true, std::memory_order_release);
    s.limit.cancel(s.executors[1]);
  });
  t.finally([&s] {
    s.release(0);
    s.check_rest(1);
  });
}

/// An executor stops while its thread is the last in the line. The next thread then stands behind the others.
void stopped_behind_another(model::execution& t) {
  auto& s = t.make<shared>(1);
  model::check(s.try_acquire(0), "it is free");
  auto const works = [&s] {
    model::check(s.acquire(0), "its executor goes on");
    s.release(0);
  };
  t.thread(works);
  t.thread([&s] {
    model::check(!s.acquire(1), "two have the only permit");
    s.release(0);  // the first one
  });
  t.thread([&s, works] {
    s.executors[1].stops.store(true, std::memory_order_release);
    s.limit.cancel(s.executors[1]);
    works();
  });
  t.finally([&s] { s.check_rest(1); });
}

/// Each has a permit, and passes it on while it works. A thread of each executor waits when the third comes.
template <std::size_t Most, int Threads>
void all_pass(model::execution& t) {
  auto& s = t.make<shared>(Most);
  for (int i = 0; i != Threads; ++i) {
    t.thread([&s, of = static_cast<std::size_t>(i % 2)] {
      model::check(s.acquire(of), "nobody has cancelled it");
      s.work(Most);
      model::check(s.pass(of), "nobody has cancelled it");
      s.work(Most);
      s.release(of);
    });
  }
  t.finally([&s] {
    model::check(s.entries.load(std::memory_order_relaxed) == 2 * Threads, "a thread has not worked");
    s.check_rest(Most);
  });
}

/// Two executors have a permit each, and a thread of the first one waits. It does not get the other's only permit, but the
/// free one.
void passed_fairly(model::execution& t) {
  auto& s = t.make<shared>(2);
  auto& released = t.make<env::atomic<bool>>(false);
  model::check(s.try_acquire(1), "it is free");
  s.release(1);  // a permit that was given back is not counted
  model::check(s.try_acquire(0) && s.try_acquire(1), "two are free");
  t.thread([&s, &released] {
    model::check(s.acquire(0), "nobody has cancelled it");
    model::check(released.load(std::memory_order_relaxed), "it has taken another executor's only permit");
    s.release(0);
  });
  t.thread([&s, &released] {
    model::check(s.pass(1), "nobody has cancelled it");
    released.store(true, std::memory_order_relaxed);
    s.release(1);
  });
  t.finally([&s] {
    s.release(0);
    s.check_rest(2);
  });
}

/// An executor has both permits, and passes one on when it is asked. An executor without one gets it.
void passed_to_the_poor(model::execution& t) {
  auto& s = t.make<shared>(2);
  auto& other_has_worked = t.make<env::atomic<bool>>(false);
  model::check(s.try_acquire(0) && s.try_acquire(0), "two are free");
  t.thread([&s, &other_has_worked] {
    model::check(s.acquire(1), "nobody has cancelled it");
    other_has_worked.store(true, std::memory_order_relaxed);
    s.release(1);
  });
  t.thread([&s, &other_has_worked] {
    bool const asked = s.executors[0].asked.load(std::memory_order_acquire) != 0;
    model::check(s.pass(0), "nobody has cancelled it");
    model::check(!asked || other_has_worked.load(std::memory_order_relaxed), "an executor without permits gets none");
    s.release(0);
  });
  t.finally([&s] {
    s.release(0);
    s.check_rest(2);
  });
}

/// Two executors have a permit each. Another thread of the first one waits, and one of an executor without permits: that one
/// gets the first free one if both are in the line by then. `Giver`: of the two, who gives one back.
template <std::size_t Giver>
void released_fairly(model::execution& t) {
  auto& s = t.make<shared>(2);
  auto& both_wait = t.make<env::atomic<bool>>(false);
  auto& other_has_worked = t.make<env::atomic<bool>>(false);
  model::check(s.try_acquire(0) && s.try_acquire(Giver), "two are free");
  t.thread([&s, &both_wait, &other_has_worked] {
    model::check(s.acquire(0), "nobody has cancelled it");
    model::check(!both_wait.load(std::memory_order_relaxed) || other_has_worked.load(std::memory_order_relaxed),
                 "an executor with a permit comes before one without");
    s.release(0);
  });
  t.thread([&s, &other_has_worked] {
    model::check(s.acquire(1), "nobody has cancelled it");
    other_has_worked.store(true, std::memory_order_relaxed);
    s.release(1);
  });
  t.thread([&s, &both_wait] {
    both_wait.store(s.executors[0].asked.load(std::memory_order_acquire) == 2, std::memory_order_relaxed);
    s.release(Giver);
  });
  t.finally([&s] {
    s.release(0);
    s.check_rest(2);
  });
}

/// A larger limit lets those go on that wait.
template <int Waiters>
void raised(model::execution& t) {
  auto& s = t.make<shared>(1);
  model::check(s.try_acquire(0), "it is free");
  for (int i = 0; i != Waiters; ++i) {
    t.thread([&s, i] {
      model::check(s.acquire(static_cast<std::size_t>(i)), "nobody has cancelled it");
      s.work(Waiters);
      s.release(static_cast<std::size_t>(i));
    });
  }
  t.thread([&s] { s.limit.set_max(Waiters + 1); });
  t.finally([&s] {
    s.release(0);
    s.check_rest(Waiters + 1);
  });
}

/// A smaller limit asks for the permits that are too many.
void lowered(model::execution& t) {
  auto& s = t.make<shared>(2);
  t.thread([&s] {
    model::check(s.acquire(0) && s.try_acquire(0), "two are free");
    s.limit.set_max(1);
    model::check(s.limit.wanted() && s.executors[0].asked.load(std::memory_order_relaxed) != 0,
                 "a permit too many is not wanted back");
    s.release(0);
    s.release(0);
  });
  t.finally([&s] { s.check_rest(1); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const two{.config = {.preemptions = 2}};
  model::limits const wide{.config = {.steps = 4000}, .random_executions = 60'000};
  model::limits const one{.config = {.preemptions = 1}};

  all.verify("H25 limit: 2 threads once, 1 permit", three, all_work<1, 2, 1>);
  all.verify("H25 limit: 2 threads twice, 1 permit", two, all_work<1, 2, 2>);
  all.verify("H25 limit: 3 threads, 1 permit", one, all_work<1, 3, 1>);
  all.verify("H25 limit: 3 threads, 2 permits", one, all_work<2, 3, 1>);
  all.verify("H25 limit: an executor stops", three, stopped);
  all.verify("H25 limit: the same, behind another one, random", wide, stopped_behind_another);
  all.verify("H25 limit: 2 threads pass, 1 permit", two, all_pass<1, 2>);
  all.verify("H25 limit: 3 threads pass, 2 permits, random", wide, all_pass<2, 3>);
  all.verify("H25 limit: passed fairly", three, passed_fairly);
  all.verify("H25 limit: passed to the one without", three, passed_to_the_poor);
  all.verify("H25 limit: released fairly by one of the two that wait", one, released_fairly<0>);
  all.verify("H25 limit: released fairly", one, released_fairly<2>);
  all.verify("H25 limit: raised", two, raised<1>);
  all.verify("H25 limit: raised for two", one, raised<2>);
  all.verify("H25 limit: lowered", three, lowered);
  return all.finish();
}
