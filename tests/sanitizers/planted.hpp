// The parts that the programs with planted bugs share: each is called with `planted` or `clean`, and the two differ
// only in the bug.
#pragma once

#include <atomic>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "support/migrate.hpp"

namespace planted {

using child_first = heist::executor<heist::policy::with_order<heist::policy::random, heist::order::child_first>>;
using context = child_first::context_type;

/// A fork whose rest is taken by the other worker, always: the child does not end before, nor `before_it` begin.
template <class Child, class Rest>
void fork_and_be_stolen(context ctx, Child child, Rest rest) {
  std::atomic<bool> taken{false};
  ctx.fork_join(
      [&] {
        heist_test::wait_until(taken);
        child();
      },
      [&] {
        taken = true;
        rest();
      });
}

/// A fork that no worker steals from: the other worker is held meanwhile.
template <class Child, class Rest>
void fork_alone(context ctx, Child child, Rest rest) {
  struct holding {
    std::atomic<bool> begun{false}, over{false};
  };
  auto const h = std::make_shared<holding>();
  auto const other = ctx.submit([h] {
    h->begun = true;
    heist_test::wait_until(h->over);
  });
  heist_test::wait_until(h->begun);
  ctx.fork_join(child, rest);
  h->over = true;
}

/// Unknown to optimisers from here on.
template <class T>
T* hidden(T* p) {
  asm volatile("" : "+r"(p) : : "memory");
  return p;
}

struct program {
  char const* name;
  void (*task)(context ctx, bool planted);
  void (*outside)(child_first& ex, bool planted) = nullptr;  ///< in the place of `task`: it is no task
};

/// `name planted` or `name clean`.
inline int choose(int argc, char** argv, std::initializer_list<program> all) {
  for (program const& p : all) {
    if (argc != 3 || std::string_view{argv[1]} != p.name) continue;
    bool const bug = std::string_view{argv[2]} == "planted";
    child_first ex{2};
    if (p.outside != nullptr) {
      p.outside(ex, bug);
    } else {
      ex.invoke([&](context ctx) { p.task(ctx, bug); });
    }
    return 0;
  }
  if (argc == 1) return 0;  // it starts
  std::fprintf(stderr, "usage: %s program planted|clean\n", argv[0]);
  return 2;
}

}  // namespace planted
