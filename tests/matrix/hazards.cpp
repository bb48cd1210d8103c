// The known hazard of tasks that change threads: a compiler may keep the address of a thread_local variable, or of
// errno, over the switch. No library can fix a user's frame; heist::no_migrate keeps it on its thread. Prints which of
// the two addresses were stale. Exits with 1 if an address was stale that must never be. The script run.py requires
// some build to be stale, as evidence that the checks of state_across_switches.cpp notice.
#include <array>
#include <cerrno>
#include <cstddef>  // size_t
#include <cstdio>

#include "heist/core/executor/no_migrate.hpp"
#include "heist/executor.hpp"
#include "support/migrate.hpp"

namespace {

thread_local int mine = 0;

/// As people write it.
inline int* naive() {
  return &mine;
}
/// The address of this thread's variable. The attribute noinline is not enough for an address: Clang 14 takes it for a
/// constant, and does not wait for the function to return it. Where the value is read, as in core/fiber/current.hpp,
/// noinline is enough.
HEIST_NOINLINE int* checked() {
  int* at = &mine;
  asm volatile("" : "+r"(at) : : "memory");
  return at;
}
HEIST_NOINLINE int* careful_errno() {
  int* at = &errno;
  asm volatile("" : "+r"(at) : : "memory");
  return at;
}

struct places {
  int* by_naive;
  int* by_errno;
  int* right;
  int* right_errno;
};

constexpr int moves = 10;
std::array<places, moves + 1> seen{};

void look(heist::context ctx) {
  for (int i = 0; i != moves; ++i) {
    auto const at = static_cast<std::size_t>(i);
    seen[at] = {naive(), &errno, checked(), careful_errno()};
    heist_test::move_remote(ctx);
    seen[at + 1] = {naive(), &errno, checked(), careful_errno()};
  }
}

}  // namespace

int main() {
  int stale_variable = 0, stale_errno = 0, wrong = 0;
  {
    heist::executor ex{2};
    ex.invoke(&look);
    for (std::size_t i = 0; i != seen.size(); ++i) {
      stale_variable += seen[i].by_naive != seen[i].right;
      stale_errno += seen[i].by_errno != seen[i].right_errno;
      if (i != 0) wrong += seen[i].right == seen[i - 1].right || seen[i].right_errno == seen[i - 1].right_errno;
    }
    ex.invoke([&wrong](heist::context ctx) {
      heist::no_migrate const stay;
      places const before{naive(), &errno, checked(), careful_errno()};
      ctx.submit([] {}).wait();
      wrong += naive() != before.right || &errno != before.right_errno;
      wrong += checked() != before.right || careful_errno() != before.right_errno;
    });
  }
  std::printf("hazards  thread_local %s  errno %s  wrong %d\n", stale_variable != 0 ? "stale" : "fresh",
              stale_errno != 0 ? "stale" : "fresh", wrong);
  return wrong == 0 ? 0 : 1;
}
