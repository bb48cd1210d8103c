// Machines in one line: read, written as XML, read as that.
#include "all_targets.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/topology/synthetic.hpp"
#include "heist/core/topology/xml.hpp"
#include "machine_checks.hpp"

namespace fuzz {
namespace {

using heist::topology_error;
using heist::topology::machine;

/// The same words in other letters and with more blanks. Attributes are left as they are: their names are in small
/// letters.
std::string disguised(std::string_view input) {
  std::string text = " \n";
  bool in_attributes = false;
  for (char const c : input) {
    in_attributes = c == '(' || (in_attributes && c != ')');
    bool const is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    text += is_letter && !in_attributes ? static_cast<char>(c ^ 0x20) : c;
    if (c == ' ' && !in_attributes) text += '\t';
  }
  return text + ' ';
}

outcome run(std::string_view input) {
  // The documented limit of PUs bounds the memory, whatever the text says.
  constexpr std::size_t most = heist::topology::max_described_pus * sizeof(heist::topology::pu) + 16384;
  auto const read = [&](std::string_view text) {
    return attempt<topology_error>(text.size(), {most, 256}, [&] { return heist::topology::parse(text); });
  };
  auto const m = read(input);
  auto const again = read(disguised(input));
  require(m.has_value() == again.has_value() && (!m || *m == *again), "capitals and blanks make a difference");
  if (!m) return {};
  require_machine(*m);
  outcome result{true, 1};
  constexpr std::size_t largest_to_write = 300;
  if (m->pu_count() > largest_to_write) return result;
  require_squads(*m, digest(input) % 40);
  if (auto const xml = xml_of(*m)) {
    auto other = heist::topology::parse_xml(*xml);
    require(other == *m, "the machine changes when written as XML and read");
    ++result.round_trips;
  }
  return result;
}

}  // namespace

target const synthetic_target{"synthetic", 400, 5000, true, run};

}  // namespace fuzz
