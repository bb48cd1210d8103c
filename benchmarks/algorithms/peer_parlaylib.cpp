// parlaylib. Its number of workers is that of the environment (PARLAY_NUM_THREADS), which main() sets.
#include <parlay/parallel.h>
#include <parlay/primitives.h>
#include <parlay/slice.h>

#include "workloads.hpp"

#include <memory>

namespace {

struct parlaylib_peer {
  explicit parlaylib_peer(std::size_t) {}
  template <class F>
  void loop(std::size_t n, F f) {
    parlay::parallel_for(0, n, f);
  }
  double sum(std::vector<double> const& v) { return parlay::reduce(parlay::make_slice(v)); }
  void scan(std::vector<double> const& v, std::vector<double>& out) {
    // Its own way: in place, after a copy.
    parlay::parallel_for(0, v.size(), [&](std::size_t i) { out[i] = v[i]; });
    parlay::scan_inclusive_inplace(parlay::make_slice(out));
  }
  template <class V>
  void sort(V& v) {
    parlay::sort_inplace(parlay::make_slice(v));
  }
  std::size_t find(std::vector<std::int64_t> const& v, std::int64_t x) {
    return static_cast<std::size_t>(parlay::find(parlay::make_slice(v), x) - parlay::make_slice(v).begin());
  }
};

}  // namespace

std::unique_ptr<bench::runner> make_parlaylib(std::size_t workers) {
  return std::make_unique<bench::runner_of<parlaylib_peer>>(workers);
}
