// The state that the language and the C library keep per thread, in tasks that change threads: compiled in many ways by
// run.py. Prints each check that fails, and the number of checks; exits with 1 if one failed.
#include <sys/syscall.h>  // SYS_gettid
#include <unistd.h>       // syscall

#include <array>
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <cstddef>  // size_t
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "heist/core/executor/no_migrate.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "support/migrate.hpp"

namespace {

using heist_test::move_remote;
using child_first = heist::executor<heist::policy::with_order<heist::policy::random, heist::order::child_first>>;
using ctx_type = child_first::context_type;

std::atomic<int> checks{0}, failures{0};

void check_that(bool holds, int line, char const* what) {
  ++checks;
  if (holds) return;
  ++failures;
  std::printf("state_across_switches.cpp:%d: %s\n", line, what);
}
#define CHECK_THAT(what) check_that((what), __LINE__, #what)

constexpr int rounds = 20;

/// Asked of the kernel: pthread_self() is as stale as errno in a task that has moved.
long this_thread() {
  return ::syscall(SYS_gettid);
}

std::array<std::atomic<long>, 2> thread_of{};  ///< by worker

template <class Context>
void check_place(Context ctx) {
  std::size_t const worker = ctx.worker_id();
  long unknown = 0;
  long const here = this_thread();
  bool const first = thread_of[worker].compare_exchange_strong(unknown, here);
  CHECK_THAT(first || unknown == here);
  CHECK_THAT(heist::detail::this_worker()->number == worker);
  CHECK_THAT(&heist::detail::this_fiber()->scheduler == &heist::detail::this_worker()->scheduler);
}

template <class Context>
void worker_pointer(Context ctx) {
  for (int i = 0; i != rounds; ++i) {
    heist::detail::worker const* const before = heist::detail::this_worker();
    std::size_t const was = ctx.worker_id();
    check_place(ctx);
    move_remote(ctx);
    CHECK_THAT(ctx.worker_id() != was);
    CHECK_THAT(heist::detail::this_worker() != before);
    check_place(ctx);
    // The call has no context, so it finds the worker by the thread.
    std::size_t found = ~std::size_t{0};
    heist::fork_join([&](heist::context c) { found = c.worker_id(); });
    CHECK_THAT(found == ctx.worker_id());
  }
}

/// The rest of a child-first fork, which another worker has to take before the child can end.
template <class Context>
void stolen_continuation(Context ctx) {
  for (int i = 0; i != rounds; ++i) {
    std::size_t const was = ctx.worker_id();
    std::atomic<bool> taken{false};
    auto const [in_child, in_rest] = ctx.fork_join(
        [&](Context c) {
          heist_test::wait_until(taken);
          check_place(c);
          return c.worker_id();
        },
        [&](Context c) {
          check_place(c);
          CHECK_THAT(std::uncaught_exceptions() == 0 && !std::current_exception());
          taken = true;
          return c.worker_id();
        });
    CHECK_THAT(in_child == was);
    CHECK_THAT(in_rest != was);
    check_place(ctx);
  }
}

struct of_task : std::runtime_error {
  using runtime_error::runtime_error;
};
struct of_other : std::runtime_error {
  using runtime_error::runtime_error;
};

void other_handles_one_of_its_own() {
  CHECK_THAT(std::uncaught_exceptions() == 0);
  CHECK_THAT(!std::current_exception());
  try {
    throw of_other{"other"};
  } catch (of_other const&) {
    try {
      throw;
    } catch (std::exception const& e) {
      CHECK_THAT(dynamic_cast<of_other const*>(&e) != nullptr);
    }
  }
  CHECK_THAT(!std::current_exception());
}

template <class Context>
void in_a_handler(Context ctx) {
  for (int i = 0; i != rounds; ++i) {
    bool again = false;
    std::exception_ptr kept;
    try {
      try {
        throw of_task{"task"};
      } catch (of_task const& e) {
        std::exception_ptr const before = std::current_exception();
        std::size_t const was = ctx.worker_id();
        move_remote(ctx, other_handles_one_of_its_own);
        CHECK_THAT(ctx.worker_id() != was);
        CHECK_THAT(std::current_exception() == before);
        CHECK_THAT(std::uncaught_exceptions() == 0);
        try {  // handlers within handlers, and a switch within both
          throw of_other{"inner"};
        } catch (of_other const&) {
          move_remote(ctx, other_handles_one_of_its_own);
          try {
            throw;
          } catch (std::exception const& inner) {
            CHECK_THAT(dynamic_cast<of_other const*>(&inner) != nullptr);
          }
        }
        CHECK_THAT(std::current_exception() == before);
        CHECK_THAT(std::string_view{e.what()} == "task");
        kept = before;
        throw;
      }
    } catch (of_task const& e) {
      again = std::string_view{e.what()} == "task" && std::current_exception() == kept;
    }
    CHECK_THAT(again);
    CHECK_THAT(!std::current_exception());
  }
}

template <class Context>
struct moves_when_destroyed {
  Context ctx;
  ~moves_when_destroyed() {
    int const before = std::uncaught_exceptions();
    CHECK_THAT(before == 1);
    move_remote(ctx, other_handles_one_of_its_own);
    CHECK_THAT(std::uncaught_exceptions() == before);
    other_handles_one_of_its_own_within(before);
    move_remote(ctx, other_handles_one_of_its_own);
    CHECK_THAT(std::uncaught_exceptions() == before);
  }
  static void other_handles_one_of_its_own_within(int uncaught) {
    try {
      throw of_other{"within"};
    } catch (of_other const&) {
      CHECK_THAT(std::uncaught_exceptions() == uncaught);
    }
  }
};

template <class Context>
void in_a_destructor(Context ctx) {
  for (int i = 0; i != rounds; ++i) {
    bool caught = false;
    try {
      moves_when_destroyed<Context> const moves{ctx};
      throw of_task{"unwinding"};
    } catch (of_task const& e) {
      caught = std::string_view{e.what()} == "unwinding";
    }
    CHECK_THAT(caught);
    CHECK_THAT(std::uncaught_exceptions() == 0);
  }
}

/// From the child, from the rest on another worker, and from both: the first in order of the arguments.
template <class Context>
void through_forks(Context ctx) {
  for (int i = 0; i != rounds; ++i) {
    for (int const which : {1, 2, 3}) {
      std::atomic<bool> taken{false};
      char const* said = "";
      try {
        ctx.fork_join(
            [&] {
              heist_test::wait_until(taken);
              if ((which & 1) != 0) throw of_task{"child"};
            },
            [&] {
              taken = true;
              if ((which & 2) != 0) throw of_other{"rest"};
            });
      } catch (of_task const&) {
        said = "child";
        move_remote(ctx, other_handles_one_of_its_own);
        try {
          throw;
        } catch (of_task const& e) {
          CHECK_THAT(std::string_view{e.what()} == "child");
        }
      } catch (of_other const&) {
        said = "rest";
        move_remote(ctx, other_handles_one_of_its_own);
      }
      CHECK_THAT(std::string_view{said} == (which == 2 ? "rest" : "child"));
      CHECK_THAT(!std::current_exception() && std::uncaught_exceptions() == 0);
    }
  }
}

/// noinline: the call must not be moved over a change of the rounding mode, of which optimizers know nothing.
HEIST_NOINLINE double third() {
  double const volatile one = 1, three = 3;
  return one / three;
}

/// core/fiber/README.md: control words are kept over switches.
template <class Context>
void rounding(Context ctx) {
  constexpr auto other_rounds_to_nearest = [] {
    CHECK_THAT(std::fegetround() == FE_TONEAREST);
    CHECK_THAT(third() == 0x1.5555555555555p-2);
  };
  for (int i = 0; i != rounds; ++i) {
    double const nearest = third();
    std::fesetround(FE_UPWARD);
    double const up = third();
    CHECK_THAT(up > nearest);
    move_remote(ctx, other_rounds_to_nearest);
    CHECK_THAT(std::fegetround() == FE_UPWARD);
    CHECK_THAT(third() == up);
    std::fesetround(FE_TONEAREST);
    move_remote(ctx, other_rounds_to_nearest);
    CHECK_THAT(std::fegetround() == FE_TONEAREST);
    CHECK_THAT(third() == nearest);
  }
}

thread_local int kept_by_thread = 0;

/// Per-thread state does not move with a task; no_migrate keeps a frame that uses such state on its thread.
template <class Context>
void stays_under_no_migrate(Context ctx) {
  for (int i = 1; i != rounds; ++i) {
    heist::no_migrate const stay;
    long const was = this_thread();
    errno = i;
    kept_by_thread = i;
    ctx.submit([] {}).wait();
    CHECK_THAT(this_thread() == was);
    CHECK_THAT(errno == i);
    CHECK_THAT(kept_by_thread == i);
  }
}

}  // namespace

int main() {
  {
    child_first ex{2};
    auto const run = [&ex](void (*part)(ctx_type)) { ex.invoke([part](ctx_type c) { part(c); }); };
    run(&worker_pointer<ctx_type>);
    run(&stolen_continuation<ctx_type>);
    run(&in_a_handler<ctx_type>);
    run(&in_a_destructor<ctx_type>);
    run(&through_forks<ctx_type>);
    run(&rounding<ctx_type>);
    run(&stays_under_no_migrate<ctx_type>);
    ex.wait_idle();
  }
  std::printf("state    %s switch  checks %d  failed %d\n", heist::native_switch ? "native" : "boost", checks.load(),
              failures.load());
  return failures == 0 ? 0 : 1;
}
