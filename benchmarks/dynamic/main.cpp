// Work found as it runs, beside its peers: one process, alternating, medians of 7. See README.md.
#include <malloc.h>  // mallopt

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>  // size
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../workers.hpp"
#include "workloads.hpp"

namespace {

constexpr std::size_t rounds = 7;

struct peer {
  char const* name;
  std::unique_ptr<bench::runner> (*make)(std::size_t workers);
  std::array<bool, std::size(bench::rows)> has;
};

std::vector<peer> peers_of(std::size_t workers, std::string_view only) {
  std::vector<peer> all;
  auto const add = [&](char const* name, auto make) {
    if (!only.empty() && only != name) return;
    peer& p = all.emplace_back(peer{name, make, {}});
    auto const asked = make(workers);
    for (std::size_t n = 0; n != p.has.size(); ++n) p.has[n] = asked->has(bench::rows[n].which);
  };
  add("heist", &make_heist);
#ifdef HEIST_BENCH_TASKFLOW
  add("Taskflow", &make_taskflow);
#endif
#ifdef HEIST_BENCH_TBB
  add("oneTBB", &make_tbb);
#endif
#ifdef HEIST_BENCH_DISPENSO
  add("dispenso", &make_dispenso);
#endif
#ifdef HEIST_BENCH_OPENMP
  add("OpenMP", &make_openmp);
#endif
#ifdef HEIST_BENCH_TOOMANYCOOKS
  add("TooManyCooks", &make_toomanycooks);
#endif
#ifdef HEIST_BENCH_LIBFORK
  add("libfork", &make_libfork);
#endif
  return all;
}

/// Nanoseconds: of time, or of the processors' time that all threads of this process have used.
double now(bool of_processors) {
  timespec t{};
  ::clock_gettime(of_processors ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Nanoseconds an operation, of the second of two runs: the first one brings the memory. Ends the program if the result
/// is wrong. The peer's threads are made before and are gone afterwards; those of libraries that keep them have the
/// time to fall asleep.
double measure(bench::row which, char const* name, peer const& p, std::size_t workers, bench::sizes const& s,
               double expected, bool cpu) {
  auto const runner = p.make(workers);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  double result = 0, ns = 0;
  for (int i = 0; i != 2; ++i) {
    runner->prepare(which, s);
    double const start_time = now(cpu);
    result = runner->run(which, s);
    ns = now(cpu) - start_time;
    runner->all.reset();
  }
  if (std::abs(result - expected) > 1e-9 * std::abs(expected)) {
    std::fprintf(stderr, "%s: %s gives %.17g instead of %.17g\n", name, p.name, result, expected);
    std::exit(1);
  }
  return ns / static_cast<double>(bench::operations(which, s));
}

void measure_row(std::size_t n, std::vector<peer> const& peers, std::size_t workers, bench::sizes const& s,
                 std::size_t times_each, bool cpu) {
  auto const& row = bench::rows[n];
  double const expected = bench::expected(row.which, s);
  std::vector<std::array<double, rounds>> times(peers.size());
  for (std::size_t round = 0; round != times_each; ++round) {
    for (std::size_t k = 0; k != peers.size(); ++k) {
      if (peers[k].has[n]) times[k][round] = measure(row.which, row.name, peers[k], workers, s, expected, cpu);
    }
  }
  std::printf("%-24s %-6s", row.name, row.unit);
  double best = 0;
  for (std::size_t k = 0; k != peers.size(); ++k) {
    if (!peers[k].has[n]) {
      std::printf(" %12s", "-");
      continue;
    }
    std::sort(times[k].begin(), times[k].begin() + static_cast<std::ptrdiff_t>(times_each));
    double const median = times[k][times_each / 2];
    std::printf(" %12.1f", median);
    if (k != 0 && (best == 0 || median < best)) best = median;
  }
  if (best != 0) std::printf(" %12.2f", times[0][times_each / 2] / best);
  std::puts("");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string list = "max";
  std::size_t times_each = rounds;
  bool cpu = false;
  bench::sizes s;
  std::string only_peer, only_row;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const option = argv[i];
    if (option == "--workers") list = argv[i + 1];
    if (option == "--rounds") times_each = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--tasks") s.tasks = s.empty = s.awaits = s.tokens = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--time") cpu = std::string_view{argv[i + 1]} == "cpu";
    if (option == "--peer") only_peer = argv[i + 1];
    if (option == "--row") only_row = argv[i + 1];
  }
  if (argc % 2 == 0 || times_each == 0 || times_each > rounds || s.tasks < 64 || s.tasks > 10'000'000) {
    std::puts(
        "bench_dynamic [--workers LIST] [--rounds 1 ... 7] [--tasks 64 ... 10000000] [--time wall|cpu] [--peer NAME] "
        "[--row TEXT]\n"
        "nanoseconds an operation, medians; the last column: heist's by the best of the others");
    std::printf("LIST: %s\n", bench::workers_syntax);
    return 1;
  }
  std::vector<std::size_t> all_workers;
  try {
    all_workers = bench::worker_list(list);
  } catch (std::invalid_argument const& e) {
    std::fprintf(stderr, "bench_dynamic: %s\n", e.what());
    return 1;
  }
  // Freed memory stays in the process, so that no library is measured by pages that it gives back and asks for again.
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  for (std::size_t const workers : all_workers) {
    std::vector<peer> const peers = peers_of(workers, only_peer);
    std::printf("%zu workers; nanoseconds\n%-31s", workers, "");
    for (peer const& p : peers) std::printf(" %12s", p.name);
    std::puts("");
    for (std::size_t n = 0; n != std::size(bench::rows); ++n) {
      if (std::string_view{bench::rows[n].name}.find(only_row) != std::string_view::npos)
        measure_row(n, peers, workers, s, times_each, cpu);
    }
  }
}
