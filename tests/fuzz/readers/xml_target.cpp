// Machines in hwloc's XML: read, written, read again, and cut.
#include "all_targets.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/topology/xml.hpp"
#include "machine_checks.hpp"

namespace fuzz {
namespace {

using heist::topology_error;
using heist::topology::parse_xml;

outcome run(std::string_view input) {
  auto const m = attempt<topology_error>(input.size(), {16384, 192}, [&] { return parse_xml(input); });
  if (!m) return {};
  require_machine(*m);
  outcome result{true, 0};
  constexpr std::size_t largest_to_write = 300;
  if (m->pu_count() <= largest_to_write) {
    require_squads(*m, digest(input) % 40);
    if (auto const xml = xml_of(*m)) {
      require(parse_xml(*xml) == *m, "the machine changes when written and read");
      ++result.round_trips;
    }
  }
  require(parse_xml("<!-- <a> -->\n" + std::string(input) + "<!-- --> \n") == *m, "comments make a difference");
  ++result.round_trips;
  auto const before_end = input.substr(0, input.find("</topology"));
  require(
      rejects_call<topology_error>([&] { return parse_xml(before_end.substr(0, digest(input) % before_end.size())); }),
      "a cut file is accepted");
  return result;
}

}  // namespace

target const xml_target{"xml", 8192, 10000, true, run};

}  // namespace fuzz
