// oneTBB; and std::execution::par, which in libstdc++ is built on it.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include "workloads.hpp"

#include <execution>
#include <memory>
#include <numeric>

namespace {

using range = tbb::blocked_range<std::size_t>;

struct tbb_peer {
  explicit tbb_peer(std::size_t workers) : arena{static_cast<int>(workers)} {}
  template <class F>
  void loop(std::size_t n, F f) {
    arena.execute([&] { tbb::parallel_for(std::size_t{0}, n, f); });
  }
  double sum(std::vector<double> const& v) {
    return arena.execute([&] {
      return tbb::parallel_reduce(
          range{0, v.size()}, 0.0,
          [&](range const& r, double s) {
            for (std::size_t i = r.begin(); i != r.end(); ++i) s += v[i];
            return s;
          },
          std::plus<>{});
    });
  }
  void scan(std::vector<double> const& v, std::vector<double>& out) {
    arena.execute([&] {
      tbb::parallel_scan(
          range{0, v.size()}, 0.0,
          [&](range const& r, double s, bool last) {
            for (std::size_t i = r.begin(); i != r.end(); ++i) {
              s += v[i];
              if (last) out[i] = s;
            }
            return s;
          },
          std::plus<>{});
    });
  }
  template <class F>
  void sweep(std::size_t n, std::size_t times, F f) {
    arena.execute([&] {
      tbb::affinity_partitioner has_history;
      for (std::size_t k = 0; k != times; ++k) tbb::parallel_for(std::size_t{0}, n, f, has_history);
    });
  }
  template <class V>
  void sort(V& v) {
    arena.execute([&] { tbb::parallel_sort(v.begin(), v.end()); });
  }
  void inside(void (*body)(void*), void* env) {
    arena.execute([=] { body(env); });
  }
  tbb::task_arena arena;
};

struct std_par_peer : tbb_peer {
  using tbb_peer::tbb_peer;
  template <class F>
  void loop(std::size_t n, F f) {
    if (indices.size() < n) {
      indices.resize(n);
      std::iota(indices.begin(), indices.end(), std::size_t{0});
    }
    arena.execute([&] {
      std::for_each(std::execution::par, indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(n), f);
    });
  }
  double sum(std::vector<double> const& v) {
    return arena.execute([&] { return std::reduce(std::execution::par, v.begin(), v.end()); });
  }
  void scan(std::vector<double> const& v, std::vector<double>& out) {
    arena.execute([&] { std::inclusive_scan(std::execution::par, v.begin(), v.end(), out.begin()); });
  }
  template <class F>
  void sweep(std::size_t n, std::size_t times, F f) {
    for (std::size_t k = 0; k != times; ++k) loop(n, f);
  }
  template <class V>
  void sort(V& v) {
    arena.execute([&] { std::sort(std::execution::par, v.begin(), v.end()); });
  }
  std::size_t find(std::vector<std::int64_t> const& v, std::int64_t x) {
    return arena.execute(
        [&] { return static_cast<std::size_t>(std::find(std::execution::par, v.begin(), v.end(), x) - v.begin()); });
  }
  static inline std::vector<std::size_t> indices = [] {
    std::vector<std::size_t> all(std::size_t{1} << 24);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }();
};

}  // namespace

std::unique_ptr<bench::runner> make_tbb(std::size_t workers) {
  return std::make_unique<bench::runner_of<tbb_peer>>(workers);
}
std::unique_ptr<bench::runner> make_std_par(std::size_t workers) {
  return std::make_unique<bench::runner_of<std_par_peer>>(workers);
}
