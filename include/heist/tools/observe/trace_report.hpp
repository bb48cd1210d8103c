// Reports on a recording, for people: some lines of text, and one page that needs no network.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/tools/observe/recorder.hpp"
#include "heist/tools/observe/task_edges.hpp"
#include "heist/tools/observe/trace_summary.hpp"

namespace heist {

/// `edges`: null: those that the recorder knows (recorder::edges). `squad_of`: by worker; empty: all are of one. Must
/// not be called during recording. Cost: O(events), some 100 bytes a task.
trace_summary summarize(recorder const& recording, task_edges const* edges = nullptr,
                        std::vector<std::uint32_t> const& squad_of = {});

/// Writes one page of HTML that needs no network. Its timeline shows the critical path in red. The page also has the
/// utilisation, the graph, and the ten longest tasks. It shows steals as a tree, and between workers and squads. A
/// script of the page zooms the timeline. Tasks too short to be seen there are drawn together.
void write_report(std::ostream& out, recorder const& recording, task_edges const* edges = nullptr,
                  std::vector<std::uint32_t> const& squad_of = {});

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/tools/observe/trace_page.ipp"
#include "heist/tools/observe/trace_report.ipp"
#endif
