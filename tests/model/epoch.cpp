// The reason for the EventCount's epoch, and a check that the epoch is wide enough. With an epoch of two bits a delayed
// notifier takes the wrong sleepers off. This happens if the list of sleepers changes four times meanwhile and then
// looks the same again.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>

#include "engine/suite.hpp"
#include "heist/core/sync/event_count.hpp"

namespace {

using model::env;
using order = std::memory_order;

struct narrow_epoch : env {
  static constexpr unsigned epoch_bits = 2;
};

/// Three waiters, each of which sleeps when it is told to.
template <class Env>
struct board {
  heist::detail::event_count<Env> notifier{3};
  std::array<env::atomic<int>, 3> told{};
  std::array<env::atomic<int>, 3> notified{};

  void sleep(std::size_t me, int time) {
    while (told[me].load(order::acquire) < time) env::read_again();
    notifier.commit_wait(me, notifier.prepare_wait());
    notified[me].store(time, order::release);
  }
  /// Returns when it sleeps, or has been woken already.
  void send_to_sleep(std::size_t waiter, int time) {
    told[waiter].store(time, order::release);
    while (notifier.state().top() != waiter + 1 && notified[waiter].load(order::acquire) < time) env::read_again();
  }
};

/// Waiter 0 sleeps alone, and a notifier is about to take it off. Meanwhile waiter 0 is woken, 1 and 2 fall asleep, and
/// 0 on top of them: four changes of the list, and the same top. The waiters that are left are notified in the end.
template <class Env>
void held_up(model::execution& t) {
  auto& b = t.make<board<Env>>();
  t.thread([&] {
    b.sleep(0, 1);
    b.sleep(0, 2);
  });
  t.thread([&] { b.sleep(1, 1); });
  t.thread([&] { b.sleep(2, 1); });
  t.thread([&] {
    b.send_to_sleep(0, 1);
    b.notifier.notify_one();
    while (b.notified[0].load(order::acquire) < 1) env::read_again();
    b.send_to_sleep(1, 1);
    b.send_to_sleep(2, 1);
    b.send_to_sleep(0, 2);
    b.notifier.notify_all();
  });
  t.thread([&] { b.notifier.notify_one(); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const random{.config = {.steps = 1000}, .random_executions = 300'000};
  all.refute("H4 epoch: 2 bits, held up for 4 changes, random", random, "deadlock", held_up<narrow_epoch>);
  all.verify("H4 epoch: 28 bits, held up for 4 changes, random", random, held_up<env>);
  return all.finish();
}
