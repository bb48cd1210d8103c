// Bodies of trace_report.hpp.
#pragma once

#include "heist/tools/observe/trace_report.hpp"

#include <errno.h>  // program_invocation_short_name
#include <fmt/core.h>

#include <algorithm>  // max
#include <ctime>      // strftime, time, tm

#include "heist/core/topology/discover.hpp"
#include "heist/tools/observe/report_sink.hpp"
#include "heist/tools/observe/steal_branches.hpp"

namespace heist {
namespace detail {

HEIST_COLD_BODY std::string time_text(std::int64_t ns) {
  double const t = static_cast<double>(ns);
  if (ns >= 1'000'000'000) return fmt::format("{:.3f} s", t / 1e9);
  if (ns >= 1'000'000) return fmt::format("{:.3f} ms", t / 1e6);
  return fmt::format("{:.3f} us", t / 1e3);
}

HEIST_COLD_BODY double percent_of(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// One line of the steal tree.
HEIST_COLD_BODY std::string text_of(std::vector<trace_summary::branch> const& tree, steal_line const& l) {
  if (l.branch == trace_summary::branch::none)
    return fmt::format("... {} more steals, busy {}", l.times, time_text(l.busy_ns));
  trace_summary::branch const& b = tree[l.branch];
  std::string const way = b.from == trace_summary::branch::none
                              ? fmt::format("worker {}", b.worker)
                              : fmt::format("worker {} from {}, {}", b.worker, tree[b.from].worker,
                                            b.times == 1 ? "once" : fmt::format("{} times", b.times));
  return fmt::format("{}: {} task{}, busy {}", way, b.tasks, b.tasks == 1 ? "" : "s", time_text(b.busy_ns));
}

}  // namespace detail

HEIST_COLD_BODY double trace_summary::utilisation() const noexcept {
  std::int64_t busy = 0;
  for (worker const& w : workers) busy += w.busy_ns;
  return detail::percent_of(busy, elapsed_ns * static_cast<std::int64_t>(workers.size())) / 100;
}

HEIST_COLD_BODY std::size_t trace_summary::steal_count() const noexcept {
  std::size_t n = 0;
  for (auto const& row : steals)
    for (std::size_t const each : row) n += each;
  return n;
}

HEIST_COLD_BODY std::size_t trace_summary::steals_within_squads() const noexcept {
  std::size_t n = 0;
  for (std::size_t a = 0; a < steals.size(); ++a)
    for (std::size_t b = 0; b < steals.size(); ++b)
      if (workers[a].squad == workers[b].squad) n += steals[a][b];
  return n;
}

HEIST_COLD_BODY std::int64_t trace_summary::searching_ns(std::size_t w) const noexcept {
  std::int64_t const rest = elapsed_ns - workers[w].busy_ns - workers[w].asleep_ns;
  return rest < 0 ? 0 : rest;
}

HEIST_COLD_BODY std::int64_t trace_summary::least_ns(std::size_t n) const noexcept {
  return std::max(critical_all_ns, critical_work_ns / static_cast<std::int64_t>(n == 0 ? 1 : n));
}

HEIST_COLD_BODY std::int64_t trace_summary::most_ns(std::size_t n) const noexcept {
  return critical_all_ns + (critical_work_ns - critical_all_ns) / static_cast<std::int64_t>(n == 0 ? 1 : n);
}

HEIST_COLD_BODY double trace_summary::parallelism() const noexcept {
  return critical_all_ns == 0 ? 0 : static_cast<double>(critical_work_ns) / static_cast<double>(critical_all_ns);
}

/// The text on all passes of the graph of the critical path.
HEIST_COLD_BODY std::string detail::passes_text(trace_summary const& s) {
  std::string const passes = s.critical_passes == 1 ? "its pass" : fmt::format("its {} passes", s.critical_passes);
  std::string const text =
      fmt::format("{} together: critical path {}, tasks busy for {}, so at most {:.2f} workers busy at a time", passes,
                  time_text(s.critical_all_ns), time_text(s.critical_work_ns), s.parallelism());
  return s.parallelism() < 1.005 ? text + ": a chain" : text;
}

/// The text on the gain by one more worker.
HEIST_COLD_BODY std::string detail::one_more_text(trace_summary const& s) {
  std::size_t const n = s.workers.size();
  auto const times = [&s](std::size_t workers) {
    return fmt::format("{} {} to {}", workers == 1 ? "1 worker takes" : fmt::format("{} workers take", workers),
                       time_text(s.least_ns(workers)), time_text(s.most_ns(workers)));
  };
  return fmt::format("without overhead {}, and {}", times(n), times(n + 1));
}

HEIST_COLD_BODY std::string detail::recorded_here(std::string const& which) {
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char date[32] = "";
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts);
  return fmt::format("{}{}, {}, {}", program_invocation_short_name, which, topology::this_machine().to_text(), date);
}

HEIST_COLD_BODY std::string trace_summary::text() const {
  std::string text = recorded.empty() ? std::string{} : recorded + "\n";
  text += fmt::format("{} on {} worker{}: {} tasks, {:.1f} % busy, {} steals, {} of them within squads\n",
                      detail::time_text(elapsed_ns), workers.size(), workers.size() == 1 ? "" : "s", tasks,
                      100 * utilisation(), steal_count(), steals_within_squads());
  if (released != 0) text += fmt::format("{} events or edges were dropped: there was no room for them\n", released);
  text += "worker squad    tasks  busy/%  searching/%  asleep/%  steals\n";
  for (std::size_t w = 0; w < workers.size(); ++w) {
    std::size_t stolen = 0;
    for (std::size_t const n : steals[w]) stolen += n;
    text +=
        fmt::format("{:6} {:5} {:8} {:7.1f} {:12.1f} {:9.1f} {:7}\n", w, workers[w].squad, workers[w].tasks,
                    detail::percent_of(workers[w].busy_ns, elapsed_ns), detail::percent_of(searching_ns(w), elapsed_ns),
                    detail::percent_of(workers[w].asleep_ns, elapsed_ns), stolen);
  }
  if (steal_count() != 0) {
    text += "steal tree:\n";
    for (detail::steal_line const& l : detail::steal_lines{steal_tree, 12, 3}.all())
      text += fmt::format("  {:{}}{}\n", "", 2 * l.depth, detail::text_of(steal_tree, l));
  }
  auto const list = [&text](std::vector<task> const& tasks_of, std::size_t most) {
    for (std::size_t i = 0; i < tasks_of.size(); ++i) {
      if (i == most) {
        text += fmt::format("  ... {} more\n", tasks_of.size() - most);
        return;
      }
      task const& t = tasks_of[i];
      text += fmt::format("  {:>14}  {} (worker {})\n", detail::time_text(t.busy_ns), t.name, t.worker);
    }
  };
  if (!critical_path.empty()) {
    text += fmt::format("critical path: {} task{}, busy for {}{}\n", critical_path.size(),
                        critical_path.size() == 1 ? "" : "s", detail::time_text(critical_ns),
                        critical_passes > 1 ? fmt::format(" in the longest of {} passes", critical_passes) : "");
    text += detail::passes_text(*this) + "\n" + detail::one_more_text(*this) + "\n";
    list(critical_path, 20);
  }
  auto const table = [&text](char const* head, std::vector<name> const& of) {
    if (!of.empty()) text += head;
    for (name const& n : of) {
      text += fmt::format("  {:>14}  {}: {} time{}, longest {}\n", detail::time_text(n.busy_ns), n.name, n.times,
                          n.times == 1 ? "" : "s", detail::time_text(n.longest_ns));
    }
  };
  table("tasks by name:\n", names);
  table("parked tasks have waited for:\n", waits);
  text += "longest tasks:\n";
  list(longest, longest.size());
  return text;
}

HEIST_COLD_BODY trace_summary summarize(recorder const& recording, task_edges const* edges,
                                        std::vector<std::uint32_t> const& squad_of) {
  return detail::report_sink{recording, detail::edges_of(recording, edges), squad_of}.sum;
}

}  // namespace heist
