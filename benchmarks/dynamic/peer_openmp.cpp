// OpenMP: tasks with depend, on one byte a task.
#include <omp.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "workloads.hpp"

namespace {

using bench::row;
using bench::sizes;

/// Each task writes the byte of its number, and reads those of its predecessors, three at most.
void numbered(bench::numbered& all) {
  std::vector<char> bytes(all.tasks.size() + 1);
  [[maybe_unused]] char* const at = bytes.data();  // named in clauses only
  for (std::size_t i = 0; i != all.tasks.size(); ++i) {
    std::uint32_t const* const from = all.tasks.first(i);
    std::size_t const n = all.tasks.count(i);
    if (n == 0) {
#pragma omp task depend(out : at[i]) firstprivate(i) shared(all)
      all.run(i);
    } else if (n == 1) {
      [[maybe_unused]] std::size_t const a = from[0];
#pragma omp task depend(in : at[a]) depend(out : at[i]) firstprivate(i) shared(all)
      all.run(i);
    } else if (n == 2) {
      [[maybe_unused]] std::size_t const a = from[0], b = from[1];
#pragma omp task depend(in : at[a], at[b]) depend(out : at[i]) firstprivate(i) shared(all)
      all.run(i);
    } else {
      [[maybe_unused]] std::size_t const a = from[0], b = from[1], c = from[2];
#pragma omp task depend(in : at[a], at[b], at[c]) depend(out : at[i]) firstprivate(i) shared(all)
      all.run(i);
    }
  }
#pragma omp taskwait
}

struct openmp_runner final : bench::runner {
  explicit openmp_runner(std::size_t workers) : threads{static_cast<int>(workers)} {}
  /// A team of one runs each task where it is made, and depends on nothing.
  bool has(row which) const override { return threads > 1 && which <= row::empty; }

  double run(row, sizes const&) override {
    bench::numbered& tasks = *all;
#pragma omp parallel num_threads(threads) shared(tasks)
#pragma omp single
    numbered(tasks);
    return tasks.result();
  }

  int threads;
};

}  // namespace

std::unique_ptr<bench::runner> make_openmp(std::size_t workers) {
  return std::make_unique<openmp_runner>(workers);
}
