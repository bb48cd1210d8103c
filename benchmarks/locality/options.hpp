// The options that the user sets.
#pragma once

#include <heist/heist.hpp>
#include <heist/topology.hpp>

#include <algorithm>  // find, min, max
#include <cstddef>    // size_t
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>  // pair
#include <vector>

#include <fmt/format.h>

#include "../workers.hpp"
#include "program.hpp"
#include "timing.hpp"

namespace locality {

struct wrong_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The levels that squads can be made by, as the user names them.
inline std::vector<std::pair<std::string, heist::squad_by>> squad_levels() {
  using enum heist::squad_by;
  return {{"automatic", automatic}, {"package", package}, {"numa", numa}, {"l3", l3}, {"l2", l2}, {"core", core}};
}

struct options {
  std::vector<std::string> programs;
  std::vector<std::string> policies;
  std::string squads = "automatic";
  std::string machine;
  std::string worker_list = "max";  ///< a section for each number
  std::size_t workers = 0;          ///< of the present section
  std::optional<std::size_t> size;
  std::vector<std::size_t> bytes;
  std::optional<std::size_t> steps;
  std::optional<std::size_t> leaf;
  std::size_t rounds = 7;
  double calm = 0;  ///< percent; 0: every run counts
  bool pin = false;
  bool list = false;
  bool check = false;
  bool bl_sweep = false;
  bool cpu_bound = false;
  std::string json;

  bool needs_policy(std::string_view name) const { return named(policies, name); }
  bool needs_program(std::string_view name) const { return named(programs, name); }

  /// The numbers of worker_list. `max` is what this process may use, or all PUs of a pretended machine.
  std::vector<std::size_t> worker_counts() const {
    return machine.empty() ? bench::worker_list(worker_list)
                           : bench::worker_list(worker_list, heist::topology::parse(machine).pu_count());
  }

  /// For an executor with stacks for this program.
  heist::options for_executor(std::size_t stack) const {
    heist::options o{.workers = workers, .stack_size = stack};
    for (auto const& [name, level] : squad_levels()) {
      if (name == squads) o.squads = level;
    }
    o.pin = pin ? heist::pinning::pus : heist::pinning::none;
    if (!machine.empty()) {
      o.machine = heist::topology::parse(machine);
    }
    return o;
  }

 private:
  static bool named(std::vector<std::string> const& names, std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end() ||
           std::find(names.begin(), names.end(), "all") != names.end();
  }
};

/// The sizes to run a program with.
template <class P>
std::vector<std::size_t> sizes_for(options const& o) {
  description const& about = P::about;
  std::vector<std::size_t> sizes;
  for (std::size_t const bytes : o.bytes) {
    if constexpr (requires { P::size_for_bytes(bytes); }) {  // one of a few sizes
      sizes.push_back(P::size_for_bytes(bytes));
      continue;
    }
    if (P::bytes_for(about.largest) == 0)
      throw wrong_input{
          fmt::format("{}: its size does not follow from --bytes; say --size ({})", about.name, about.size_means)};
    sizes.push_back(size_for_bytes<P>(bytes));
  }
  if (o.size) sizes.push_back(*o.size);
  if (sizes.empty()) sizes.push_back(o.check ? about.test : about.usual);
  for (std::size_t const size : sizes) {
    if (size < about.smallest || size > about.largest)
      throw wrong_input{fmt::format("{}: the size ({}) must be from {} to {}", about.name, about.size_means,
                                    about.smallest, about.largest)};
  }
  return sizes;
}

/// At its usual size a program has its usual leaves; otherwise there are as many leaves, of another size.
template <class P>
settings settings_for(options const& o, std::size_t size) {
  description const& about = P::about;
  if (o.leaf) return {size, std::max<std::size_t>(1, *o.leaf)};
  if (about.leaf <= 1) return {size, about.leaf};
  std::size_t const leaves = (about.usual + about.leaf - 1) / about.leaf;
  return {size, std::max<std::size_t>(1, (size + leaves - 1) / leaves)};
}

/// `most`: the steps that the program can make.
template <class P>
span_of_steps steps_for(options const& o, std::size_t most) {
  constexpr std::size_t max_warmup = 10, checked_steps = 100;
  std::size_t const wanted = o.steps.value_or(o.check ? std::min(checked_steps, P::about.steps) : P::about.steps);
  std::size_t const warmup = std::min(max_warmup, std::max<std::size_t>(1, std::min(wanted, most) / 10));
  if (most <= warmup) throw wrong_input{fmt::format("{}: too small, it has only {} steps", P::about.name, most)};
  return {warmup, std::max<std::size_t>(1, std::min(wanted, most - warmup))};
}

}  // namespace locality
