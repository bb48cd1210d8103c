// Memories of graphs: read, written, read again, cut, put in one list and drawn.
#include "all_targets.hpp"
#include "heist/locality/history/graph_memory.hpp"

#include <sstream>

namespace fuzz {
namespace {

using heist::graph_error;
using heist::graph_memory;

outcome run(std::string_view input) {
  auto const m = attempt<graph_error>(input.size(), {4096, 400}, [&] { return graph_memory::from_json(input); });
  if (!m) return {};
  require(graph_memory::from_json(m->to_json()) == *m, "the memory changes when written and read");
  require(rejects_call<graph_error>([&] { return graph_memory::from_json(cut(input)); }), "a cut file is accepted");
  graph_memory const one = m->on_one_worker();
  require(one.tasks() == m->tasks() && one.workers() <= 1, "one worker has other tasks");
  require(one.on_one_worker() == one, "the order of one worker is another the second time");
  require(graph_memory::from_json(one.to_json()) == one, "one worker's memory changes when written and read");
  if (m->workers() <= 64) {
    std::ostringstream drawing;
    m->write_svg(drawing);
    require(drawing.str().ends_with("</svg>\n"), "the picture has no end");
  }
  return {true, 2};
}

}  // namespace

target const graph_memory_target{"graph_memory", 4096, 10000, true, run};

}  // namespace fuzz
