// Algorithms beside their peers: one process, alternating, medians. See README.md.
#include "workloads.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../workers.hpp"

std::unique_ptr<bench::runner> make_serial(std::size_t);
std::unique_ptr<bench::runner> make_by_hand(std::size_t);
std::unique_ptr<bench::runner> make_heist(std::size_t);
#ifdef HEIST_BENCH_TBB
std::unique_ptr<bench::runner> make_tbb(std::size_t);
std::unique_ptr<bench::runner> make_std_par(std::size_t);
#endif
#ifdef HEIST_BENCH_OPENMP
std::unique_ptr<bench::runner> make_openmp(std::size_t);
#endif
#ifdef HEIST_BENCH_TASKFLOW
std::unique_ptr<bench::runner> make_taskflow(std::size_t);
#endif
#ifdef HEIST_BENCH_PARLAYLIB
std::unique_ptr<bench::runner> make_parlaylib(std::size_t);
#endif
#ifdef HEIST_BENCH_CITOR
std::unique_ptr<bench::runner> make_citor(std::size_t);
#endif

namespace {

struct hints {
  std::size_t workers = 0;
  std::string list = "max";  ///< of numbers of workers; a table for each
  std::size_t elements = 1'000'000;
  std::size_t rounds = 7;
  std::string row;   ///< select rows whose name contains this
  std::string peer;  ///< select peers whose name contains this
  bool fastest = false;
  std::chrono::microseconds pause{0};  ///< before each measurement
};

struct peer {
  char const* name;
  std::unique_ptr<bench::runner> runner;
  bool inside = false;  ///< calls come from a task
};

bool read(int argc, char** argv, hints& w) {
  for (int i = 1; i < argc; ++i) {
    std::string_view const option = argv[i];
    if (option == "--fastest") {
      w.fastest = true;
      continue;
    }
    if (++i == argc) return false;
    if (option == "--row") {
      w.row = argv[i];
    } else if (option == "--peer") {
      w.peer = argv[i];
    } else if (option == "--workers") {
      w.list = argv[i];
    } else if (option == "--elements") {
      w.elements = std::strtoull(argv[i], nullptr, 10);
    } else if (option == "--pause") {
      w.pause = std::chrono::microseconds{std::strtoll(argv[i], nullptr, 10)};
    } else if (option == "--rounds") {
      w.rounds = std::strtoull(argv[i], nullptr, 10);
    } else {
      return false;
    }
  }
  return w.rounds != 0 && w.elements >= 8 && w.elements <= (std::size_t{1} << 24);
}

/// The CPUs of the calling thread, which a peer may bind to one: the next would suffer.
class unbound {
 public:
  unbound() { pthread_getaffinity_np(pthread_self(), sizeof all_, &all_); }
  unbound(unbound const&) = delete;
  unbound& operator=(unbound const&) = delete;
  ~unbound() { pthread_setaffinity_np(pthread_self(), sizeof all_, &all_); }

 private:
  cpu_set_t all_;
};

std::vector<peer> make_peers(hints const& w) {
  std::vector<peer> all;
  auto const add = [&](char const* name, auto make, std::size_t workers, bool inside) {
    if (std::string{name}.find(w.peer) != std::string::npos || std::string_view{name} == "serial") {
      unbound const afterwards;
      all.push_back({name, make(workers), inside});
    }
  };
  add("serial", make_serial, 1, false);
  add("by hand", make_by_hand, w.workers, false);
  add("heist p=1", make_heist, 1, true);
  add("heist", make_heist, w.workers, true);
  add("heist, outside", make_heist, w.workers, false);
#ifdef HEIST_BENCH_TBB
  add("oneTBB", make_tbb, w.workers, true);
  add("oneTBB, outside", make_tbb, w.workers, false);
  add("std par", make_std_par, w.workers, true);
  add("std par, outside", make_std_par, w.workers, false);
#endif
#ifdef HEIST_BENCH_OPENMP
  add("OpenMP", make_openmp, w.workers, false);
#endif
#ifdef HEIST_BENCH_TASKFLOW
  add("Taskflow", make_taskflow, w.workers, true);
  add("Taskflow, outside", make_taskflow, w.workers, false);
#endif
#ifdef HEIST_BENCH_PARLAYLIB
  setenv("PARLAY_NUM_THREADS", std::to_string(w.workers).c_str(), 1);
  add("parlaylib", make_parlaylib, w.workers, false);
#endif
#ifdef HEIST_BENCH_CITOR
  add("citor", make_citor, w.workers, false);
#endif
  return all;
}

/// Once to wake the peer's workers, then measured; or, with a pause, after it.
double microseconds(bench::row which, bench::data& d, bench::runner& r, std::chrono::microseconds pause) {
  int const repeats = pause.count() != 0 ? 20 : which == bench::row::short_loop ? 200 : 1;
  bench::prepare(which, d);
  r.run(which, d);
  double all = 0;
  for (int i = 0; i != repeats; ++i) {
    bench::prepare(which, d);
    if (pause.count() != 0) std::this_thread::sleep_for(pause);
    auto const start_time = std::chrono::steady_clock::now();
    r.run(which, d);
    all += std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_time).count();
  }
  return all / repeats;
}

