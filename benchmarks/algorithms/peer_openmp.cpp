// OpenMP: a guided schedule, a reduction, a scan; it has no sorts, nor searches. Threads nest as far as they are told.
#include <omp.h>

#include "workloads.hpp"

#include <memory>
#include <numeric>

namespace {

struct openmp_peer {
  using does_not_nest = void;  // a parallel region within another has one thread unless more are made for it
  explicit openmp_peer(std::size_t count) : workers{static_cast<int>(count)} {}
  template <class F>
  void loop(std::size_t n, F f) {
#pragma omp parallel for num_threads(workers) schedule(guided)
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  double sum(std::vector<double> const& v) {
    double s = 0;
    double const* const a = v.data();
#pragma omp parallel for num_threads(workers) reduction(+ : s)
    for (std::size_t i = 0; i < v.size(); ++i) s += a[i];
    return s;
  }
  void scan(std::vector<double> const& v, std::vector<double>& out) {
    double s = 0;
    double const* const a = v.data();
    double* const to = out.data();
#pragma omp parallel for num_threads(workers) reduction(inscan, + : s)
    for (std::size_t i = 0; i < v.size(); ++i) {
      s += a[i];
#pragma omp scan inclusive(s)
      to[i] = s;
    }
  }
  /// The same part to the same thread each time.
  template <class F>
  void sweep(std::size_t n, std::size_t times, F f) {
    for (std::size_t k = 0; k != times; ++k) {
#pragma omp parallel for num_threads(workers) schedule(static)
      for (std::size_t i = 0; i < n; ++i) f(i);
    }
  }
  int workers;
};

}  // namespace

std::unique_ptr<bench::runner> make_openmp(std::size_t workers) {
  return std::make_unique<bench::runner_of<openmp_peer>>(workers);
}
