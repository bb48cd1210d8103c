// The yardsticks: the phases as OpenMP's parallel loops with a static schedule, and as OpenMP's tasks. A build without
// OpenMP has no yardsticks.
#pragma once

#include <heist/topology.hpp>

#include <sched.h>

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <string>

#include "../locality/timing.hpp"
#include "blocks.hpp"

namespace replay {

/// Where OpenMP's threads run.
struct openmp_place {
  heist::topology::machine const* machine;
  std::size_t threads;
  bool pin;
};

#ifdef _OPENMP

inline constexpr bool has_openmp = true;

/// Forks are OpenMP's tasks.
struct openmp_context {
  template <class First, class Second>
  void fork_join(First const& first, Second const& second) const {
#pragma omp task default(shared)
    first(*this);
    second(*this);
#pragma omp taskwait
  }
};

/// Phases by recursive tasks.
struct openmp_tasks {
  int threads;

  template <class Work>
  void operator()(std::size_t, box const& b, block_size s, Work const& work) const {
#pragma omp parallel num_threads(threads)
#pragma omp single
    divide(
        openmp_context{}, b, s, work, [&](openmp_context, box const& part) { work(part); }, to_blocks{});
  }
};

/// Phases by loops over blocks.
struct openmp_loops {
  int threads;

  template <class Work>
  void operator()(std::size_t, box const& b, block_size s, Work const& work) const {
    auto const nothing = [](serial_context, box const&) {};
    if constexpr (requires(two_parts const& p) { work.before(p); }) {
      struct only_before {
        Work const& work;
        void before(two_parts const& parts) const { work.before(parts); }
      };
      divide(serial_context{}, b, s, only_before{work}, nothing, to_blocks{});
    }
    std::size_t const columns = block_size::count(b.columns.size(), s.columns);
    std::size_t const blocks = block_size::count(b.rows.size(), s.rows) * columns;
    auto const part = [](range all, std::size_t i, std::size_t size) {
      std::size_t const first = all.first + i * size;
      return range{first, std::min(first + size, all.last)};
    };
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::size_t i = 0; i < blocks; ++i)
      work(box{part(b.rows, i / columns, s.rows), part(b.columns, i % columns, s.columns)});
    if constexpr (requires(two_parts const& p) { work.after(p); }) {
      struct only_after {
        Work const& work;
        void after(two_parts const& parts) const { work.after(parts); }
      };
      divide(serial_context{}, b, s, only_after{work}, nothing, to_blocks{});
    }
  }
};

/// Gives this thread back the CPUs that it had.
class kept_affinity {
 public:
  kept_affinity() { ::sched_getaffinity(0, sizeof before_, &before_); }
  kept_affinity(kept_affinity const&) = delete;
  kept_affinity& operator=(kept_affinity const&) = delete;
  ~kept_affinity() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  ::cpu_set_t before_{};
};

/// Runs all steps on this thread and OpenMP's threads, which are the same in every run. LLVM 14's OpenMP does not
/// survive tasks of a thread that has ended.
template <class Run, class P>
locality::timed run_openmp(P& program, locality::span_of_steps steps, openmp_place const& where) {
  kept_affinity const kept;
  int const threads = static_cast<int>(where.threads);
  if (where.pin) {
    auto const pus =
        heist::topology::make_squads(*where.machine, heist::squad_by::automatic, where.threads).pu_of_worker;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int i = 0; i < threads; ++i)
      heist::topology::bind_this_thread(*where.machine, pus[static_cast<std::size_t>(i)]);
  }
  program.prepare();
  return locality::time_steps(program, steps, [&](std::size_t i) { program.step(Run{threads}, i); });
}

/// Calls f(name, run) for both, where run(program, steps, place) is one run.
template <class P, class F>
void for_each_openmp(F const& f) {
  f("OpenMP static", &run_openmp<openmp_loops, P>);
  f("OpenMP tasks", &run_openmp<openmp_tasks, P>);
}

#else

inline constexpr bool has_openmp = false;

template <class P, class F>
void for_each_openmp(F const&) {}

#endif

}  // namespace replay
