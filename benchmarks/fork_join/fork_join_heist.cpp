// The fork/join benchmarks on heist: every kernel serially and on one and two workers. Forks are parent-first, with
// each way to wait for stolen tasks, or child-first. The option --sizes=test, usual (the default) or published sets the
// size.
#include <heist/heist.hpp>

#include <cstddef>
#include <string_view>

#include "suite.hpp"

namespace {

template <class Policy>
class heist_executor {
 public:
  heist_executor(std::size_t workers, std::size_t stack)
      : executor_{heist::options{.workers = workers, .stack_size = stack}} {}

  template <class F>
  void run(F f) {
    executor_.invoke(f);
  }

 private:
  heist::executor<Policy> executor_;
};

struct parent_first {
  static constexpr std::string_view name = "";
  using executor = heist_executor<heist::policy::random>;
};

#ifndef HEIST_BENCH_SHORT
using heist::policy::with_join;
using heist::policy::with_order;

struct child_first {
  static constexpr std::string_view name = "@child_first";
  using executor = heist_executor<with_order<heist::policy::random, heist::order::child_first>>;
};
struct leapfrog {
  static constexpr std::string_view name = "@leapfrog";
  using executor = heist_executor<with_join<heist::policy::random, heist::join::leapfrog>>;
};
struct wait {
  static constexpr std::string_view name = "@wait";
  using executor = heist_executor<with_join<heist::policy::random, heist::join::spin>>;
};
#endif

}  // namespace

int main(int argc, char** argv) {
#ifdef HEIST_BENCH_SHORT
  return bench::run_suite<parent_first>(argc, argv);
#else
  return bench::run_suite<parent_first, child_first, leapfrog, wait>(argc, argv);
#endif
}
