// heist.
#include "heist/sync.hpp"

#include "heist/executor.hpp"

#include "rows.hpp"

namespace {

struct world {
  explicit world(heist::options const& o) : ex{o} {}

  using mutex = heist::mutex;
  using condition_variable = heist::condition_variable_any;
  using latch = heist::latch;
  using barrier = heist::barrier<>;
  using shared_mutex = heist::shared_mutex;
  struct channel : heist::channel<int> {
    using heist::channel<int>::channel;
    int pop() { return heist::channel<int>::pop().value(); }
  };

  template <class F, class Meanwhile>
  void run(std::size_t n, F const& f, Meanwhile const& meanwhile) {
    std::vector<heist::future<void>> all;
    all.reserve(n);
    for (std::size_t i = 0; i != n; ++i) all.push_back(ex.submit([&f, i] { f(i); }));
    meanwhile();
    for (auto& one : all) one.get();
  }

  heist::executor<> ex;
};

}  // namespace

bench::peer bench::make_heist(std::size_t workers) {
  heist::options o;
  o.workers = workers;
  return peer_of(std::make_shared<world>(o));
}
