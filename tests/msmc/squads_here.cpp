// Checks the machine that it runs on: squads are sockets, workers stay on their PUs, and tasks stay in their squads.
// Tasks of a graph return to the squads that ran them before. Arguments: how many squads and how many workers there
// must be. Exit status 1, and a sentence, if something is wrong.
#include <fmt/format.h>
#include <sched.h>
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/observe.hpp>
#include <heist/topology.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "heist/tools/observe/placement_trace.hpp"

namespace {

int wrong = 0;

template <class... Arguments>
void require(bool right, fmt::format_string<Arguments const&...> format, Arguments const&... arguments) {
  if (right) return;
  ++wrong;
  std::printf("%s\n", fmt::format(format, arguments...).c_str());
}

/// The socket of a CPU, as the kernel says.
int package_of(int cpu) {
  std::string const name = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id";
  int package = -1;
  if (std::FILE* const f = std::fopen(name.c_str(), "r"); f != nullptr) {
    if (std::fscanf(f, "%d", &package) != 1) package = -1;
    std::fclose(f);
  }
  return package;
}

/// Where each worker's tasks have been seen.
class sightings {
 public:
  explicit sightings(std::size_t workers) : cpu_(workers) {
    for (auto& c : cpu_) c = -1;
  }
  /// noinline: between two calls the task may have gone to another thread.
  [[gnu::noinline]] void look(std::size_t worker) {
    int const now = ::sched_getcpu();
    int before = -1;
    // relaxed: a number on its own
    if (!cpu_[worker].compare_exchange_strong(before, now, std::memory_order_relaxed) && before != now) ++moved_;
    ++looks_;
  }
  int cpu(std::size_t worker) const { return cpu_[worker]; }
  int moved() const { return moved_; }
  long looks() const { return looks_; }

