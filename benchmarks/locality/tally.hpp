// Records which worker computed which leaf of each sweep, and how often a leaf stayed with its worker.
#pragma once

#include <heist/core/base/config.hpp>

#include <algorithm>  // sort, min, max, max_element
#include <array>
#include <cstddef>  // size_t
#include <tuple>    // tie
#include <vector>

#include "program.hpp"

namespace locality {

/// Shares, from 0 to 1, over all sweeps but the first.
struct staying {
  double same_worker = 0;  ///< share of rows computed by the worker that had computed them in the sweep before
  double same_squad = 0;   ///< the same, by that squad
  double half_worker = 0;  ///< share of halves computed wholly by the workers that had them in the sweep before
  double half_squad = 0;   ///< the same, by those squads
  double busiest = 0;      ///< on average over sweeps: of a sweep, by the worker that computed most of it
};

/// Filled by the leaves of a run, as the program's notes.
class tally {
 public:
  struct entry {
    std::size_t sweep;
    range part;
    std::size_t worker, squad;
  };

  /// `expected`: so many leaves of each worker are noted without asking for memory.
  explicit tally(std::size_t workers, std::size_t expected = 0) : pages_(workers) {
    for (page& p : pages_) p.entries.reserve(expected);
  }

  template <class Context>
  void operator()(Context ctx, std::size_t sweep, range part) const {
    std::size_t const worker = ctx.worker_id();
    pages_[worker].entries.push_back({sweep, part, worker, ctx.squad_id()});
  }

  /// When the run is over: all leaves, sweep by sweep, in the order of their parts.
  std::vector<entry> entries() const {
    std::vector<entry> all;
    for (page const& p : pages_) all.insert(all.end(), p.entries.begin(), p.entries.end());
    std::sort(all.begin(), all.end(), [](entry const& a, entry const& b) {
      return std::tie(a.sweep, a.part.first) < std::tie(b.sweep, b.part.first);
    });
    return all;
  }

  /// When the run is over.
  staying shares() const {
    std::vector<entry> const all = entries();
    sums total;
    for (auto before = sweep{all.data(), all.data()}, now = next(all, before); now.first != now.last;
         before = now, now = next(all, now)) {
      if (before.first != before.last) compare(before, now, total);
      total.busiest += busiest_of(now);
      total.sweeps += 1;
    }
    return total.shares();
  }

 private:
  struct alignas(heist::cache_line_size) page {
    std::vector<entry> entries;
  };

  /// The entries of one sweep, in order of their parts.
  struct sweep {
    entry const *first, *last;
  };
  static sweep next(std::vector<entry> const& all, sweep const& before) {
    entry const* const end = all.data() + all.size();
    entry const* last = before.last;
    while (last != end && last->sweep == before.last->sweep) ++last;
    return {before.last, last};
  }

  struct sums {
    double computed = 0, same_worker = 0, same_squad = 0;
    double halves = 0, half_worker = 0, half_squad = 0;
    double sweeps = 0, busiest = 0;

    staying shares() const {
      if (computed == 0) return {};
      return {same_worker / computed, same_squad / computed, half_worker / halves, half_squad / halves,
              busiest / sweeps};
    }
  };

  double busiest_of(sweep const& s) const {
    std::vector<double> computed(pages_.size());
    double all = 0;
    for (entry const* e = s.first; e != s.last; ++e) {
      auto const count = static_cast<double>(e->part.size());
      computed[e->worker] += count;
      all += count;
    }
    return *std::max_element(computed.begin(), computed.end()) / all;
  }

  /// Both sweeps lie in order of their parts, which need not be the same parts.
  static void compare(sweep before, sweep const& now, sums& total) {
    range const rows{now.first->part.first, now.last[-1].part.last};
    std::size_t const middle = rows.first + rows.size() / 2;
    std::array<bool, 2> worker_kept{true, true}, squad_kept{true, true};
    for (entry const* e = now.first; e != now.last;) {
      if (before.first->part.last <= e->part.first) {
        if (++before.first == before.last) break;
        continue;
      }
      std::size_t const first = std::max(e->part.first, before.first->part.first);
      std::size_t const last = std::min(e->part.last, before.first->part.last);
      if (first < last) {
        bool const worker = e->worker == before.first->worker, squad = e->squad == before.first->squad;
        auto const count = static_cast<double>(last - first);
        total.computed += count;
        total.same_worker += worker ? count : 0;
        total.same_squad += squad ? count : 0;
        for (std::size_t const half : {0u, 1u}) {
          if (half == 0 ? first >= middle : last <= middle) continue;
          worker_kept[half] = worker_kept[half] && worker;
          squad_kept[half] = squad_kept[half] && squad;
        }
      }
      if (e->part.last <= before.first->part.last) {
        ++e;
      } else if (++before.first == before.last) {
        break;
      }
    }
    for (std::size_t const half : {0u, 1u}) {
      total.halves += 1;
      total.half_worker += worker_kept[half] ? 1 : 0;
      total.half_squad += squad_kept[half] ? 1 : 0;
    }
  }

  mutable std::vector<page> pages_;  // each written by its worker
};

}  // namespace locality
