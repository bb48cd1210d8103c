// One thread, without a library.
#include "workloads.hpp"

#include <memory>
#include <numeric>

namespace {

struct serial_peer {
  explicit serial_peer(std::size_t) {}
  template <class F>
  void loop(std::size_t n, F f) {
    for (std::size_t i = 0; i != n; ++i) f(i);
  }
  double sum(std::vector<double> const& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
  void scan(std::vector<double> const& v, std::vector<double>& out) {
    std::inclusive_scan(v.begin(), v.end(), out.begin());
  }
  template <class V>
  void sort(V& v) {
    std::sort(v.begin(), v.end());
  }
  std::size_t find(std::vector<std::int64_t> const& v, std::int64_t x) {
    return static_cast<std::size_t>(std::find(v.begin(), v.end(), x) - v.begin());
  }
};

}  // namespace

std::unique_ptr<bench::runner> make_serial(std::size_t workers) {
  return std::make_unique<bench::runner_of<serial_peer>>(workers);
}
