// A case of the differential fuzzer: a program, the executor that it runs on, and how. Plain data, and a text that can
// be read back.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/random_program.hpp"

namespace heist_fuzz {

/// A machine to pretend, in the words of heist::topology::parse; squads by package, or by hand as lists of PUs.
struct described_machine {
  char const* text;  ///< empty: the real one
  std::vector<std::vector<std::uint32_t>> squads;
};
inline std::vector<described_machine> const& all_machines() {
  static std::vector<described_machine> const all{
      {"", {}},
      {"package:2 l3:1(size=256KiB) core:2 pu:1", {}},
      {"package:1 core:1 pu:1", {}},
      {"package:4 l3:1(size=1MiB) core:4 pu:1", {{0, 1}, {4}, {8, 9}, {12, 13, 14}}},
      {"package:1 l3:1(size=1MiB) core:4 pu:1", {{0}, {1, 2, 3}}},
      {"package:8 l3:1(size=1MiB) core:10 pu:1", {{0}, {10}, {20}, {30}, {40}, {50}, {60}, {70}}},
      {"package:3 l2:2(size=256KiB) core:1 pu:2", {}}};
  return all;
}
inline constexpr std::array<std::uint32_t, 4> worker_counts{1, 2, 3, 8};

/// Which schedule the runs under a policy that records have.
enum class schedule : std::uint8_t {
  free,
  own,            ///< first a free run, then along its tree
  donor,          ///< along the tree of another program
  other_workers,  ///< along a tree that another number of workers has left
  invented,       ///< along a tree of no run
  by_hand,        ///< designations alone
  adapts
};
inline constexpr std::array<std::string_view, 7> schedule_names{"free",     "own",     "donor", "other_workers",
                                                                "invented", "by_hand", "adapts"};

/// The fate of a root's graph at the end of a run.
enum class graph_end : std::uint8_t {
  stays,
  again,     ///< the run's callback starts another run, if no run is cut
  destroys,  ///< the callback destroys the graph
  assigns,   ///< the callback assigns another to it
  edits      ///< after each run a task is erased and another one added
};
inline constexpr std::array<std::string_view, 5> graph_end_names{"stays", "again", "destroys", "assigns", "edits"};

struct setting {
  std::string policy;
  std::uint32_t workers = 1;
  std::uint32_t machine = 0;
  friend bool operator==(setting const&, setting const&) = default;
};

struct fuzz_case {
  setting where;
  std::uint32_t rounds = 1;
  std::uint32_t passes = 1;  ///< of a graph, in each round in which nothing cuts it
  std::uint32_t armed = 0;   ///< bits of the rounds in which nodes throw and stop
  bool any_context = false;  ///< the root takes heist::context
  bool in_region = false;    ///< a tree: all rounds as runs of one region
  int level = -1;            ///< of that region: the boundary level by hand; -1: none
  bool tiers_by_hand = false;
  schedule follow = schedule::free;
  std::uint32_t mode = 0;                        ///< of replay_mode
  std::uint32_t prune = 0;                       ///< percent
  std::uint32_t other = 1;                       ///< other_workers: how many
  std::uint32_t tree_seed = 0, tree_steals = 0;  ///< invented
  graph_end after = graph_end::stays;
  bool keeps = false;         ///< handles of a root's runs, until its graph and the executor are gone
  std::uint32_t clients = 0;  ///< so many tasks from another thread are under way meanwhile
  heist_test::random_program program, donor;

  bool armed_in(std::uint32_t round) const noexcept { return (armed >> round & 1) != 0; }
  friend bool operator==(fuzz_case const&, fuzz_case const&) = default;
};

std::string to_text(heist_test::random_program const& p);
std::string to_text(fuzz_case const& c);
/// Reads a text of to_text(); throws std::runtime_error for any other text.
fuzz_case parse_case(std::string_view text);

/// The abilities of a policy that generate() depends on.
struct abilities {
  bool may_wait = true, tiers = false, records = false;
};
/// The case of a seed, on that executor. `slow`: smaller ones.
fuzz_case generate(std::uint64_t seed, setting const& where, abilities const& can, bool slow);

}  // namespace heist_fuzz
