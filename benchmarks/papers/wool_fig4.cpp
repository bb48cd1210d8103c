// Wool, section 4 and Fig. 4: the effect of sampling on the time and on the number of steals, by the number of workers.
#include <heist/simulate.hpp>

#include <fmt/format.h>

#include <array>
#include <bit>      // bit_width
#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"

namespace papers {
namespace {

constexpr std::array<std::uint32_t, 5> sample_sizes{1, 2, 4, 8, 16};

/// The thief of section 4. Before every attempt it looks at K random workers, after failed attempts too.
/// `one_is_none`: with K = 1 it does not look at all. `until_work`: if none of the K has work, it looks at K others
/// without an attempt.
template <std::uint32_t K, bool one_is_none, bool until_work = false>
class always_sampling {
 public:
  std::uint32_t next(heist::victim::thief_view const& me, heist::fast_random& random) noexcept {
    awaited_ = false;
    if (looks_ == K) {
      looks_ = 0;
      if (!until_work || best_offer_.tasks != 0) return best_;
    }
    if (looks_ == 0 || me.workers == 1) {  // only the first may be `self`: the master queue
      std::uint32_t const victim = random.below(me.workers);
      awaited_ = (K > 1 || !one_is_none) && victim != me.self;
      return victim;
    }
    std::uint32_t const other = random.below(me.workers - 1);
    awaited_ = true;
    return other < me.self ? other : other + 1;
  }
  bool wants_look() const noexcept { return awaited_; }
  void looked(std::uint32_t victim, heist::victim::offer const& what) noexcept {
    bool const better = what.tasks != 0 && (best_offer_.tasks == 0 || what.depth < best_offer_.depth);
    if (looks_++ == 0 || better) {
      best_ = victim;
      best_offer_ = what;
    }
  }
  void feedback(std::uint32_t, heist::victim::outcome) noexcept {}

 private:
  std::uint32_t looks_ = 0, best_ = 0;
  heist::victim::offer best_offer_;
  bool awaited_ = false;
};
template <std::uint32_t K>
struct one_is_none : always_sampling<K, true> {};
template <std::uint32_t K>
struct one_is_one : always_sampling<K, false> {};
template <std::uint32_t K>
struct again : always_sampling<K, true, true> {};
template <std::uint32_t K>
struct library : heist::victim::sampling<K> {};
static_assert(heist::victim::sampling_policy<one_is_none<2>>);

/// The model's workers never wait at joins.
template <class Victim>
struct policy : heist::policy::bundle<Victim, heist::idle::spinning> {};

/// Means of several seeds.
struct point {
  double time = 0, steals = 0, attempts = 0;
};

template <class Victim>
point simulate(request const& wanted, std::uint32_t workers) {
  constexpr heist::sim::ticks mean = 1000;  // of a leaf and of a steal: lambda_work = lambda_steal
  point sum;
  for (unsigned round = 0; round < wanted.rounds; ++round) {
    std::uint64_t const seed = wanted.seed + round;
    auto const depth = static_cast<std::uint32_t>(std::bit_width(workers) - 1 + 2);
    auto const tree = heist::sim::balanced_tree({.depth = depth, .leaf = heist::sim::exponential(mean), .seed = seed});
    auto const r = heist::simulate<policy<Victim>>(
        tree, {.workers = workers, .seed = seed, .costs = heist::sim::costs::wool_section_4(mean)});
    sum.time += static_cast<double>(r.makespan) / mean / wanted.rounds;
    sum.steals += static_cast<double>(r.steals) / wanted.rounds;
    sum.attempts += static_cast<double>(r.attempts) / wanted.rounds;
  }
  return sum;
}

template <template <std::uint32_t> class Victim>
std::vector<point> all_sample_sizes(request const& wanted, std::uint32_t workers) {
  return {simulate<Victim<1>>(wanted, workers), simulate<Victim<2>>(wanted, workers),
          simulate<Victim<4>>(wanted, workers), simulate<Victim<8>>(wanted, workers),
          simulate<Victim<16>>(wanted, workers)};
}

/// A figure of the points that the table shows, and its name.
struct quantity {
  std::string name;
  double point::*value;
};

template <template <std::uint32_t> class Victim>
void show(request const& wanted, std::string const& rule, std::vector<panel>& panels) {
  std::array<quantity, 3> const quantities{
      {{"time", &point::time}, {"steals", &point::steals}, {"attempts", &point::attempts}}};
  std::vector<std::vector<point>> all;
  std::vector<std::uint32_t> counts;
  for (std::uint32_t workers = 16; workers <= (wanted.quick ? 32u : 1024u); workers *= 2) {
    counts.push_back(workers);
    all.push_back(all_sample_sizes<Victim>(wanted, workers));
  }
  heading(rule);
  std::vector<std::string> heads{"relative to K = 1"};
  for (auto const w : counts) heads.push_back(fmt::format("{} workers", w));
  heads.emplace_back("paper");
  table t{heads};
  for (auto const& [name, value] : quantities) {
    line_panel lines{fmt::format("{}: {} relative to K = 1", rule, name), "workers", "ratio", true, {}};
    for (std::size_t k = 0; k < sample_sizes.size(); ++k) {
      std::vector<std::string> cells{fmt::format("{}, K = {}", name, sample_sizes[k])};
      line l{fmt::format("K = {}", sample_sizes[k]), {}};
      for (std::size_t i = 0; i < counts.size(); ++i) {
        double const base = all[i][0].*value;
        cells.push_back(k == 0 ? fmt::format("{:.{}f}", base, base < 100 ? 1 : 0)
                               : fmt::format("{:.3f}", all[i][k].*value / base));
        l.points.emplace_back(counts[i], all[i][k].*value / base);
      }
      if (k == 1 && name == "time") cells.emplace_back("> 1 under 128, then < 1");
      if (k == 1 && name == "steals") cells.emplace_back("almost 2/3 at 1024");
      t.add(cells);
      if (k != 0) lines.lines.push_back(l);
    }
    panels.emplace_back(lines);
  }
  print(t);
}

}  // namespace

void wool_fig4(request const& wanted) {
  fmt::print(
      "Wool, Fig. 4: tree of depth log2 N + 2; leaf, attempt and look take exponential times of mean 1, 1 and 1/2;\n"
      "K: how many workers a thief looks at; means of {} seeds\n",
      wanted.rounds);
  std::vector<panel> panels;
  show<one_is_none>(wanted, "K looks before every attempt, for K = 1 none", panels);
  show<one_is_one>(wanted, "K looks before every attempt, also for K = 1", panels);
  show<again>(wanted, "K looks, and K again until there is work, for K = 1 none", panels);
  show<library>(wanted, "victim::sampling: no looks after a failed attempt, none beyond an empty pool", panels);
  write_plot(wanted, "Sampling, 16 to 1024 workers (Wool, Fig. 4)", panels);
}

}  // namespace papers
