// Recordings of programs: read, written, read again, cut, and made programs of.
#include "all_targets.hpp"
#include "heist/tools/simulate/recorded_check.hpp"
#include "heist/tools/simulate/recorded_json.hpp"

namespace fuzz {
namespace {

using heist::sim_error;
using heist::sim::recorded_program_from_json;

outcome run(std::string_view input) {
  // A task's memory is at most 2^40 bytes, in pieces of 2^31: a line of 30 characters may become 8 KiB. The runs of a
  // graph are at most 2^20.
  auto const r = attempt<sim_error>(input.size(), {std::size_t{32} << 20, 1024},
                                    [&] { return recorded_program_from_json(input); });
  if (!r) return {};
  require(recorded_program_from_json(to_json(*r)) == *r, "the recording changes when written and read");
  require(rejects_call<sim_error>([&] { return recorded_program_from_json(cut(input)); }), "a cut file is accepted");
  auto const p = heist::sim::to_program(*r);
  require(p.name() == r->name && p.task_count() == r->tasks.size(), "the program has other tasks");
  require(p.runs().size() == (r->graph ? r->graph_runs : r->runs.size()), "the program has other runs");
  require(p.span() <= p.work(), "the program's longest chain is longer than all of it");
  return {true, 1};
}

}  // namespace

target const recording_target{"recording", 4096, 10000, true, run};

}  // namespace fuzz
