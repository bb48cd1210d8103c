// The page of trace_report.hpp. Bodies.
#pragma once

#include <fmt/core.h>

#include <algorithm>   // clamp, max, min
#include <functional>  // hash
#include <ostream>
#include <string_view>
#include <unordered_set>

#include "heist/core/base/json.hpp"
#include "heist/tools/observe/graph_drawing.hpp"
#include "heist/tools/observe/report_sink.hpp"
#include "heist/tools/observe/steal_branches.hpp"
#include "heist/tools/observe/trace_report.hpp"

namespace heist {
namespace detail {

HEIST_COLD_BODY std::string html_text(std::string_view text) {
  std::string escaped;
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(length)) {
    length = json::detail::character_length(text);
    char const c = length == 0 ? '?' : text.front();
    if (length > 1) {
      escaped.append(text.substr(0, length));
      continue;
    }
    length = 1;
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

/// Draws the rows of the timeline.
class timeline_drawing {
 public:
  explicit timeline_drawing(report_sink const& seen) : seen_{seen} {
    for (auto const& t : seen.sum.critical_path) critical_.insert(t.number);
  }

  std::string svg() {
    std::size_t const workers = seen_.sum.workers.size();
    thin_ = std::clamp(0.6 * static_cast<double>(workers) / 16, 0.1, 0.6);
    text_ = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="timeline" id="timeline" data-ns="{}">)",
                        left + width + 10, top + row * static_cast<double>(workers) + 8, seen_.sum.elapsed_ns);
    for (int i = 0; i <= 10; ++i) {
      double const x = left + width * i / 10;
      add(R"(<path class="grid" d="M{0:.1f} {1}V{2}"/><text class="tick" x="{0:.1f}" y="{3}" text-anchor="{5}">{4}</text>)",
          x, top, top + row * static_cast<double>(workers), top - 6, time_text(seen_.sum.elapsed_ns * i / 10),
          i == 10 ? "end" : "middle");
    }
    for (std::size_t w = 0; w < workers; ++w) draw(w, top + row * static_cast<double>(w));
    return text_ + "</svg>\n";
  }

 private:
  static constexpr double left = 110, width = 1080, top = 24, row = 26, height = 20;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
  }
  double place(std::int64_t ns) const noexcept {
    return seen_.sum.elapsed_ns <= 0
               ? left
               : left + width * static_cast<double>(ns) / static_cast<double>(seen_.sum.elapsed_ns);
  }

  void draw(std::size_t w, double y) {
    add(R"(<text x="4" y="{:.1f}">worker {}{}</text>)", y + 15, w,
        seen_.sum.workers[w].squad == 0 ? "" : fmt::format(" (squad {})", seen_.sum.workers[w].squad));
    for (auto const& nap : seen_.naps[w]) {
      if (place(nap.end) - place(nap.begin) < thin_) continue;
      add(R"(<rect class="nap" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{}"><title>asleep for {}</title></rect>)",
          place(nap.begin), y + 8, place(nap.end) - place(nap.begin), 4, time_text(nap.end - nap.begin));
    }
    double dust_from = 0, dust_to = -1;
    std::size_t grains = 0;
    auto const sweep = [&] {
      if (grains != 0)
        add(R"(<rect class="dust" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{}"><title>{} short tasks</title></rect>)",
            dust_from, y, std::max(dust_to - dust_from, 0.3), height, grains);
      grains = 0;
    };
    for (slice_shape const& s : seen_.slices[w]) {
      double const from = place(s.begin), to = place(s.end);
      bool const critical = critical_.count(s.task) != 0;
      if (to - from < thin_ && !critical) {
        if (grains != 0 && (from - dust_to > thin_ || to - dust_from > 8)) sweep();
        if (grains++ == 0) dust_from = from;
        dust_to = to;
        continue;
      }
      sweep();
      trace_summary::task const t = seen_.task(s.task);
      add("<rect x='{:.2f}' y='{:.1f}' width='{:.2f}' height='{}' fill='hsl({},55%,68%)'{}><title>{}: "
          "{}</title></rect>",
          from, y, std::max(to - from, 0.3), height, std::hash<std::string_view>{}(t.name) % 36 * 10,
          critical ? R"( class="critical")" : "", html_text(t.name), time_text(s.end - s.begin));
    }
    sweep();
  }

  report_sink const& seen_;
  std::unordered_set<std::size_t> critical_;
  double thin_ = 0;  ///< shorter boxes, in user units, are drawn together
  std::string text_;
};

