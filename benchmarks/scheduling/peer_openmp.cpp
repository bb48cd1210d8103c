// OpenMP.
#include "rows.hpp"

namespace {

void tree(bench::costs const& d, std::size_t lo, std::size_t hi) {
  if (hi - lo == 1) return bench::nap(d.of[lo]);
  std::size_t const middle = lo + (hi - lo) / 2;
#pragma omp task shared(d)
  tree(d, lo, middle);
  tree(d, middle, hi);
#pragma omp taskwait
}

}  // namespace

bench::peer bench::make_openmp(std::size_t workers) {
  int const threads = static_cast<int>(workers);
  peer p;
  p.name = "OpenMP";
  p.tree = [threads](costs const& d) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    ::tree(d, 0, d.of.size());
  };
  p.loop = [threads](costs const& d) {
    std::size_t const n = d.of.size();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (std::size_t i = 0; i < n; ++i) nap(d.of[i]);
  };
  p.tasks = [threads](costs const& d) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (double const x : d.of) {
#pragma omp task firstprivate(x)
      nap(x);
    }
  };
  return p;
}
