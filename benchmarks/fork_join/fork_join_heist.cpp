// The fork/join benchmarks on heist: every kernel serially and on one and two workers. --sizes=test, usual (the
// default) or published says how large.
#include <heist/heist.hpp>

#include <cstddef>
#include <string_view>

#include "suite.hpp"

namespace {

struct heist_library {
  static constexpr std::string_view name = "";

  class executor {
   public:
    executor(std::size_t workers, std::size_t stack)
        : executor_{heist::options{.workers = workers, .stack_size = stack}} {}

    template <class F>
    void run(F f) {
      executor_.sync_wait(f);
    }

   private:
    heist::executor<> executor_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run_suite<heist_library>(argc, argv);
}
