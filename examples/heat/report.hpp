// The result in words.
#pragma once

#include <fmt/format.h>

#include <algorithm>  // max
#include <cstddef>    // size_t
#include <string>
#include <string_view>

#include "colors.hpp"
#include "options.hpp"
#include "placement.hpp"
#include "plate.hpp"
#include "policy_table.hpp"

namespace heat {

inline std::string_view plural(std::size_t n) {
  return n == 1 ? "" : "s";
}

inline std::string to_text(plate const& p, plate_description const& what) {
  auto const& e = what.edges;
  return fmt::format(
      "plate        {} x {} cells, {:.1f} MiB in two grids; top {}, right {}, bottom {}, left {} degrees, {} "
      "spot{}\n",
      p.rows(), p.columns(), static_cast<double>(p.size_bytes()) / (1 << 20), e.top, e.right, e.bottom, e.left,
      what.spots.size(), plural(what.spots.size()));
}

inline std::string to_text(report_on_run const& r, options const& o, plate const& p) {
  auto const& s = r.solved;
  std::string text = fmt::format("machine      {}\n", r.machine);
  text += fmt::format("policy       {}, {} worker{} in {} squad{}\n", o.policy, r.workers, plural(r.workers), r.squads,
                      plural(r.squads));
  text += fmt::format("steps        {}, the largest change in the last one was {:.3g} degrees", s.steps, s.change);
  if (o.run.how.tolerance)
    text += s.has_converged ? fmt::format(": settled to {:g}", *o.run.how.tolerance)
                            : fmt::format(": NOT settled to {:g}, give it more --steps", *o.run.how.tolerance);
  auto const steps = static_cast<double>(s.steps);
  auto const cells = static_cast<double>(p.rows() * p.columns());
  text += fmt::format("\ntime         {:.3f} s, {:.3f} ms a step, {:.2f} ns a cell\n", s.seconds,
                      s.seconds / steps * 1e3, s.seconds / steps / cells * 1e9);
  if (!r.note.empty()) text += fmt::format("region       {}\n", r.note);
  if (o.shows_profile)
    text += r.profile.empty() ? fmt::format("profile      none: {} does not measure\n", o.policy) : r.profile;
  return text;
}

/// Describes how persistent the placement was and how the rows were distributed.
inline std::string to_text(placement_record const& record, report_on_run const& r) {
  bool const by_squad = r.by == placed_by::squad;
  char const* const who = by_squad ? "squad" : "worker";
  std::string text = "placement    ";
  if (auto const stayed = record.persistence()) {
    text += fmt::format(
        "{:.1f} % of the rows were computed by the same {} as in the step before; by chance alone: {:.1f} %\n",
        *stayed * 100, who, record.persistence_by_chance() * 100);
  } else {
    text += "with one step there is no step before to compare with\n";
  }
  constexpr std::size_t most_named = 8;
  constexpr double nearly_all = 0.9;
  text += fmt::format("             rows by {}:", who);
  for (std::size_t id = 0; id < record.id_count() && id < most_named; ++id) {
    text +=
        fmt::format("{} {} ({}) {:.1f} %", id == 0 ? "" : ",", id, placement_color_name(id), record.share_of(id) * 100);
  }
  if (record.id_count() > most_named) text += fmt::format(", {} more", record.id_count() - most_named);
  text += '\n';
  double largest = 0;
  for (std::size_t id = 0; id < record.id_count(); ++id) largest = std::max(largest, record.share_of(id));
  if ((by_squad ? r.squads : r.workers) > 1 && largest > nearly_all)
    text += fmt::format("             one {} computed nearly everything: were the other CPUs busy?\n", who);
  return text;
}

}  // namespace heat
