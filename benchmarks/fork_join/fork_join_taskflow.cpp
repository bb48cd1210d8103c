// The fork/join benchmarks on the task group of Taskflow.
#include <cstddef>
#include <string_view>
#include <taskflow/taskflow.hpp>
#include <tuple>
#include <utility>

#include "children.hpp"
#include "large_stacks.hpp"
#include "suite.hpp"

namespace {

class taskflow_context {
 public:
  explicit taskflow_context(tf::Executor& executor) : executor_{&executor} {}

  template <class... F>
  auto fork_join(F&&... f) const {
    std::tuple<bench::child<F, taskflow_context>...> children{bench::child<F, taskflow_context>{f, {}}...};
    tf::TaskGroup group = executor_->task_group();
    bench::all_but_last(
        children, [&](auto& child) { group.silent_async([&child, here = *this] { child.run(here); }); },
        [&](auto& child) { child.run(*this); });
    group.corun();
    return bench::results(children);
  }

  class scope {
   public:
    explicit scope(taskflow_context context) : executor_{context.executor_}, group_{executor_->task_group()} {}
    template <class F>
    void fork(F f) {
      group_.silent_async([executor = executor_, f = std::move(f)] { f(taskflow_context{*executor}); });
    }
    void join() { group_.corun(); }

   private:
    tf::Executor* executor_;
    tf::TaskGroup group_;
  };

 private:
  tf::Executor* executor_;
};

struct taskflow_library {
  static constexpr std::string_view name = "";

  class executor {
   public:
    executor(std::size_t workers, std::size_t) : executor_{workers} {}

    template <class F>
    void run(F f) {
      executor_.async([&] { f(taskflow_context{executor_}); }).get();
    }

   private:
    tf::Executor executor_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  // corun() takes up any task, not only those of its group: the tree T3L nests two GiB deep.
  return bench::with_large_stacks([=] { return bench::run_suite<taskflow_library>(argc, argv); },
                                  4 * bench::large_stack);
}
