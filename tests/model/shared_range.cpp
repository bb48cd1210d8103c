// A range that its owner and helpers take from both ends. Every iteration runs once. When the owner continues, it sees
// what helpers have done, and no helper runs an iteration any more.
#undef NDEBUG  // the assertions of the shipped code are part of what is proved
#include "heist/sync/shared_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"
#include "heist/sync/spin_lock.hpp"

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

/// As algo/shared_loop.ipp, repeated by hand. Each helper leaves a result, and the owner adds them. The state is freed by
/// the last one to leave: the owner, or a helper, which may come late.
struct counted : stage {
  counted(std::size_t n, std::uint32_t asked) : stage{n}, users{1 + asked} {}

  int count(bool front) {
    int n = 0;
    for (;;) {
      auto const r = front ? left.take_front({1, 1, 2}) : left.take_back({1, 1, 2});
      if (r.empty()) return n;
      run(r);
      n += static_cast<int>(r.hi - r.lo);
    }
  }
  void keep_result(int n) {
    heist::spin_guard const guard{lock};
    results[result_count] = n;
    result_count = result_count + 1;
  }
  void release() {
    if (users.fetch_sub(1, order::acq_rel) == 1) freed = true;
  }
  void owner() {
    int sum = count(true);
    if (!left.close()) {
      heist::thread_waiter<env, 0> me;
      if (!left.all_have_left() && left.all_left().enlist(me)) me.wait();
    }
    for (std::size_t i = 0; i != result_count; ++i) sum += results[i];
    model::check(sum == static_cast<int>(size), "a result is lost or counted twice");
    returned = true;
    release();
  }
  void helper() {
    model::check(!freed, "a helper uses what has been freed");
    if (left.enter()) {
      keep_result(count(false));
      left.leave();
    }
    release();
  }

  env::atomic<std::uint32_t> users;
  heist::spin_lock<env> lock;
  std::array<env::plain<int>, 2> results{};
  env::plain<std::size_t> result_count{0};
  env::plain<bool> freed{false};
};

template <std::size_t N, int Helpers>
void with_results(model::execution& t) {
  auto& s = t.make<counted>(N, static_cast<std::uint32_t>(Helpers));
  t.thread([&] { s.owner(); });
  for (int i = 0; i < Helpers; ++i) t.thread([&] { s.helper(); });
  t.alike(Helpers);
  t.finally([&] { model::check(s.freed, "nobody has freed it"); });
}

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
  all.prove("shared range: 3 iterations, 1 helper with a result", three, with_results<3, 1>);
  all.prove("shared range: 2 iterations, 2 helpers with results", three_plain, with_results<2, 2>);
  return all.finish();
}