HEIST_COLD_BODY std::string steals_table(trace_summary const& sum) {
  std::size_t most = 1;
  for (auto const& row : sum.steals)
    for (std::size_t const n : row) most = std::max(most, n);
  std::string text = "<table><tr><th>thief \\ victim</th>";
  for (std::size_t v = 0; v < sum.workers.size(); ++v) text += fmt::format("<th>{}</th>", v);
  text += "</tr>\n";
  for (std::size_t a = 0; a < sum.workers.size(); ++a) {
    text += fmt::format("<tr><th>{}</th>", a);
    for (std::size_t b = 0; b < sum.workers.size(); ++b) {
      std::size_t const n = sum.steals[a][b];
      text += fmt::format("<td{} style='background:rgba(200,90,30,{:.2f})'>{}</td>",
                          sum.workers[a].squad == sum.workers[b].squad ? R"( class="near")" : "",
                          0.8 * static_cast<double>(n) / static_cast<double>(most), a == b ? "" : std::to_string(n));
    }
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

HEIST_COLD_BODY std::string steal_tree_list(trace_summary const& sum) {
  std::string text = "<table>\n";
  for (steal_line const& l : steal_lines{sum.steal_tree, 100, 8}.all()) {
    text += fmt::format("<tr><td class=\"name\" style=\"padding-left:{}em\">{}</td>", 2 * l.depth + 1,
                        text_of(sum.steal_tree, l));
    double const busy =
        l.branch == trace_summary::branch::none ? 0 : percent_of(sum.steal_tree[l.branch].busy_ns, sum.elapsed_ns);
    text += fmt::format("<td class=\"bar\"><span style=\"width:{:.1f}%\"></span></td></tr>\n", std::min(busy, 100.0));
  }
  return text + "</table>\n";
}

HEIST_COLD_BODY std::string tasks_table(std::vector<trace_summary::task> const& tasks, std::size_t most) {
  std::string text = "<table><tr><th>task</th><th>worker</th><th>begins</th><th>busy</th><th>until its end</th></tr>\n";
  for (std::size_t i = 0; i < tasks.size() && i < most; ++i) {
    trace_summary::task const& t = tasks[i];
    text += fmt::format("<tr><td class=\"name\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        html_text(t.name), t.worker, time_text(t.begin_ns), time_text(t.busy_ns),
                        time_text(t.end_ns - t.begin_ns));
  }
  if (tasks.size() > most) text += fmt::format("<tr><td class=\"name\">... {} more</td></tr>\n", tasks.size() - most);
  return text + "</table>\n";
}

HEIST_COLD_BODY std::string names_table(std::vector<trace_summary::name> const& names, char const* time) {
  std::string text = fmt::format("<table><tr><th>name</th><th>times</th><th>{}</th><th>longest</th></tr>\n", time);
  for (trace_summary::name const& n : names) {
    text += fmt::format("<tr><td class=\"name\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", html_text(n.name),
                        n.times, time_text(n.busy_ns), time_text(n.longest_ns));
  }
  return text + "</table>\n";
}

HEIST_COLD_BODY std::string workers_table(trace_summary const& sum) {
  std::string text =
      "<table><tr><th>worker</th><th>squad</th><th>tasks</th><th>busy</th><th>searching</th><th>asleep</th><th>times "
      "asleep</th><th></th></tr>\n";
  for (std::size_t w = 0; w < sum.workers.size(); ++w) {
    auto const& worker = sum.workers[w];
    double const busy = percent_of(worker.busy_ns, sum.elapsed_ns);
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.1f} %</td><td>{:.1f} %</td><td>{:.1f} %</td><td>{}</td>"
        "<td class=\"bar\"><span style=\"width:{:.1f}%\"></span></td></tr>\n",
        w, worker.squad, worker.tasks, busy, percent_of(sum.searching_ns(w), sum.elapsed_ns),
        percent_of(worker.asleep_ns, sum.elapsed_ns), worker.sleeps, std::min(busy, 100.0));
  }
  return text + "</table>\n";
}

