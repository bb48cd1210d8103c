// The costs of memory. They come from streams on this machine, from a file of another machine, or they are the usual ones.
#pragma once

#include <heist/core/base/json.hpp>
#include <heist/simulate.hpp>
#include <heist/topology.hpp>

#include <fmt/format.h>

#include <algorithm>  // max
#include <cstdint>
#include <fstream>
#include <iterator>  // istreambuf_iterator
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>  // pair

namespace which_policy {

/// An option has an invalid value, or a file cannot be read or written.
struct wrong_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The figures of streams, by their names in JSON.
inline constexpr std::pair<std::string_view, double heist::sim::streams::*> stream_names[]{
    {"private_line", &heist::sim::streams::private_line},
    {"shared_line", &heist::sim::streams::shared_line},
    {"memory_line", &heist::sim::streams::memory_line},
    {"transfer_line", &heist::sim::streams::transfer_line},
    {"far_line", &heist::sim::streams::far_line},
    {"shared_bandwidth", &heist::sim::streams::shared_bandwidth},
    {"memory_bandwidth", &heist::sim::streams::memory_bandwidth},
    {"link_bandwidth", &heist::sim::streams::link_bandwidth}};

/// The streams in a file of cmake/measure.sh, or wrong_input.
inline heist::sim::streams load_streams(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  std::string const text{std::istreambuf_iterator<char>{file}, {}};
  if (!file) throw wrong_input{fmt::format("{}: the file cannot be read; name one that cmake/measure.sh wrote", path)};
  try {
    auto const all = heist::json::parse(text);
    auto const& found = all.at("machine").at("streams");
    heist::sim::streams s;
    for (auto const& [name, member] : stream_names) {
      s.*member = found.at(name).as_double();
      if (!(s.*member >= 0)) throw heist::json_error{fmt::format("{} is negative", name)};
    }
    return s;
  } catch (heist::json_error const& e) {
    throw wrong_input{fmt::format("{}: no streams in it: {}; name a file that cmake/measure.sh wrote", path, e.what())};
  }
}

/// The most memory that a region of the program touches; 0: unknown.
inline std::uint64_t data_of(heist::sim::recorded_program const& recorded) {
  std::uint64_t most = 0;
  for (auto const& r : recorded.regions) most = std::max(most, r.bytes);
  return most;
}

/// Costs of a line for loops that read forwards, without a limit of bandwidth.
inline void set_usual_memory(heist::sim::costs& costs) {
  costs.memory = 3;
  costs.shared_hit = 1;
}

}  // namespace which_policy
