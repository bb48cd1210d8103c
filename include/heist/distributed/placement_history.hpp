// Collective calls of the ranks of a graph that remembers: begin to save it, restart it.
#pragma once

#include <cstdint>
#include <cstdio>  // fputs
#include <exception>
#include <string>
#include <tuple>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/distributed/memory.hpp"

namespace heist::distributed {

/// Collective: rank 0 looks, and tells all. Throws graph_error on all ranks if there is nothing to restart from.
template <class Core>
restart_plan restart_of_all(Core& core, saved_values const& from) {
  using answer =
      std::tuple<std::string, std::vector<std::uint8_t>, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t>;
  auto const look = [&](std::vector<bytes> const&) {
    try {
      restart_plan const p = plan_restart(from);
      std::fputs(p.note.c_str(), stderr);
      std::vector<std::uint8_t> states;
      for (auto const s : p.states) states.push_back(static_cast<std::uint8_t>(s));
      return detail::packed(answer{{}, states, p.form, p.edition, p.tasks, p.run});
    } catch (std::exception const& e) {
      return detail::packed(answer{e.what(), {}, 0, 0, 0, 0});
    }
  };
  auto const [text, states, form, edition, tasks, run] =
      detail::unpacked<answer>(core.all_agree("restart a graph", {}, look));
  if (!text.empty()) throw graph_error{text};
  restart_plan plan{{}, form, edition, tasks, run, {}};
  for (auto const s : states) plan.states.push_back(static_cast<saved_state>(s));
  return plan;
}

/// Collective: rank 0 makes the folder, and notes the graph in it. Files of an earlier program have another edition,
/// unless this graph was restarted from them.
template <class Core>
void save_on_all(Core& core, graph_memory& memory, std::string const& folder, std::vector<std::uint32_t> const& cut) {
  if (memory.files != nullptr) {
    throw graph_error{"a distributed graph is saved in " + memory.files->folder() +
                      " and was to be saved again; fix it by one save(), after all tasks have been added."};
  }
  auto files = std::make_unique<saved_values>(folder, core.rank());
  using answer = std::tuple<std::string, std::uint64_t, std::uint32_t>;
  auto const begin = [&](std::vector<bytes> const&) {
    try {
      // Before the folder is changed: another graph must not overwrite files that it cannot restart from.
      if (auto const text = memory.difference(); !text.empty()) return detail::packed(answer{text, 0, 0});
      saved_values::head h{.form = memory.form};
      std::uint32_t before = 0;  // runs that the files may be of
      if (memory.restart && memory.restart_from->is_same(*files)) {
        h.edition = memory.restart->edition;
        before = memory.restart->run == 0 ? 0 : memory.restart->run - 1;
      } else {
        auto const old = files->look(0);
        h.edition = next_edition(old.is_whole() ? old.head.edition : 0);
        files->remove_lists();
      }
      files->to_text(memory.shape, h);
      return detail::packed(answer{{}, h.edition, before});
    } catch (std::exception const& e) {
      return detail::packed(answer{e.what(), 0, 0});
    }
  };
  auto const [text, edition, run] = detail::unpacked<answer>(core.all_agree("save a graph", {}, begin));
  if (!text.empty()) throw graph_error{text};
  memory.of_files = {.form = memory.form, .edition = edition, .run = run};
  memory.files = std::move(files);
  std::vector<bool> wanted(memory.shape.tasks() + 1, cut.empty());
  for (std::uint32_t const t : cut) wanted.at(t) = true;
  for (own_task const& own : memory.own) {
    if (wanted[own.id] && own.save != nullptr) own.save(core, own);
  }
}

}  // namespace heist::distributed
