// citor: loops in chunks that are handed out on demand, sums and scans by its own primitives. There is no sort and no
// search.
#include <citor/thread_pool.h>

#include "workloads.hpp"

#include <functional>
#include <memory>
#include <span>

namespace {

struct dynamic : citor::HintsDefaults {
  static constexpr citor::Balance balance = citor::Balance::DynamicChunked;
};

struct citor_peer {
  explicit citor_peer(std::size_t workers) : pool{workers, citor::Affinity::None} {}  // it would bind the caller, too
  template <class F>
  void loop(std::size_t n, F f) {
    pool.parallelFor<dynamic>(0, n, [f](std::size_t lo, std::size_t hi) {
      for (; lo != hi; ++lo) f(lo);
    });
  }
  /// The same part to the same thread each time.
  template <class F>
  void sweep(std::size_t n, std::size_t times, F f) {
    for (std::size_t k = 0; k != times; ++k) {
      pool.parallelFor<citor::HintsDefaults>(0, n, [f](std::size_t lo, std::size_t hi) {
        for (; lo != hi; ++lo) f(lo);
      });
    }
  }
  double sum(std::vector<double> const& v) {
    return pool.parallelReduce<citor::FixedBlockReduceHints>(
        0, v.size(), 0.0,
        [a = v.data()](std::size_t lo, std::size_t hi) {
          double s = 0;
          for (; lo != hi; ++lo) s += a[lo];
          return s;
        },
        std::plus<>{});
  }
  void scan(std::vector<double> const& v, std::vector<double>& out) {
    (void)pool.inclusiveScan<citor::HintsDefaults>(std::span<double const>{v}, std::span<double>{out}, 0.0,
                                                   std::plus<>{});
  }
  citor::ThreadPool pool;
};

}  // namespace

std::unique_ptr<bench::runner> make_citor(std::size_t workers) {
  return std::make_unique<bench::runner_of<citor_peer>>(workers);
}
