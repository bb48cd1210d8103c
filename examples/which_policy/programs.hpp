// Programs to record if the user provides no recording. Their code does not depend on the recording.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/measure.hpp>
#include <heist/simulate.hpp>
#include <heist/tools/measure/program_recording.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>  // size_t
#include <span>
#include <stdexcept>  // invalid_argument
#include <string>
#include <string_view>
#include <vector>

#include "../heat/plate.hpp"
#include "../heat/relax.hpp"
#include "../kernels/uts.hpp"
#include "merge_sort.hpp"
#include "progress.hpp"

namespace which_policy {

/// How a program is recorded.
struct recording_request {
  std::size_t size = 0;
  std::size_t repeat = 3;   ///< number of runs; the shortest time of each strand counts
  std::size_t workers = 1;  ///< workers of the recording
};

namespace detail {

/// Records `run(context)` `wanted.repeat` times. `run` must do the same work each time.
template <class Run>
heist::sim::recorded_program record(std::string name, recording_request const& wanted, progress& visible, Run run) {
  heist::executor<> ex{heist::options{.workers = wanted.workers}};
  heist::sim::recorded_program best;
  for (std::size_t i = 0; i < wanted.repeat; ++i) {
    visible.step("recording, run", i + 1, wanted.repeat);
    auto again = heist::record_program(ex, run, {.name = name}).program;
    if (i == 0) {
      best = std::move(again);
    } else {
      heist::keep_shorter(best, again);
    }
  }
  visible.clear();
  return best;
}

inline heist::sim::recorded_program record_uts(recording_request const& wanted, progress& visible) {
  kernels::uts_t1 tree{wanted.size};
  return record(fmt::format("uts of depth {}", wanted.size), wanted, visible, [&](auto ctx) {
    tree.prepare();
    tree.parallel(ctx);
  });
}

inline heist::sim::recorded_program record_heat(recording_request const& wanted, progress& visible) {
  constexpr std::size_t steps = 10, leaf_rows = 4;
  heat::plate plate{{.rows = wanted.size, .columns = wanted.size}};
  std::vector<heat::placement_record::id> computed_by(plate.computed_rows());
  heist::region sweep{{.branching = 2, .bytes = plate.size_bytes()}};
  return record(fmt::format("heat, {0} x {0}", wanted.size), wanted, visible, [&](auto ctx) {
    for (std::size_t i = 0; i < steps; ++i) {
      heat::step const now{plate, leaf_rows, false, heat::placed_by::worker, computed_by};
      ctx.invoke(sweep, [&](auto c) { heat::relax(c, now, 1, plate.computed_rows() + 1); });
      plate.advance();
    }
  });
}

inline heist::sim::recorded_program record_mergesort(recording_request const& wanted, progress& visible) {
  constexpr std::size_t rounds = 3;
  std::vector<int> input(wanted.size), values(wanted.size), scratch(wanted.size);
  kernels::random_numbers random{1};
  for (int& x : input) x = static_cast<int>(random.below(1u << 30));
  heist::region sorting{{.branching = 2, .bytes = 2 * wanted.size * sizeof(int)}};
  return record(fmt::format("mergesort of {} integers", wanted.size), wanted, visible, [&](auto ctx) {
    for (std::size_t i = 0; i < rounds; ++i) {
      std::copy(input.begin(), input.end(), values.begin());
      ctx.invoke(sorting, [&](auto c) { sort(c, std::span{values}, std::span{scratch}, false); });
    }
  });
}

}  // namespace detail

struct program_entry {
  std::string_view name, what, size_means;
  std::size_t smallest, usual, largest;
  heist::sim::recorded_program (*record)(recording_request const&, progress&);
};

inline constexpr std::array programs{
    program_entry{"heat", "ten steps of heat in a metal plate, each a run of one region", "rows and columns", 3, 2048,
                  16384, &detail::record_heat},
    program_entry{"mergesort", "three rounds of merge sort, each a run of one region", "elements", 1, 2'000'000,
                  1'000'000'000, &detail::record_mergesort},
    program_entry{"uts", "an unbalanced tree (UTS T1) that touches no memory", "depth limit", 1, 8, 9,
                  &detail::record_uts},
};

/// Throws std::invalid_argument for an unknown name.
inline program_entry const& program_named(std::string_view name) {
  for (auto const& entry : programs) {
    if (entry.name == name) return entry;
  }
  throw std::invalid_argument{"there is no program of that name; --help lists them"};
}

}  // namespace which_policy
