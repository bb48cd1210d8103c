// Bodies of graph_memory.hpp: where it comes from, and as JSON.
#pragma once

#include <fmt/core.h>

#include <algorithm>  // sort
#include <utility>    // exchange

#include "heist/core/base/errors.hpp"
#include "heist/core/base/json.hpp"
#include "heist/locality/history/graph_memory.hpp"
#include "heist/locality/history/placement_history.hpp"

namespace heist {

HEIST_COLD_BODY graph_memory graph_memory::of(detail::graph_data const& g) {
  g.reject_while_running("read its memory");
  graph_memory made;
  auto const* const known = static_cast<detail::placement_history const*>(g.recall());
  if (known == nullptr || known->tasks().empty()) return made;
  std::vector<detail::known_task const*> by_index(g.nodes.size());
  bool any = false;
  for (detail::known_task const& t : known->tasks()) {
    if (t.index >= g.nodes.size() || g.nodes[t.index] == nullptr || g.nodes[t.index]->created != t.created) continue;
    by_index[t.index] = &t;
    any = any || t.past.known();
  }
  if (!any) return made;
  for (std::uint32_t i = 0; i != g.nodes.size(); ++i) {
    if (g.nodes[i] == nullptr) continue;
    if (std::string const* const name = g.names.find(i); name != nullptr)
      made.names_.emplace_back(static_cast<std::uint32_t>(made.all_.size()), *name);
    made.all_.push_back(by_index[i] == nullptr ? detail::task_past{} : by_index[i]->past);
  }
  made.shape_ = detail::shape_of(g);
  made.workers_ = known->workers();
  for (detail::task_past& t : made.all_) {
    if (!t.known()) {  // chosen and skipped, or made ready only
      t = {};
      continue;
    }
    // Others than the last executor may have run it, with more workers. It may have begun in a pass that was cut off.
    if (made.workers_ <= t.worker) made.workers_ = t.worker + 1;
    if (t.end < t.begin) t.end = t.begin;
  }
  return made;
}

HEIST_COLD_BODY void graph_memory::be_followed(detail::graph_data& g, replay_mode mode, std::uint64_t only_on) const {
  g.reject_while_running("follow a memory");
  if (only_on == 0) {  // a user's wish, not one of policy::automatic
    if (detail::graph_tuner* const tuner = g.tuner(); tuner != nullptr) tuner->detach(g);
  }
  detail::graph_recall* known = g.recall();
  if (known == nullptr) known = &g.keep_recall(detail::make_unique<detail::placement_history>());
  static_cast<detail::placement_history*>(known)->follow(g, {all_, shape_, workers_, mode, only_on});
}

HEIST_COLD_BODY detail::task_past const& graph_memory::at(detail::graph_data const* g, std::uint32_t index) const {
  if (g == nullptr || g->nodes.size() - g->erased != all_.size()) {
    throw graph_error{fmt::format(
        "a memory of {} tasks is asked about a task {}; fix it by asking the memory of that task's graph, taken after "
        "the last change.",
        all_.size(), g == nullptr ? "that does not exist" : "of a graph that has more or fewer")};
  }
  std::size_t nth = index;
  for (std::uint32_t i = 0; g->erased != 0 && i != index; ++i) nth -= g->nodes[i] == nullptr ? 1u : 0u;
  return all_[nth];
}

HEIST_COLD_BODY graph_memory graph_memory::on_one_worker() const {
  graph_memory made = *this;
  made.workers_ = all_.empty() ? 0 : 1;
  std::vector<detail::task_past*> order;
  for (detail::task_past& t : made.all_) {
    if (t.known()) order.push_back(&t);
  }
  std::sort(order.begin(), order.end(), [](detail::task_past const* a, detail::task_past const* b) {
    return a->end != b->end ? a->end < b->end : a->begin < b->begin;
  });
  std::uint32_t place = 0;
  for (detail::task_past* const t : order) {
    t->worker = t->from = 0;
    if (t->squad != no_place) t->squad = 0;
    t->place = place++;
  }
  return made;
}

namespace detail {
inline constexpr std::uint64_t graph_memory_version = 1;
}

HEIST_COLD_BODY std::string graph_memory::to_json() const {
  std::string text = fmt::format(
      "{{\"heist\": \"graph memory\", \"version\": {}, \"workers\": {}, \"shape\": {},\n"
      " \"fields\": [\"worker\", \"place in its order\", \"made ready by worker\", \"begin in ns\", \"end in ns\",\n"
      "  \"bytes\", \"squad\"],\n \"tasks\": [",
      detail::graph_memory_version, workers_, shape_);
  char const* before = "\n";
  for (detail::task_past const& t : all_) {
    text += std::exchange(before, ",\n");
    if (!t.known()) {
      text += fmt::format("  []");
      continue;
    }
    text += fmt::format("  [{}, {}, {}, {}, {}, {}", t.worker, t.place, t.from, t.begin, t.end, t.bytes);
    if (t.squad != no_place) text += fmt::format(", {}", t.squad);
    text += ']';
  }
  text += "],\n \"names\": [";
  before = "\n";
  for (auto const& [nth, name] : names_)
    text += fmt::format("{}  [{}, {}]", std::exchange(before, ",\n"), nth, json::quote(name));
  return text + "]}\n";
}

namespace detail {

HEIST_COLD_BODY std::uint64_t whole_below(json::value const& v, std::uint64_t limit, char const* what) {
  std::uint64_t const n = v.as_unsigned();
  if (n >= limit) throw json_error{fmt::format("{} is {}, and less than {} is expected", what, n, limit)};
  return n;
}

HEIST_COLD_BODY task_past past_of(json::value const& line, std::uint64_t workers) {
  auto const& fields = line.as_array();
  if (fields.empty()) return {};
  if (fields.size() != 6 && fields.size() != 7)
    throw json_error{fmt::format("a task has 6 or 7 fields, or none, but {} stand there", fields.size())};
  // The squad, and the worker that made the task ready, may be of another executor's run than the worker.
  constexpr std::uint64_t most = 1u << 16, small = task_past::no_place, large = std::uint64_t{1} << 62;
  task_past t;
  t.worker = static_cast<std::uint32_t>(whole_below(fields[0], workers, "a task's worker"));
  t.place = static_cast<std::uint32_t>(whole_below(fields[1], small, "a task's place"));
  t.from = static_cast<std::uint32_t>(whole_below(fields[2], most, "the worker that made a task ready"));
  t.begin = static_cast<std::int64_t>(whole_below(fields[3], large, "a task's beginning"));
  t.end = static_cast<std::int64_t>(whole_below(fields[4], large, "a task's end"));
  t.bytes = fields[5].as_unsigned();
  if (fields.size() == 7) t.squad = static_cast<std::uint32_t>(whole_below(fields[6], most, "a task's squad"));
  if (t.end < t.begin) throw json_error{fmt::format("a task ends at {}, before it begins at {}", t.end, t.begin)};
  return t;
}

}  // namespace detail

HEIST_COLD_BODY graph_memory graph_memory::from_json(std::string_view text) {
  try {
    auto const v = json::parse(text);
    if (v.at("heist").as_string() != "graph memory") throw json_error{"it describes something else"};
    if (std::uint64_t const version = v.at("version").as_unsigned(); version != detail::graph_memory_version) {
      throw json_error{
          fmt::format("its version is {}, this heist reads version {}", version, detail::graph_memory_version)};
    }
    graph_memory made;
    made.shape_ = v.at("shape").as_unsigned();
    made.workers_ = static_cast<std::uint32_t>(detail::whole_below(v.at("workers"), 1u << 16, "the number of workers"));
    for (json::value const& line : v.at("tasks").as_array()) made.all_.push_back(detail::past_of(line, made.workers_));
    for (json::value const& line : v.at("names").as_array()) {
      auto const& pair = line.as_array();
      if (pair.size() != 2) throw json_error{"a name stands beside the number of its task"};
      auto const nth = static_cast<std::uint32_t>(detail::whole_below(pair[0], made.all_.size(), "a named task"));
      if (!made.names_.empty() && nth <= made.names_.back().first) throw json_error{"names are not in order"};
      made.names_.emplace_back(nth, pair[1].as_string());
    }
    return made;
  } catch (json_error const& e) {
    throw graph_error{
        fmt::format("this is no memory of a graph: {}; fix it by keeping what to_json() gives, whole, "
                    "and running the graph anew where that is lost.",
                    e.what())};
  }
}

}  // namespace heist
