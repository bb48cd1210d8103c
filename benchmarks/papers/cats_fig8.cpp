// CATS, Fig. 8: sizes of involved data, calculated from the cache misses of a first run, beside the real sizes.
#include <fmt/format.h>

#include <algorithm>  // max, min
#include <cstddef>    // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "opteron.hpp"

namespace papers {
namespace {

namespace sim = heist::sim;

/// All tasks of one level. Sizes are bytes by Eq. 1.
struct level {
  std::size_t tasks = 0;
  double sum = 0, least = 0, most = 0;

  void add(double bytes) {
    least = tasks == 0 ? bytes : std::min(least, bytes);
    most = std::max(most, bytes);
    sum += bytes;
    ++tasks;
  }
};

/// A first run. As with random stealing, chance decides which core runs a task.
class first_run {
 public:
  first_run(sim::program const& p, sim::options const& o, std::uint64_t seed)
      : program_{p},
        squad_of_{squads_of(o.workers)},
        caches_{p, o, {.of_worker = 512 << 10, .of_squad = 6 << 20}, squad_of_, 4},
        random_{seed} {}

  std::vector<level> levels;  ///< levels[0] is the root's

  /// Eq. 1: the task's own misses times the size of a line, plus the sizes of its children.
  double involved(std::uint32_t task, std::size_t depth) {
    if (levels.size() == depth) levels.emplace_back();
    std::uint32_t const core = random_.below(static_cast<std::uint32_t>(squad_of_.size()));
    double bytes = 0;
    for (sim::stage const& s : program_.stages_of(task)) {
      sim::cache_misses seen;
      for (std::uint32_t t = s.first_touch; t != s.first_touch + s.touches; ++t) caches_.access(core, t, seen, random_);
      bytes += static_cast<double>((seen.accesses - seen.private_hits) * sim::memory::line_bytes);
      for (std::uint32_t c = s.first_child; c != s.first_child + s.children; ++c) bytes += involved(c, depth + 1);
    }
    levels[depth].add(bytes);
    return bytes;
  }

 private:
  /// The squad of each core: four cores form a socket.
  static std::vector<std::uint32_t> squads_of(std::uint32_t workers) {
    std::vector<std::uint32_t> of(workers);
    for (std::uint32_t w = 0; w != workers; ++w) of[w] = w / 4;
    return of;
  }

  sim::program const& program_;
  std::vector<std::uint32_t> const squad_of_;
  sim::memory caches_;
  heist::fast_random random_;
};

}  // namespace

void cats_fig8(request const& wanted) {
  std::uint64_t const rows = wanted.quick ? 128 : 1024, columns = rows / 2, element = 16, shared = 6 << 20;
  auto const p =
      sim::heat({.rows = rows, .columns = columns, .steps = 1, .leaf_rows = rows / 128, .element_bytes = element});
  sim::options o{.workers = 16};
  o.caches.block_bytes = 64;
  fmt::print(
      "CATS, Fig. 8: heat on {} x {} elements of 16 bytes, two matrices; what Eq. 1 makes of the misses of 512 KiB of "
      "L2 "
      "in a\nfirst run with cold caches, 16 cores that get the leaves at random, beside the real size (2 x rows x "
      "columns x "
      "16)\n\n",
      rows, columns);
  first_run run{p, o, wanted.seed};
  run.involved(p.runs().front().first, 0);
  table t{
      {"level", "tasks", "real (KiB)", "calculated (KiB)", "least", "most", "calculated / real", "tier, L3 of 6 MiB"}};
  bar_panel bars{"involved data of a task", "KiB", {"real", "calculated"}, {}};
  bool inter = true;
  for (std::size_t i = 0; i != run.levels.size(); ++i) {
    level const& l = run.levels[i];
    double const count = static_cast<double>(l.tasks), mean = l.sum / count;
    double const real = static_cast<double>(2 * rows * columns * element) / count;
    bool const fits = mean < static_cast<double>(shared);
    auto const kib = [](double bytes) { return fmt::format("{:.0f}", bytes / 1024); };
    t.add({fmt::format("{}", i + 1), fmt::format("{}", l.tasks), kib(real), kib(mean), kib(l.least), kib(l.most),
           fmt::format("{:.3f}", mean / real),
           !fits   ? "inter"
           : inter ? "leaf inter"
                   : "intra"});
    if (fits) inter = false;
    bars.groups.emplace_back(fmt::format("level {}", i + 1), std::vector<double>{real / 1024, mean / 1024});
  }
  print(t);
  write_plot(wanted, "Sizes of involved data (CATS, Fig. 8)", {bars});
}

}  // namespace papers
