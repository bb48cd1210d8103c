// Squads by hand: "machine | workers | 0 1 2; 3 4 5".
#include <fmt/format.h>

#include <charconv>  // from_chars
#include <vector>

#include "all_targets.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/topology/squads.hpp"
#include "heist/core/topology/synthetic.hpp"

namespace fuzz {
namespace {

using heist::topology_error;
using heist::topology::make_squads;
using lists = std::vector<std::vector<std::uint32_t>>;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The numbers in a text; other words are left out.
std::vector<std::uint32_t> numbers(std::string_view text) {
  std::vector<std::uint32_t> result;
  for (auto const word : split(text, ' '))
    if (std::uint32_t n = 0; std::from_chars(word.data(), word.data() + word.size(), n).ec == std::errc{})
      result.push_back(n);
  return result;
}

/// Are the lists valid? By the plainest means.
bool good(lists const& squads, std::size_t pus) {
  std::vector<bool> taken(pus);
  for (auto const& squad : squads) {
    if (squad.empty()) return false;
    for (auto const p : squad) {
      if (p >= pus || taken[p]) return false;
      taken[p] = true;
    }
  }
  return !squads.empty();
}

outcome run(std::string_view input) {
  auto const parts = split(input, '|');
  if (parts.size() != 3) return {};
  heist::topology::machine m;
  try {
    m = heist::topology::parse(parts[0]);
  } catch (topology_error const&) {
    return {};
  }
  constexpr std::size_t most_workers = 1000;
  auto const counts = numbers(parts[1]);
  std::size_t const workers = counts.empty() ? 1 : counts.front() % most_workers;
  lists squads;
  for (auto const list : split(parts[2], ';')) squads.push_back(numbers(list));
  auto const s = attempt<topology_error>(input.size() + m.pu_count() + workers, {16384, 400},
                                         [&] { return make_squads(m, squads, workers); });
  require(s.has_value() == good(squads, m.pu_count()), "a good division is refused, or a bad one accepted");
  if (!s) return {};

  std::vector<std::uint32_t> list_of(m.pu_count());
  for (std::uint32_t i = 0; i < squads.size(); ++i)
    for (auto const p : squads[i]) list_of[p] = i;
  require(s->squad_of.size() == workers && s->pu_of_worker.size() == workers, "a worker has no squad or no PU");
  std::size_t members = 0;
  for (auto const& squad : s->members) {
    require(!squad.empty(), "a squad is empty");
    members += squad.size();
    for (auto const w : squad)
      require(w < workers && list_of[s->pu_of_worker[w]] == list_of[s->pu_of_worker[squad.front()]],
              "a worker is in the squad of others");
  }
  require(members == workers, "a worker is of no squad, or of two");
  // The same division, by the PUs that its workers are on, is the same again if no two share one.
  lists again(s->members.size());
  for (std::size_t w = 0; w < workers; ++w) again[s->squad_of[w]].push_back(s->pu_of_worker[w]);
  if (!good(again, m.pu_count())) return {true, 0};
  require(make_squads(m, again, workers) == *s, "the division changes when it is asked for again");
  return {true, 1};
}

}  // namespace

target const squads_target{"squads", 400, 10000, true, run};

}  // namespace fuzz
