// A squad's pool (H10): every task is taken once, and its taker sees all writes before its push. A thread that finds
// the squad free sees the writes of the task that ended there. Each end of the pool has its users.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/locality/squads/inter_pool.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"

namespace {

/// A thread that waits for the lock looks again when another thread has written.
struct env : model::env {
  static void relax() noexcept { read_again(); }
  static void yield() noexcept { read_again(); }
};

struct task {
  task* older = nullptr;
  task* newer = nullptr;
  env::plain<int> payload{0};
  env::plain<int> taken{0};
};

struct squad {
  heist::detail::inter_pool<task, env> pool;
  std::array<task, 4> tasks;
  env::plain<int> inside{0};  // subtrees that the squad runs

  task& make(std::size_t i) {
    tasks[i].payload = 7;
    return tasks[i];
  }
  /// True if there was one.
  static bool take(task* t) {
    if (t == nullptr) return false;
    model::check(t->payload == 7, "a task came out without what was written before");
    model::check(t->taken == 0, "a task was taken twice");
    t->taken = 1;
    return true;
  }
  /// The head, until it has had `count`; each ends at once.
  void lead(int count) {
    while (count > 0) {
      if (!pool.busy() && take(pool.take())) {
        pool.set_busy();
        model::check(inside == 0, "the squad runs two tasks at once");
        inside = 1;
        inside = 0;
        pool.release();
        --count;
      } else {
        env::read_again();
      }
    }
  }
  bool empty() const { return pool.maybe_empty() && !pool.maybe_pinned(); }
};

/// One thread: the head gets the pinned tasks, oldest first, and then the youngest task; a thief gets the oldest.
void order_of_tasks(model::execution& t) {
  auto& s = t.make<squad>();
  t.thread([&s] {
    auto& [a, b, c, d] = s.tasks;
    auto const is = [](task* got, task* wanted) { model::check(got == wanted, "another task than expected"); };
    is(s.pool.take(), nullptr);
    model::check(!s.pool.busy(), "an empty pool makes its squad busy");
    for (task* x : {&a, &b, &c}) s.pool.push(*x);
    is(s.pool.steal_pinned(), nullptr);
    is(s.pool.steal(), &a);
    model::check(!s.pool.busy(), "a thief made the squad busy");
    is(s.pool.take(), &c);
    s.pool.set_busy();
    model::check(s.pool.busy(), "a head that has a task did not make its squad busy");
    s.pool.release();
    model::check(!s.pool.busy(), "a squad is busy after its release");
    s.pool.push_pinned(a);
    s.pool.push_pinned(c);
    s.pool.push_pinned(d);
    is(s.pool.take(), &a);
    is(s.pool.steal_pinned(), &c);
    is(s.pool.steal(), &b);
    is(s.pool.steal(), nullptr);
    is(s.pool.take(), &d);
    model::check(s.empty(), "a pool is not empty after the last task");
  });
}

/// A pusher; and the head and a thief, each of which tries as often as there are tasks. The tasks that they did not get
/// are there at the end.
template <bool Pinned, int Tasks>
void pushed(model::execution& t) {
  auto& s = t.make<squad>();
  t.thread([&s] {
    for (std::size_t i = 0; i < Tasks; ++i) Pinned ? s.pool.push_pinned(s.make(i)) : s.pool.push(s.make(i));
  });
  t.thread([&s] {
    for (int i = 0; i < Tasks; ++i) {
      if (!squad::take(s.pool.take())) continue;
      s.pool.set_busy();
      s.pool.release();
    }
  });
  t.thread([&s] {
    for (int i = 0; i < Tasks; ++i) squad::take(Pinned ? s.pool.steal_pinned() : s.pool.steal());
  });
  t.finally([&s] {
    while (squad::take(s.pool.take())) {
    }
    int taken = 0;
    for (task& x : s.tasks) taken += x.taken;
    model::check(taken == Tasks, "a task was lost");
    model::check(s.empty(), "a pool is not empty after the last task");
  });
}

/// The head takes one task while a member ends the task that ran before.
void released(model::execution& t) {
  auto& s = t.make<squad>();
  s.pool.set_busy();
  s.inside = 1;
  s.pool.push(s.make(0));
  t.thread([&s] {
    s.inside = 0;
    s.pool.release();
  });
  t.thread([&s] { s.lead(1); });
  t.thread([&s] { s.pool.push_pinned(s.make(1)); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3}};

  all.verify("inter pool: which task comes out", three, order_of_tasks);
  all.verify("inter pool: a member releases", three, released);
  all.verify("inter pool: head and thief, 1 task", three, pushed<false, 1>);
  all.verify("inter pool: head and thief, 1 pinned", three, pushed<true, 1>);
  all.verify("inter pool: head and thief, 2 tasks", three, pushed<false, 2>);
  all.verify("inter pool: head and thief, 2 pinned", three, pushed<true, 2>);
  return all.finish();
}
