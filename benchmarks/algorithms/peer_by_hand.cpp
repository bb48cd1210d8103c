// Threads that are made once, each with its own block of every loop, and a barrier at which they spin. A programmer
// with knowledge of the machine writes this for the repeated loop. It is in that row only.
#include "workloads.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct by_hand_peer {
  using only_sweeps = void;
  explicit by_hand_peer(std::size_t count) : workers{count} {}
  template <class F>
  void loop(std::size_t n, F f) {
    for (std::size_t i = 0; i != n; ++i) f(i);
  }
  double sum(std::vector<double> const&) { return 0; }
  template <class F>
  void sweep(std::size_t n, std::size_t times, F f) {
    std::atomic<std::size_t> arrived{0};
    auto const work = [&, f](std::size_t me) {
      std::size_t const lo = n * me / workers, hi = n * (me + 1) / workers;
      for (std::size_t k = 0; k != times; ++k) {
        for (std::size_t i = lo; i != hi; ++i) f(i);
        arrived.fetch_add(1);
        for (int spins = 0; arrived.load() < (k + 1) * workers; ++spins) {
          if (spins > 10'000) std::this_thread::yield();
        }
      }
    };
    std::vector<std::thread> others;
    for (std::size_t me = 1; me != workers; ++me) others.emplace_back(work, me);
    work(0);
    for (auto& t : others) t.join();
  }
  std::size_t workers;
};

}  // namespace

std::unique_ptr<bench::runner> make_by_hand(std::size_t workers) {
  return std::make_unique<bench::runner_of<by_hand_peer>>(workers);
}
