// The fork/join benchmarks on OpenMP tasks. The thread that waits works too: with p = 2 there are the thread that runs
// the kernel and one worker.
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "children.hpp"
#include "large_stacks.hpp"
#include "suite.hpp"

namespace {

class openmp_context {
 public:
  template <class... F>
  auto fork_join(F&&... f) const {
    std::tuple<bench::child<F, openmp_context>...> children{bench::child<F, openmp_context>{f, {}}...};
    bench::all_but_last(
        children, [](auto& child) { spawn(child); }, [](auto& child) { child.run(openmp_context{}); });
#pragma omp taskwait
    return bench::results(children);
  }

  class scope {
   public:
    explicit scope(openmp_context) {}
    template <class F>
    void fork(F f) {
#pragma omp task firstprivate(f)
      f(openmp_context{});
    }
    void join() {
#pragma omp taskwait
    }
  };

 private:
  template <class Child>
  static void spawn(Child& child) {
    Child* const kept = &child;
#pragma omp task firstprivate(kept)
    kept->run(openmp_context{});
  }
};

struct openmp_library {
  static constexpr std::string_view name = "";

  class executor {
   public:
    executor(std::size_t workers, std::size_t) : workers_{static_cast<int>(workers)} {}

    template <class F>
    void run(F f) {
#pragma omp parallel num_threads(workers_)
#pragma omp single
      f(openmp_context{});
    }

   private:
    int workers_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  return bench::with_large_stacks([=] { return bench::run_suite<openmp_library>(argc, argv); });
}
