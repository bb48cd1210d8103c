// The fork/join benchmarks on the task group of oneTBB. The thread that waits works too: with p = 2 there are the
// thread that runs the kernel and one worker.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_group.h>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "children.hpp"
#include "large_stacks.hpp"
#include "suite.hpp"

namespace {

namespace tbb = oneapi::tbb;

/// All task groups of a run share one group context: a fresh one for every group costs more, and is for cancelling.
class tbb_context {
 public:
  explicit tbb_context(tbb::task_group_context& shared) : shared_{&shared} {}

  template <class... F>
  auto fork_join(F&&... f) const {
    std::tuple<bench::child<F, tbb_context>...> children{bench::child<F, tbb_context>{f, {}}...};
    std::apply(
        [this](auto&... child) { tbb::parallel_invoke([&child, here = *this] { child.run(here); }..., *shared_); },
        children);
    return bench::results(children);
  }

  class scope {
   public:
    explicit scope(tbb_context context) : shared_{context.shared_}, group_{*shared_} {}
    template <class F>
    void fork(F f) {
      group_.run([shared = shared_, f = std::move(f)] { f(tbb_context{*shared}); });
    }
    void join() { group_.wait(); }

   private:
    tbb::task_group_context* shared_;
    tbb::task_group group_;
  };

 private:
  tbb::task_group_context* shared_;
};

struct tbb_library {
  static constexpr std::string_view name = "";

  class executor {
   public:
    executor(std::size_t workers, std::size_t) : parallelism_{tbb::global_control::max_allowed_parallelism, workers} {}

    template <class F>
    void run(F f) {
      f(tbb_context{shared_});
    }

   private:
    tbb::global_control parallelism_;
    tbb::task_group_context shared_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  tbb::global_control const stacks{tbb::global_control::thread_stack_size, bench::large_stack};
  return bench::with_large_stacks([=] { return bench::run_suite<tbb_library>(argc, argv); });
}
