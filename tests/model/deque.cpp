// The work-stealing deque: every item comes out exactly once, and its taker sees all writes before its push (H1). This
// also holds while the deque grows (H2) and while its indices wrap.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/work_deque.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "engine/script.hpp"
#include "engine/suite.hpp"

namespace {

using model::env;
using model::narrow_env;

struct item {
  env::plain<int> payload{0};
  env::plain<int> taken{0};
};

/// The effect of the system on memory that is given back: it reads as zero.
template <class Env>
void null_all(typename Env::template atomic<item*>* slots, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) slots[i].store(nullptr, std::memory_order_relaxed);
}

/// The owner's steps, as text: + push, - pop, ! shrink.
using model::script;

constexpr std::size_t max_items = 8;

template <class Env>
struct board {
  heist::detail::work_deque<item*, Env> deque;
  std::array<item, max_items> items;
  std::size_t pushed = 0;

  explicit board(std::size_t capacity) : deque{capacity} {}

  void push() {
    item& next = items[pushed++];
    next.payload = 7;
    model::check(deque.push(&next), "push failed");
  }
  static void take(item* i) {
    if (i == nullptr) return;
    model::check(i->payload == 7, "an item came out that was never pushed");
    model::check(i->taken == 0, "an item came out twice");
    i->taken = 1;
  }
  bool steal() {
    auto const stolen_task = deque.steal();
    model::check((stolen_task.item != nullptr) == (stolen_task.status == heist::detail::steal_status::stolen),
                 "status and item differ");
    take(stolen_task.item);
    return stolen_task.item != nullptr;
  }
};

/// `Before` items are pushed and popped before the threads start, so that indices are where the test wants them.
template <class Env, std::size_t Capacity, script Owner, int Thieves, int Steals, int Before = 0>
void owner_and_thieves(model::execution& t) {
  auto& b = t.make<board<Env>>(Capacity);
  for (int i = 0; i < Before; ++i) {
    static_cast<void>(b.deque.push(&b.items.back()));
    static_cast<void>(b.deque.steal());
  }
  t.thread([&] {
    for (char c : Owner.text) {
      if (c == '+') b.push();
      if (c == '-') b.take(b.deque.pop());
      if (c == '!') b.deque.shrink([] { return true; }, null_all<Env>);
    }
  });
  for (int i = 0; i < Thieves; ++i) {
    t.thread([&] {
      for (int k = 0; k < Steals; ++k) b.steal();
    });
  }
  t.finally([&] {
    while (item* const left = b.deque.pop()) b.take(left);
    for (std::size_t i = 0; i < b.pushed; ++i) model::check(b.items[i].taken == 1, "an item is lost");
  });
}

/// A thief that fails without contention says so truthfully: alone with the deque, `lost` must not happen.
void alone(model::execution& t) {
  auto& b = t.make<board<env>>(std::size_t{2});
  t.thread([&] {
    b.push();
    b.push();
    model::check(b.steal(), "a lone thief lost");
    model::check(b.steal(), "a lone thief lost");
    model::check(b.deque.steal().status == heist::detail::steal_status::empty, "the deque is not empty");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};

  all.verify("H1 deque: alone", three, alone);
  all.verify("H1 deque: ++-- and 2 steals", three, owner_and_thieves<env, 4, "++--", 1, 2>);
  all.verify("H1 deque: +-+- and 2 steals", three, owner_and_thieves<env, 4, "+-+-", 1, 2>);
  all.verify("H1 deque: +-- and 2 thieves", three, owner_and_thieves<env, 2, "+--", 2, 1>);
  all.verify("H1 deque: ++- and 2 thieves", three, owner_and_thieves<env, 4, "++-", 2, 1>);
  all.verify("H2 deque: +++-- grows at 2, 2 steals", three, owner_and_thieves<env, 2, "+++--", 1, 2>);
  all.verify("H2 deque: ++++ grows at 2 and reuses a slot, 2 steals", three, owner_and_thieves<env, 2, "++++", 1, 2>);
  all.verify("H2 deque: +++- grows at 1 twice, 2 steals", three, owner_and_thieves<env, 1, "+++-", 1, 2>);
  all.verify("H2 deque: ++--!+ shrinks and begins anew, 2 steals", three, owner_and_thieves<env, 1, "++--!+", 1, 2>);
  all.verify("H2 deque: ++--!++ grows into a ring of before, 2 steals", three,
             owner_and_thieves<env, 1, "++--!++", 1, 2>);
  all.verify("H2 deque: ++-! is not empty, or is, 2 steals", three, owner_and_thieves<env, 1, "++-!", 1, 2>);
  all.verify("H2 deque: ++--!- with 2 thieves", three, owner_and_thieves<env, 1, "++--!-", 2, 1>);
  all.verify("H2 deque: indices wrap at 127", three, owner_and_thieves<narrow_env, 2, "+++--", 1, 2, 126>);
  return all.finish();
}