inline constexpr char const* page_head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>heist: a recorded program</title>
<style>
body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 1220px; padding: 0 1em; color: #222; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; } th, td { padding: 2px 10px; text-align: right; font-weight: normal; }
th { color: #666; } td.name { text-align: left; font-family: monospace; } td.near { outline: 1px solid #999; }
#timeline { touch-action: pan-y; }
td.bar { width: 16em; } td.bar span { display: block; height: 0.8em; background: #4a8; }
svg { width: 100%; height: auto; } svg text { font: 12px sans-serif; fill: #555; } .grid { stroke: #ddd; }
.nap { fill: #ccd; } .dust { fill: #9ab; } .box { fill: #f4f7fa; stroke: #789; } .edge { fill: none; stroke: #9ab; } .graph { overflow: auto; max-height: 90vh; }
.graph svg { max-width: none; } .critical { stroke: #d00; stroke-width: 2; }
</style></head><body>
)";

/// The wheel zooms the timeline around the mouse, the mouse drags it, a double click shows all of it.
inline constexpr char const* page_script = R"(<script>
const all = document.getElementById("timeline"), left = 110, width = 1080, whole = +all.dataset.ns;
const bars = [...all.querySelectorAll("rect")].map(e => [e, (+e.getAttribute("x") - left) / width, +e.getAttribute("width") / width]);
const ticks = [...all.querySelectorAll(".tick")];
let zoom = 1, begin = 0, held = null;
const time = ns => ns >= 1e9 ? (ns / 1e9).toFixed(3) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" : (ns / 1e3).toFixed(3) + " us";
const at = e => { const r = all.getBoundingClientRect(); return ((e.clientX - r.left) / r.width * (left + width + 10) - left) / width; };
function show(z, b) {
  zoom = Math.min(Math.max(z, 1), 1000);
  begin = Math.min(Math.max(b, 0), 1 - 1 / zoom);
  for (const [e, x, w] of bars) {
    const from = Math.max((x - begin) * zoom, 0), to = Math.min((x + w - begin) * zoom, 1);
    e.style.display = to < from ? "none" : "";
    e.setAttribute("x", left + from * width);
    e.setAttribute("width", Math.max((to - from) * width, 0.3));
  }
  ticks.forEach((t, i) => t.textContent = time(whole * (begin + i / 10 / zoom)));
}
all.addEventListener("wheel", e => {
  e.preventDefault();
  const z = Math.min(Math.max(zoom * Math.exp(-e.deltaY / 400), 1), 1000);
  show(z, begin + at(e) * (1 / zoom - 1 / z));
}, {passive: false});
all.addEventListener("pointerdown", e => { held = begin + at(e) / zoom; });
addEventListener("pointermove", e => { if (held !== null) show(zoom, held - at(e) / zoom); });
addEventListener("pointerup", () => { held = null; });
all.addEventListener("dblclick", () => show(1, 0));
</script>
)";

}  // namespace detail

HEIST_COLD_BODY void write_report(std::ostream& out, recorder const& recording, task_edges const* edges,
                                  std::vector<std::uint32_t> const& squad_of) {
  edges = detail::edges_of(recording, edges);
  detail::report_sink seen{recording, edges, squad_of};
  seen.sum.recorded = detail::recorded_here({});
  detail::write_page(out, seen, edges);
}

HEIST_COLD_BODY void detail::write_page(std::ostream& out, report_sink const& seen, task_edges const* edges) {
  trace_summary const& sum = seen.sum;
  out << detail::page_head
      << fmt::format(
             "<h1>{} on {} worker{}</h1>\n<p>{}</p>\n<p>{} tasks; workers were busy for {:.1f} % of the time. {} "
             "steals, {} of them within squads; tasks parked: {}.</p>\n",
             detail::time_text(sum.elapsed_ns), sum.workers.size(), sum.workers.size() == 1 ? "" : "s",
             detail::html_text(sum.recorded), sum.tasks, 100 * sum.utilisation(), sum.steal_count(),
             sum.steals_within_squads(), sum.parks);
  if (sum.released != 0)
    out << fmt::format("<p>{} events or edges are missing: there was no room for them.</p>\n", sum.released);
  out << "<h2>Timeline</h2>\n" << detail::timeline_drawing{seen}.svg();
  out << "<p>Names have colours; grey-blue: many short tasks; thin: asleep; red: on the critical path. Each "
         "rectangle says what it is under the mouse. The wheel zooms, the mouse drags, a double click shows all.</p>\n";
  out << "<h2>Workers</h2>\n" << detail::workers_table(sum);
  out << "<h2>Steals</h2>\n" << detail::steals_table(sum) << "<p>Framed: within a squad.</p>\n";
  if (sum.steal_count() != 0)
    out << "<h2>Steal tree</h2>\n"
        << detail::steal_tree_list(sum)
        << "<p>What each worker did until its next steal or sleep stands below what it was taken from; the same way "
           "from worker to worker is one line. The busiest stand first.</p>\n";
  if (!sum.critical_path.empty())
    out << fmt::format(
               "<h2>Critical path: {} task{}, busy for {}</h2>\n<p>The chain of tasks, along the edges of graphs, "
               "that was busy longest: its pass could not be shorter. I{}. W{}.</p>\n",
               sum.critical_path.size(), sum.critical_path.size() == 1 ? "" : "s", detail::time_text(sum.critical_ns),
               detail::passes_text(sum).substr(1), detail::one_more_text(sum).substr(1))
        << (edges == nullptr ? "" : detail::graph_drawing{seen, *edges}.html())
        << detail::tasks_table(sum.critical_path, 100);
  if (!sum.names.empty()) out << "<h2>Tasks by name</h2>\n" << detail::names_table(sum.names, "busy");
  if (!sum.waits.empty())
    out << "<h2>What parked tasks have waited for</h2>\n" << detail::names_table(sum.waits, "waited");
  out << "<h2>Longest tasks</h2>\n"
      << detail::tasks_table(sum.longest, 10) << detail::page_script << "</body></html>\n";
}

}  // namespace heist
