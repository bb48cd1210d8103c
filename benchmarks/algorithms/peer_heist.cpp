// heist.
#include "heist/algorithm.hpp"
#include "heist/executor.hpp"
#include "heist/locality.hpp"
#include "workloads.hpp"

#include <memory>
#include <optional>

namespace {

struct heist_peer {
  explicit heist_peer(std::size_t workers) : ex{workers} {}
  template <class F>
  void loop(std::size_t n, F f) {
    heist::for_each_index(ex, std::size_t{0}, n, f);
  }
  double sum(std::vector<double> const& v) { return heist::reduce(ex, v, 0.0); }
  void scan(std::vector<double> const& v, std::vector<double>& out) { heist::inclusive_scan(ex, v, out.begin()); }
  template <class V>
  void sort(V& v) {
    heist::sort(ex, v);
  }
  /// With a region, under a policy with memory: a squad for each second-level cache.
  template <class F>
  void sweep_in_region(std::size_t n, std::size_t times, F f) {
    if (!has_history) has_history.emplace(heist::options{.workers = ex.worker_count(), .squads = heist::squad_by::l2});
    heist::region phase{{.bytes = n * sizeof(double)}};
    has_history->invoke([&](auto c) {
      for (std::size_t k = 0; k != times; ++k) heist::for_each_index(c, std::size_t{0}, n, f, {.region = &phase});
    });
  }
  std::size_t find(std::vector<std::int64_t> const& v, std::int64_t x) {
    return static_cast<std::size_t>(heist::find(ex, v, x) - v.begin());
  }
  void inside(void (*body)(void*), void* env) {
    ex.invoke([=] { body(env); });
  }
  heist::executor<> ex;
  std::optional<heist::executor<heist::policy::cats>> has_history;
};

}  // namespace

std::unique_ptr<bench::runner> make_heist(std::size_t workers) {
  return std::make_unique<bench::runner_of<heist_peer>>(workers);
}
