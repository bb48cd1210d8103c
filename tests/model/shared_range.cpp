// A range that its owner and helpers take from both ends, and that the owner opens again. Every iteration runs once.
// When the owner continues, it sees the results of all helpers, and no helper runs an iteration or touches the range
// any more.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/shared_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace {

using model::env;
using order = std::memory_order;

constexpr std::size_t most = 4;

struct stage {
  explicit stage(std::size_t n) : size{n} {}

  void run(heist::detail::shared_range<env>::range r) {
    model::check(r.lo < r.hi && r.hi <= size, "a block that is none");
    for (std::size_t i = r.lo; i != r.hi; ++i) {
      model::check(is_open, "an iteration begins after the owner has gone on");
      model::check(runs[i] == 0, "an iteration runs twice");
      runs[i] = 1;
    }
  }
  int work(bool front) {
    int n = 0;
    for (;;) {
      auto const r = front ? left.take_front({1, block, 2}) : left.take_back({1, block, 2});
      if (r.empty()) return n;
      run(r);
      n += static_cast<int>(r.hi - r.lo);
      if (!front && goes) return n;
      if (front && ends) left.drop_from(0);
    }
  }
  static void wait(heist::detail::basic_completion<env>& until) {
    heist::detail::thread_waiter<env, 0> me;
    if (until.add_entry(me)) me.wait();
  }
  /// One loop. As parallel/algorithm/shared_loop.ipp: each helper leaves a result, and the owner adds them.
  void own(std::size_t loop) {
    for (std::size_t i = 0; i != size; ++i) runs[i] = 0;
    result_count = 0;
    is_open = true;
    left.open(size, allowed);
    int sum = 0;
    if (only_waits) {
      opened[loop].complete();
      wait(taken[loop]);
    } else {
      sum = work(true);
    }
    if (!left.close() && !left.all_have_left() && left.will_wait()) wait(left.all_left());
    is_open = false;
    for (std::size_t i = 0; i != result_count; ++i) sum += results[i];
    for (std::size_t i = 0; i != size; ++i) model::check(ends || runs[i] == 1, "an iteration is lost or runs twice");
    model::check(ends || sum == static_cast<int>(size), "a result is lost or counted twice");
  }
  void owner() {
    for (std::size_t i = 0; i != loops; ++i) own(i);
  }
  /// A worker that looks so many times.
  void helper(int looks) {
    for (; looks != 0; --looks) {
      if (!left.may_enter() || !left.enter()) continue;
      int n = 0;
      {  // of one that has gone
        heist::detail::spin_guard const guard{lock};
        if (goes && result_count != 0) {
          result_count = result_count - 1;
          n = results[result_count];
        }
      }
      n += work(false);
      {
        heist::detail::spin_guard const guard{lock};
        model::check(result_count < allowed, "more helpers than are allowed");
        results[result_count] = n;
        result_count = result_count + 1;
      }
      left.leave(goes);
    }
  }
  /// One that comes to this loop, and does all of it.
  void helper_of(std::size_t loop) {
    wait(opened[loop]);
    model::check(left.enter(), "a helper is refused");
    results[0] = work(false);
    result_count = 1;
    taken[loop].complete();
    left.leave();
  }

  heist::detail::shared_range<env> left;
  std::size_t size;
  std::size_t block = 1;
  std::size_t allowed = 1;
  std::size_t loops = 1;
  bool ends = false;
  bool goes = false;        ///< a helper leaves after a block, and gives its place to another one
  bool only_waits = false;  ///< the owner leaves each loop to a helper of its own
  std::array<heist::detail::basic_completion<env>, 2> opened, taken;
  std::array<env::plain<int>, most> runs{};
  env::plain<bool> is_open{false};
  heist::detail::spin_lock<env> lock;
  std::array<env::plain<int>, 2> results{};
  env::plain<std::size_t> result_count{0};
};

struct shape {
  std::size_t iterations;
  int helpers = 1;
  std::size_t allowed = 1;
  std::size_t loops = 1;
  int looks = 1;  // of each helper
  std::size_t block = 1;
  bool ends = false;
  bool only_waits = false;
  bool goes = false;
};

template <shape S>
void shared(model::execution& t) {
  auto& s = t.make<stage>(S.iterations);
  s.block = S.block;
  s.ends = S.ends;
  s.goes = S.goes;
  s.allowed = S.allowed;
  s.only_waits = S.only_waits;
  s.loops = S.loops;
  t.thread([&] { s.owner(); });
  for (int i = 0; i < S.helpers; ++i) {
    if constexpr (S.only_waits) {
      t.thread([&s, i] { s.helper_of(static_cast<std::size_t>(i)); });
    } else {
      t.thread([&] { s.helper(S.looks); });
    }
  }
  if (!S.only_waits) t.alike(S.helpers);
  t.finally([&] { model::check(s.left.all_have_left() && !s.left.may_enter(), "a helper is still inside"); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const three_plain{.config = {.preemptions = 3, .odd_failures = 0}};
  all.verify("shared range: 2 iterations, 1 helper", three, shared<{.iterations = 2}>);
  all.verify("shared range: 3 iterations, 1 helper", three, shared<{.iterations = 3}>);
  all.verify("shared range: 4 iterations in blocks of 2, 1 helper", three, shared<{.iterations = 4, .block = 2}>);
  all.verify("shared range: ended by the first, 1 helper", three, shared<{.iterations = 3, .ends = true}>);
  all.verify("shared range: opened twice, 1 helper", three, shared<{.iterations = 2, .loops = 2, .looks = 2}>);
  all.verify("shared range: 2 iterations, 2 helpers", three_plain,
             shared<{.iterations = 2, .helpers = 2, .allowed = 2}>);
  all.verify("shared range: 2 iterations, 2 helpers, 1 allowed", three_plain, shared<{.iterations = 2, .helpers = 2}>);
  all.verify("shared range: 3 iterations, a helper leaves and comes again", three,
             shared<{.iterations = 3, .looks = 2, .goes = true}>);
  all.verify("shared range: 3 iterations, 3 helpers take turns", three_plain,
             shared<{.iterations = 3, .helpers = 3, .goes = true}>);
  all.verify("shared range: opened twice, a helper leaves and comes again", three_plain,
             shared<{.iterations = 2, .loops = 2, .looks = 2, .goes = true}>);
  model::limits const five{.config = {.preemptions = 5, .odd_failures = 0}};
  all.verify("shared range: opened twice, a helper each time", five,
             shared<{.iterations = 1, .helpers = 2, .loops = 2, .only_waits = true}>);
  return all.finish();
}
