// A range that its owner and helpers take from both ends. Every iteration runs once. When the owner continues, it sees
// what helpers have done, and no helper runs an iteration any more.
#undef NDEBUG  // the assertions of the shipped code are part of what is proved
#include "heist/sync/shared_range.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"

namespace {

using model::env;
using order = std::memory_order;

constexpr std::size_t most = 4;

struct stage {
  explicit stage(std::size_t n) : left{n}, size{n} {}

  void run(heist::detail::shared_range<env>::range r) {
    model::check(r.lo < r.hi && r.hi <= size, "a block that is none");
    for (std::size_t i = r.lo; i != r.hi; ++i) {
      model::check(!returned, "an iteration begins after the owner has gone on");
      model::check(runs[i] == 0, "an iteration runs twice");
      runs[i] = 1;
    }
  }
  void work(bool front) {
    for (;;) {
      auto const r = front ? left.take_front({1, block, 2}) : left.take_back({1, block, 2});
      if (r.empty()) return;
      run(r);
      if (front && ends) left.drop_from(0);
    }
  }
  void owner() {
    work(true);
    if (!left.close()) {
      heist::thread_waiter<env, 0> me;
      if (!left.all_have_left() && left.all_left().enlist(me)) me.wait();
    }
    for (std::size_t i = 0; i != size; ++i) model::check(ends || runs[i] == 1, "an iteration is lost or runs twice");
    returned = true;
  }
  void helper() {
    if (!left.enter()) return;
    work(false);
    left.leave();
  }

  heist::detail::shared_range<env> left;
  std::size_t size;
  std::size_t block = 1;
  bool ends = false;
  std::array<env::plain<int>, most> runs{};
  env::plain<bool> returned{false};
};

template <std::size_t N, int Helpers, std::size_t Block = 1, bool Ends = false>
void shared(model::execution& t) {
  auto& s = t.make<stage>(N);
  s.block = Block;
  s.ends = Ends;
  t.thread([&] { s.owner(); });
  for (int i = 0; i < Helpers; ++i) t.thread([&] { s.helper(); });
  t.alike(Helpers);
  t.finally([&] { model::check(s.left.all_have_left(), "a helper is still inside"); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.rules = {.preemptions = 3}};
  model::limits const three_plain{.rules = {.preemptions = 3, .odd_failures = 0}};
  all.prove("shared range: 2 iterations, 1 helper", three, shared<2, 1>);
  all.prove("shared range: 3 iterations, 1 helper", three, shared<3, 1>);
  all.prove("shared range: 4 iterations in blocks of 2, 1 helper", three, shared<4, 1, 2>);
  all.prove("shared range: ended by the first, 1 helper", three, shared<3, 1, 1, true>);
  all.prove("shared range: 2 iterations, 2 helpers", three_plain, shared<2, 2>);
  return all.finish();
}
