// The fork/join benchmarks on citor. The thread that waits works too: with p = 2 there are the thread that runs the
// kernel and one worker. Each is pinned to a core, as is the default.
#include <citor/hints.h>
#include <citor/thread_pool.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "children.hpp"
#include "large_stacks.hpp"
#include "suite.hpp"

namespace {

class citor_context {
 public:
  explicit citor_context(citor::ThreadPool& pool) : pool_{&pool} {}

  citor::ThreadPool& pool() const { return *pool_; }

  template <class... F>
  auto fork_join(F&&... f) const {
    std::tuple<bench::child<F, citor_context>...> children{bench::child<F, citor_context>{f, {}}...};
    std::apply(
        [this](auto&... child) {
          pool_->forkJoin<citor::HintsDefaults>([&child, here = *this] { child.run(here); }...);
        },
        children);
    return bench::results(children);
  }

  /// Children start when they are joined.
  class scope {
   public:
    explicit scope(citor_context context) : pool_{context.pool_} {}
    template <class F>
    void fork(F f) {
      children_.push_back([pool = pool_, f = std::move(f)] { f(citor_context{*pool}); });
    }
    void join() {
      pool_->forkJoinAll<citor::HintsDefaults>(children_.size(), [this](std::size_t i) { children_[i](); });
      children_.clear();
    }

   private:
    citor::ThreadPool* pool_;
    std::vector<std::function<void()>> children_;
  };

 private:
  citor::ThreadPool* pool_;
};

/// Ten children are faster by index.
std::uint64_t skynet(citor::ThreadPool& pool, std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1) return first;
  std::uint64_t const part = leaves / 10;
  std::array<std::uint64_t, 10> sums;
  pool.forkJoinAll<citor::HintsDefaults>(sums.size(),
                                         [&](std::size_t i) { sums[i] = skynet(pool, first + i * part, part); });
  std::uint64_t sum = 0;
  for (std::uint64_t const s : sums) sum += s;
  return sum;
}

}  // namespace

namespace kernels {

template <>
std::uint64_t skynet::forked(citor_context c, std::uint64_t first, std::uint64_t leaves) {
  return ::skynet(c.pool(), first, leaves);
}

}  // namespace kernels

namespace {

struct citor_library {
  static constexpr std::string_view name = "";

  class executor {
   public:
    executor(std::size_t workers, std::size_t) : pool_{workers} {
      if (pool_.participants() != workers) throw std::runtime_error{"citor wants a core for each worker"};
    }

    template <class F>
    void run(F f) {
      f(citor_context{pool_});
    }

   private:
    citor::ThreadPool pool_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  return bench::with_large_stacks([=] { return bench::run_suite<citor_library>(argc, argv); });
}
