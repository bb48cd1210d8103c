// Bodies of recorded_json.hpp.
#pragma once

#include "heist/tools/simulate/recorded_json.hpp"

#include <fmt/core.h>

#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/json.hpp"
#include "heist/tools/simulate/recorded_check.hpp"

namespace heist::sim {

namespace detail {

inline constexpr std::uint64_t recording_version = 1;

/// Numbers of tasks and regions; where there may be none, null is.
HEIST_COLD_BODY std::string number_or_null(std::uint32_t n) {
  return n == none ? std::string("null") : fmt::format("{}", n);
}
HEIST_COLD_BODY std::uint32_t read_number(json::value const& v, std::uint32_t most = ~std::uint32_t{0}) {
  auto const n = v.as_unsigned();
  if (n > most) throw json_error(fmt::format("JSON: {} is too large to number a task", n));
  return static_cast<std::uint32_t>(n);
}
HEIST_COLD_BODY std::uint32_t read_number_or_null(json::value const& v) {
  return v.is_null() ? none : read_number(v, none - 1);
}

/// An array with so many elements.
HEIST_COLD_BODY json::value::array const& fields_of(json::value const& v, std::size_t count) {
  auto const& all = v.as_array();
  if (all.size() != count)
    throw json_error(fmt::format("JSON: {} fields are needed, but {} stand there", count, all.size()));
  return all;
}

HEIST_COLD_BODY recorded_task read_task(json::value const& v) {
  auto const& f = fields_of(v, 8);
  recorded_task t{read_number_or_null(f[0]),
                  read_number(f[1]),
                  read_number(f[2]),
                  read_number(f[3]),
                  f[4].as_unsigned(),
                  f[5].is_null() ? recorded_task::unknown_address : f[5].as_unsigned(),
                  f[6].as_bool(),
                  {}};
  for (json::value const& w : f[7].as_array()) t.work.push_back(w.as_unsigned());
  return t;
}

/// `one(element)` as text, each on a line of its own.
template <class Range, class F>
void append_lines(std::string& text, Range const& all, F one) {
  bool first = true;
  for (auto const& each : all) {
    text += first ? "\n  " : ",\n  ";
    text += one(each);
    first = false;
  }
}

}  // namespace detail

HEIST_COLD_BODY std::string to_json(recorded_program const& r) {
  auto text = fmt::format(
      "{{\"heist\": \"recorded program\", \"version\": {},\n \"name\": {}, \"recorded_on\": {},\n \"graph\": {}, "
      "\"graph_runs\": {},\n \"regions\": [",
      detail::recording_version, json::quote(r.name), json::quote(r.recorded_on), r.graph, r.graph_runs);
  detail::append_lines(text, r.regions, [](recorded_region const& g) {
    return fmt::format(R"({{"name": {}, "bytes": {}, "branching": {}}})", json::quote(g.name), g.bytes, g.branching);
  });
  text += "],\n \"run_fields\": [\"root\", \"region\"],\n \"runs\": [";
  detail::append_lines(text, r.runs, [](recorded_run const& n) {
    return fmt::format("[{}, {}]", n.root, detail::number_or_null(n.region));
  });
  text += "],\n \"edges\": [";
  detail::append_lines(text, r.edges,
                       [](recorded_edge const& e) { return fmt::format("[{}, {}]", e.before, e.after); });
  text +=
      "],\n \"task_fields\": [\"parent\", \"index\", \"group\", \"function\", \"bytes\", \"address\", \"writes\", "
      "\"work\"],\n \"tasks\": [";
  detail::append_lines(text, r.tasks, [](recorded_task const& t) {
    std::string work;
    for (std::uint64_t const w : t.work) work += fmt::format("{}{}", work.empty() ? "" : ", ", w);
    auto const address =
        t.address == recorded_task::unknown_address ? std::string("null") : fmt::format("{}", t.address);
    return fmt::format("[{}, {}, {}, {}, {}, {}, {}, [{}]]", detail::number_or_null(t.parent), t.index, t.group,
                       t.function, t.bytes, address, t.writes, work);
  });
  return text + "]}\n";
}

HEIST_COLD_BODY recorded_program recorded_program_from_json(std::string_view text) {
  recorded_program r;
  try {
    auto const v = json::parse(text);
    if (v.at("heist").as_string() != "recorded program") throw json_error("JSON: it describes something else");
    if (auto const version = v.at("version").as_unsigned(); version != detail::recording_version)
      throw json_error(
          fmt::format("its version is {}, this heist reads version {}", version, detail::recording_version));
    r.name = v.at("name").as_string();
    r.recorded_on = v.at("recorded_on").as_string();
    r.graph = v.at("graph").as_bool();
    r.graph_runs = detail::read_number(v.at("graph_runs"));
    for (auto const& g : v.at("regions").as_array())
      r.regions.push_back(
          {g.at("name").as_string(), g.at("bytes").as_unsigned(), detail::read_number(g.at("branching"))});
    for (auto const& n : v.at("runs").as_array()) {
      auto const& f = detail::fields_of(n, 2);
      r.runs.push_back({detail::read_number(f[0]), detail::read_number_or_null(f[1])});
    }
    for (auto const& e : v.at("edges").as_array()) {
      auto const& f = detail::fields_of(e, 2);
      r.edges.push_back({detail::read_number(f[0]), detail::read_number(f[1])});
    }
    for (auto const& t : v.at("tasks").as_array()) r.tasks.push_back(detail::read_task(t));
  } catch (json_error const& e) {
    detail::bad_recording("{}", e.what());
  }
  check(r);
  return r;
}

}  // namespace heist::sim