 private:
  std::vector<std::atomic<int>> cpu_;
  std::atomic<int> moved_{0};
  std::atomic<long> looks_{0};
};

/// But not that of the few cores that emulate the machine: all squads get to run.
void is_slow() {
  std::this_thread::sleep_for(std::chrono::milliseconds{2});
}

template <class Context>
long fib(Context c, long n, sightings& seen) {
  seen.look(c.worker_id());
  if (n < 2) return n;
  if (n == 10) is_slow();
  auto const [a, b] =
      c.fork_join([&, n](Context d) { return fib(d, n - 1, seen); }, [&, n](Context d) { return fib(d, n - 2, seen); });
  seen.look(c.worker_id());
  return a + b;
}

void run(std::size_t squads, std::size_t workers) {
  heist::executor<heist::policy::cab, heist::placement_trace> ex{
      {.squads = heist::squad_by::package, .pin = heist::pinning::pus}};
  require(ex.squad_count() == squads, "there are {} squads, not {}", ex.squad_count(), squads);
  require(ex.worker_count() == workers, "there are {} workers, not {}", ex.worker_count(), workers);
  auto const placed = heist::topology::make_squads(ex.machine(), heist::squad_by::package, ex.worker_count());

  sightings seen{ex.worker_count()};
  std::size_t inter = 0, intra = 0, most_squads = 0;
  for (std::uint32_t level = 0; level <= 5; ++level) {
    heist::region r{{.boundary_level = level}};
    for (int round = 0; round < 3; ++round) {
      ex.observer().clear();
      long const result = ex.invoke(r, [&](auto c) { return fib(c, 18, seen); });
      require(result == 2584, "fib(18) is {}", result);
      auto const report = heist::check_placement(ex.observer().events(), placed, level);
      require(report.ok(), "boundary level {}: {}", level, report.text());
      require((report.inter_begins != 0) == (level != 0), "boundary level {}: no inter-squad tasks", level);
      inter += report.inter_begins;
      intra += report.intra_begins;
      most_squads = report.squads_used > most_squads ? report.squads_used : most_squads;
    }
  }
  // By Eq. 4, from the caches that this machine says it has.
  heist::region by_equation{{.branching = 2, .bytes = std::size_t{64} << 20}};
  require(ex.invoke(by_equation, [&](auto c) { return fib(c, 18, seen); }) == 2584, "fib(18) is wrong");
  require(by_equation.boundary_level().value_or(0) >= 2, "by Eq. 4: {}", by_equation.explain());
  std::printf("%s\n", by_equation.explain().c_str());

  require(seen.moved() == 0, "tasks of a worker were seen on another CPU {} times of {}", seen.moved(), seen.looks());
  std::set<int> cpus;
  for (std::size_t s = 0; s < placed.members.size(); ++s) {
    std::set<int> packages;
    for (std::uint32_t const w : placed.members[s]) {
      if (seen.cpu(w) < 0) continue;  // it ran nothing
      require(cpus.insert(seen.cpu(w)).second, "worker {} is on CPU {}, as another one", w, seen.cpu(w));
      packages.insert(package_of(seen.cpu(w)));
    }
    require(packages.size() <= 1, "the workers of squad {} were seen on {} sockets", s, packages.size());
  }
  require(most_squads > 1, "no run used more than one squad");
  std::printf("%zu squads, %zu workers of which %zu ran tasks; %ld looks; %zu inter-squad and %zu intra-squad begins\n",
              ex.squad_count(), ex.worker_count(), cpus.size(), seen.looks(), inter, intra);
}

/// Blocks of a plate and its steps as a graph that runs again: each task after its neighbours of the step before. There
/// is work for all squads at any time, so no squad has to take work of another squad.
void run_graph(std::size_t squads, std::size_t workers) {
  std::size_t const blocks = 3 * workers;
  constexpr std::size_t steps = 8;
  std::size_t const count = blocks * steps;
  heist::executor<heist::policy::cab> ex{{.squads = heist::squad_by::package, .pin = heist::pinning::pus}};
  require(ex.squad_count() == squads && ex.worker_count() == workers, "the graph has {} squads of {} workers",
          ex.squad_count(), ex.worker_count());
  auto const placed = heist::topology::make_squads(ex.machine(), heist::squad_by::package, ex.worker_count());
  std::vector<std::uint32_t> squad_of(workers);
  for (std::size_t s = 0; s != placed.members.size(); ++s) {
    for (std::uint32_t const w : placed.members[s]) squad_of[w] = static_cast<std::uint32_t>(s);
  }

  struct sighting {
    int cpu = -1;
    std::size_t worker = 0;
  };
  std::vector<sighting> tally(count);
  heist::task_graph g;
  std::vector<heist::task<>> tasks;
  for (std::size_t i = 0; i != count; ++i) {
    tasks.push_back(g.emplace([&tally, i](auto ctx) {
      is_slow();
      tally[i] = {::sched_getcpu(), ctx.worker_id()};
    }));
    std::size_t const block = i % blocks;
    if (i < blocks) continue;
    for (std::size_t b = block == 0 ? 0 : block - 1; b <= block + 1 && b != blocks; ++b)
      tasks[i - block - blocks + b].precede(tasks[i]);
  }

  std::vector<std::uint32_t> before(count, heist::graph_memory::no_place);
  constexpr int runs = 8;
  std::size_t stayed = 0;
  for (int round = 0; round != runs; ++round) {
    ex.run(g).get();
    auto const known = g.memory();
    std::set<std::uint32_t> used;
    std::vector<std::set<int>> packages(squads);
    std::size_t same = 0;
    for (std::size_t i = 0; i != count; ++i) {
      std::uint32_t const squad = known.squad(tasks[i]);
      require(squad == squad_of[tally[i].worker], "task {} ran on worker {}, and squad {} is remembered", i,
              tally[i].worker, squad);
      if (squad < squads) packages[squad].insert(package_of(tally[i].cpu));
      used.insert(squad);
      same += squad == before[i];
      before[i] = squad;
    }
    for (std::size_t s = 0; s != squads; ++s)
      require(packages[s].size() <= 1, "tasks of squad {} were seen on {} sockets", s, packages[s].size());
    require(used.size() == squads, "run {} of the graph used {} squads", round, used.size());
    std::printf("graph, run %d: %zu of %zu tasks in the squad that had them\n", round, same, count);
    if (round != 0) stayed += same;
  }
  // A squad whose workers get no time, on a machine that is emulated by fewer cores, is robbed.
  require(2 * stayed > (runs - 1) * count, "{} of {} tasks came back to the squad that had them", stayed,
          (runs - 1) * count);
  std::printf("%s\n", g.explain().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::printf("usage: %s SQUADS WORKERS\n", argv[0]);
    return 2;
  }
  try {
    std::size_t const squads = std::strtoul(argv[1], nullptr, 10), workers = std::strtoul(argv[2], nullptr, 10);
    run(squads, workers);
    run_graph(squads, workers);
  } catch (std::exception const& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
  std::printf("%s\n", wrong == 0 ? "right" : "wrong");
  return wrong == 0 ? 0 : 1;
}
