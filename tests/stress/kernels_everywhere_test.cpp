// Every kernel on any number of workers, in both orders, with every way to wait at a join: the result is the serial
// one.
#include <heist/heist.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>

#include "examples/kernels/all.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

using heist_test::slow;

namespace {

template <class Order, class Join>
using forking = heist::policy::with_join<heist::policy::with_order<heist::policy::random, Order>, Join>;

using child_first = forking<heist::order::child_first, heist::join::park>;
using every_policy = std::conditional_t<heist_test::few_policies, std::tuple<child_first>,
                                        std::tuple<forking<heist::order::parent_first, heist::join::park>,
                                                   forking<heist::order::parent_first, heist::join::leapfrog>,
                                                   forking<heist::order::parent_first, heist::join::spin>, child_first,
                                                   forking<heist::order::child_first, heist::join::leapfrog>,
                                                   forking<heist::order::child_first, heist::join::spin>>>;

/// Runs every kernel `rounds` times on one executor.
template <class Policy>
void run_all(std::size_t workers, int rounds) {
  // Larger than the stack of every kernel, so that one executor serves all: threads cost more than the kernels do.
  std::size_t stack = std::size_t{1} << 20;
  kernels::for_each_kernel([&]<class K>() { stack = K::about.stack > stack ? K::about.stack : stack; });
  heist::executor<Policy> ex{heist::options{.workers = workers, .stack_size = stack}};
  heist_test::watchdog guard{ex, 100s};
  kernels::for_each_kernel([&]<class K>() {
    guard.section(std::string{K::about.name});
    INFO(K::about.name << " on " << workers << " workers");
    K k{K::about.test};
    k.prepare();
    k.serial();
    auto const expected = k.result();
    for (int round = 0; round < rounds; ++round) {
      k.prepare();
      ex.invoke([&](auto ctx) { k.parallel(ctx); });
      CHECK(k.check() == "");
      CHECK((k.result() == expected));
    }
  });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("kernels: equal to serial on 1 to 64 workers", "[stress]", every_policy) {
  int const rounds = heist_test::stress_rounds(10);
  for (std::size_t const workers : {1u, 2u, 4u, 16u, 64u}) {
    if (slow && workers != 2 && workers != 4) continue;
    run_all<TestType>(workers, rounds);
  }
}
