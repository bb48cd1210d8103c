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
  void ask() noexcept override { asked = asked + 1; }
  env::atomic<bool> stops{false};
  int asked = 0;  // under the lock of the limit
};

struct shared {
  explicit shared(std::size_t most) noexcept : limit{most} {
    for (executor& e : executors) limit.join(e);
  }
  limit_type limit;
  std::array<executor, 2> executors;
  env::atomic<std::size_t> inside{0};
  env::atomic<std::size_t> entries{0};

  bool acquire(std::size_t of) {
    executor& e = executors[of];
    return limit.acquire(&e, [&e] { return e.stops.load(std::memory_order_acquire); });
  }
  void work(std::size_t most) {
    std::size_t const now = inside.fetch_add(1, std::memory_order_relaxed) + 1;
    model::check(now <= most, "more threads work than the limit allows");
    entries.fetch_add(1, std::memory_order_relaxed);
    inside.fetch_sub(1, std::memory_order_relaxed);
  }
  void check_rest(std::size_t most) {
    for (std::size_t i = 0; i != most; ++i) model::check(limit.try_acquire(), "a permit is lost");
    model::check(!limit.try_acquire(), "there is a permit too many");
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
        s.limit.release();
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
  model::check(s.limit.try_acquire(), "it is free");
  auto const waits = [&s] {
    if (s.acquire(1)) s.work(1), s.limit.release();
  };
  t.thread(waits);
  t.thread([&s] {
    s.executors[1].stops.store(true, std::memory_order_release);
    s.limit.cancel(&s.executors[1]);
  });
  t.finally([&s] {
    s.limit.release();
    s.check_rest(1);
  });
}

/// An executor stops while its thread is the last in the line. The next thread then stands behind the others.
void stopped_behind_another(model::execution& t) {
  auto& s = t.make<shared>(1);
  model::check(s.limit.try_acquire(), "it is free");
  auto const works = [&s] {
    model::check(s.acquire(0), "its executor goes on");
    s.limit.release();
  };
  t.thread(works);
  t.thread([&s] {
    model::check(!s.acquire(1), "two have the only permit");
    s.limit.release();  // the first one
  });
  t.thread([&s, works] {
    s.executors[1].stops.store(true, std::memory_order_release);
    s.limit.cancel(&s.executors[1]);
    works();
  });
  t.finally([&s] { s.check_rest(1); });
}

/// A larger limit lets those go on that wait.
template <int Waiters>
void raised(model::execution& t) {
  auto& s = t.make<shared>(1);
  model::check(s.limit.try_acquire(), "it is free");
  for (int i = 0; i != Waiters; ++i) {
    t.thread([&s, i] {
      model::check(s.acquire(static_cast<std::size_t>(i)), "nobody has cancelled it");
      s.work(Waiters);
      s.limit.release();
    });
  }
  t.thread([&s] { s.limit.set_max(Waiters + 1); });
  t.finally([&s] {
    s.limit.release();
    s.check_rest(Waiters + 1);
  });
}

/// A smaller limit asks for the permits that are too many.
void lowered(model::execution& t) {
  auto& s = t.make<shared>(2);
  t.thread([&s] {
    model::check(s.acquire(0) && s.limit.try_acquire(), "two are free");
    s.limit.set_max(1);
    model::check(s.limit.wanted() && s.executors[0].asked != 0, "a permit too many is not wanted back");
    s.limit.release();
    s.limit.release();
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
  all.verify("H25 limit: raised", two, raised<1>);
  all.verify("H25 limit: raised for two", one, raised<2>);
  all.verify("H25 limit: lowered", three, lowered);
  return all.finish();
}
