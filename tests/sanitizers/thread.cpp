// Races that ThreadSanitizer must report in tasks that migrate, and their clean twins. It must report no race between
// accesses that a join, a future or a lock orders, whichever thread the task was on before.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

#include "sanitizers/planted.hpp"

namespace {

using heist_test::move_remote;
using heist_test::wait_until;
using planted::context;
using planted::fork_and_be_stolen;

/// Rounds of two sides that are on two workers at once. Accesses of both sides in one round can only be a race:
/// ThreadSanitizer sees no order between them, because relaxed operations order nothing for it. Each side sleeps until
/// both have acted, so that neither side's history forgets the access. If a report is missed all the same, the next
/// round gives the next occasion.
class rounds {
 public:
  static constexpr int all = 50;

  /// To be called by each side; `act` once a round.
  template <class Act>
  void side(Act act) {
    for (int round = 0; round != all; ++round) {
      meet();
      act();
      meet();
    }
  }

 private:
  void meet() {
    int const complete = (came_.fetch_add(1, std::memory_order_relaxed) / 2 + 1) * 2;
    while (came_.load(std::memory_order_relaxed) < complete) std::this_thread::sleep_for(std::chrono::microseconds{20});
  }
  std::atomic<int> came_{0};
};

void two_children(context ctx, bool bug) {
  int plain = 0;
  std::mutex lock;
  rounds r;
  auto const add = [&] {
    r.side([&] {
      std::unique_lock hold{lock, std::defer_lock};
      if (!bug) hold.lock();
      ++plain;
    });
  };
  ctx.fork_join(add, add);
  ++plain;
}

/// The rest of the parent, on another worker, against the child.
void parent_and_child(context ctx, bool bug) {
  int plain = 0;
  rounds r;
  ctx.fork_join([&] { r.side([&] { plain = 1; }); },
                [&] {
                  r.side([&] {
                    if (bug) plain = 2;
                  });
                });
  plain = 3;
}

/// Before the fork, after the join, and before the children of the next: all ordered, on two workers in turn.
void joins_order(context ctx, bool bug) {
  int plain = 0;
  for (int i = 0; i != 20; ++i) {
    ++plain;
    fork_and_be_stolen(
        ctx, [&] { ++plain; }, [] {});
    ++plain;
    fork_and_be_stolen(
        ctx, [] {}, [&] { ++plain; });
    move_remote(ctx);
  }
  rounds r;
  ctx.fork_join([&] { r.side([&] { ++plain; }); },
                [&] {
                  r.side([&] {
                    if (bug) ++plain;
                  });
                });
}

/// The other task is told that it may end, so that its worker does nothing else until the race has happened.
void future_not_awaited(context ctx, bool bug) {
  for (int round = 0; round != rounds::all; ++round) {
    int plain = 0;
    std::atomic<bool> written{false}, over{!bug};
    auto const asleep_until = [](std::atomic<bool> const& flag) {
      while (!flag.load(std::memory_order_relaxed)) std::this_thread::sleep_for(std::chrono::microseconds{20});
    };
    auto const other = ctx.submit([&] {
      plain = 1;
      written.store(true, std::memory_order_relaxed);
      asleep_until(over);
    });
    if (bug) {
      asleep_until(written);
    } else {
      other.wait();
    }
    plain = 2;
    over.store(true, std::memory_order_relaxed);
    other.wait();
  }
}

/// Twenty tasks on the same few fibers, one after the other, and one beside them.
void fibers_used_again(context ctx, bool bug) {
  int plain = 0;
  for (int i = 0; i != 20; ++i) {
    ctx.submit([&](context c) {
         ++plain;
         move_remote(c);
         ++plain;
       })
        .wait();
  }
  parent_and_child(ctx, bug);
}

void handed_over_in_a_handler(context ctx, bool bug) {
  int plain = 0;
  try {
    plain = 1;
    throw 1;
  } catch (int thrown) {
    move_remote(ctx);
    plain += thrown;
  }
  rounds r;
  ctx.fork_join([&] { r.side([&] { plain = 3; }); },
                [&] {
                  r.side([&] {
                    if (bug) plain = 4;
                  });
                });
}

/// ThreadSanitizer does not report it: for it the task is the same, whatever thread it is on. The system does, for a
/// lock that checks its owner (silk's issue 116).
void system_lock_across_a_fork(context ctx, bool bug) {
  pthread_mutex_t lock;
  pthread_mutexattr_t checks;
  pthread_mutexattr_init(&checks);
  pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&lock, &checks);
  int rejected = 0;
  std::atomic<bool> taken{false};
  pthread_mutex_lock(&lock);
  if (!bug) pthread_mutex_unlock(&lock);
  ctx.fork_join([&] { wait_until(taken); },
                [&] {
                  if (bug) rejected = pthread_mutex_unlock(&lock);
                  taken = true;
                });
  if (rejected == EPERM) std::fprintf(stderr, "unlocked by a thread that does not own it\n");
  if (rejected != 0) std::_Exit(1);
  pthread_mutex_destroy(&lock);
}

}  // namespace

int main(int argc, char** argv) {
  return planted::choose(argc, argv,
                         {{"two_children", &two_children},
                          {"parent_and_child", &parent_and_child},
                          {"joins_order", &joins_order},
                          {"future_not_awaited", &future_not_awaited},
                          {"fibers_used_again", &fibers_used_again},
                          {"handed_over_in_a_handler", &handed_over_in_a_handler},
                          {"system_lock_across_a_fork", &system_lock_across_a_fork}});
}