double measure(bench::row which, bench::data& d, peer& p, std::chrono::microseconds pause) {
  unbound const afterwards;
  std::this_thread::sleep_for(std::chrono::milliseconds{2});  // the workers of the one before fall asleep
  if (!p.inside) return microseconds(which, d, *p.runner, pause);
  struct call {
    bench::row which;
    bench::data& d;
    bench::runner& r;
    std::chrono::microseconds pause;
    double result;
  } c{which, d, *p.runner, pause, 0};
  p.runner->inside(
      [](void* env) {
        auto& it = *static_cast<call*>(env);
        it.result = microseconds(it.which, it.d, it.r, it.pause);
      },
      &c);
  return c.result;
}

void print_row(hints const& w, bench::row which, char const* name, bench::data& d, std::vector<peer>& peers) {
  std::vector<std::vector<double>> times(peers.size());
  for (std::size_t round = 0; round != w.rounds; ++round) {
    for (std::size_t k = 0; k != peers.size(); ++k) {
      if (peers[k].runner->has(which)) times[k].push_back(measure(which, d, peers[k], w.pause));
    }
  }
  std::printf("| `%s` |", name);
  for (auto& t : times) {
    std::sort(t.begin(), t.end());
    if (t.empty()) {
      std::printf("  |");
    } else {
      double const us = t[w.fastest ? 0 : t.size() / 2];
      std::printf(us < 1 ? " %.3f |" : us < 10 ? " %.2f |" : " %.0f |", us);
    }
  }
  std::puts("");
  std::fflush(stdout);
}

/// All rows of all peers on w.workers workers.
void print_table(hints const& w, bench::data& d) {
  std::vector<peer> peers = make_peers(w);
  std::printf("%zu elements, %zu workers; microseconds, %s of %zu\n| |", w.elements, w.workers,
              w.fastest ? "least" : "medians", w.rounds);
  for (peer const& p : peers) std::printf(" %s |", p.name);
  std::printf("\n|---|");
  for (std::size_t k = 0; k != peers.size(); ++k) std::printf("---|");
  std::puts("");
  for (auto const& row : bench::rows) {
    if (std::string{row.name}.find(w.row) != std::string::npos) print_row(w, row.which, row.name, d, peers);
  }
}

}  // namespace

int main(int argc, char** argv) {
  hints w;
  if (!read(argc, argv, w)) {
    std::puts(
        "bench_algorithms [--workers LIST] [--elements 8 ... 16777216] [--rounds N] [--row TEXT] [--peer TEXT] "
        "[--fastest] [--pause MICROSECONDS]: "
        "microseconds, medians or the least of all rounds");
    std::printf("LIST: %s\n", bench::workers_syntax);
    return 1;
  }
  bench::data d{w.elements};
  std::vector<std::size_t> all;
  try {
    all = bench::worker_list(w.list);
  } catch (std::invalid_argument const& e) {
    std::fprintf(stderr, "bench_algorithms: %s\n", e.what());
    return 1;
  }
  for (std::size_t const workers : all) {
    w.workers = workers;
    print_table(w, d);
  }
}
