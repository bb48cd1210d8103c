// A missing edge causes errors in few runs. The program keeps the order of a failing run as JSON. It can then repeat
// this order any number of times, for example under a debugger or with prints.
#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

int main() {
  heist::executor<heist::policy::replay> ex{2};
  std::atomic<int> balance{0};
  int runs = 0;

  heist::task_graph g;
  auto open = g.emplace([&] { balance = 100; }).name("open");
  auto interest = g.emplace([&] {
                     if (runs % 5 == 4) std::this_thread::sleep_for(std::chrono::milliseconds{2});  // the rate is late
                     balance = balance * 2;
                   }).name("interest");
  auto deposit = g.emplace([&] { balance += 50; }).name("deposit");
  open.precede(interest, deposit);  // missing: interest before deposit

  auto const result = [&] {
    ex.run(g).get();
    ++runs;
    return balance.load();
  };
  while (result() == 250) {
  }
  std::printf("a run has left %d instead of 250\n", balance.load());
  std::string const kept = g.memory().on_one_worker().to_json();  // a program could write it to a file

  g.follow(heist::graph_memory::from_json(kept), heist::replay_mode::strict_ordered);
  int again = 0;
  for (int i = 0; i < 100; ++i) again += result() == 300;
  std::printf("in the same order again: 300 in %d of 100 runs\n", again);

  g.forget();
  interest.precede(deposit);
  int right = 0;
  for (int i = 0; i < 100; ++i) right += result() == 250;
  std::printf("with the edge that was missing: 250 in %d of 100 runs\n", right);
}
