// Bodies of graph_memory.hpp: the picture of a run.
#pragma once

#include <fmt/core.h>

#include <algorithm>  // max, sort
#include <ostream>

#include "heist/locality/history/graph_memory.hpp"

namespace heist {
namespace detail {

/// One task in the picture.
struct task_shape {
  std::uint32_t nth = 0;
  std::uint32_t depth = 0;  ///< how many tasks of its worker wait meanwhile
  bool has_waited = false;  ///< its worker began other tasks before it ended
};

/// The tasks that `worker` began, by their beginning.
HEIST_COLD_BODY std::vector<task_shape> row_of(std::vector<task_past> const& all, std::uint32_t worker) {
  std::vector<task_shape> row;
  for (std::uint32_t i = 0; i != all.size(); ++i) {
    if (all[i].worker == worker) row.push_back({i});
  }
  std::sort(row.begin(), row.end(), [&](task_shape const& a, task_shape const& b) {
    return all[a.nth].begin != all[b.nth].begin ? all[a.nth].begin < all[b.nth].begin
                                                : all[a.nth].place < all[b.nth].place;
  });
  std::vector<task_shape*> open;
  for (task_shape& t : row) {
    while (!open.empty() && all[open.back()->nth].end <= all[t.nth].begin) open.pop_back();
    for (task_shape* const o : open) o->has_waited = true;
    t.depth = static_cast<std::uint32_t>(std::min<std::size_t>(open.size(), 3));
    open.push_back(&t);
  }
  return row;
}

/// For texts in XML.
HEIST_COLD_BODY std::string escaped(std::string_view text) {
  std::string safe;
  for (char const c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

}  // namespace detail

HEIST_COLD_BODY void graph_memory::write_svg(std::ostream& out) const {
  constexpr double left = 90, width = 1200, height = 44, top = 30;
  std::int64_t span = 1;
  for (detail::task_past const& t : all_) span = std::max(span, t.end);
  double const scale = width / static_cast<double>(span);
  std::vector<std::string const*> names(all_.size());
  for (auto const& [nth, name] : names_) names[nth] = &name;
  out << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"10\">\n<text x=\"{:.0f}\" y=\"16\">{} tasks, {} workers, {} us. Black bar: made ready by another "
      "worker. Dashed: waited while its worker ran others.</text>\n",
      left + width + 20, top + height * std::max(1u, workers_) + 10, left, all_.size(), workers_, span / 1000);
  for (std::uint32_t w = 0; w != workers_; ++w) {
    double const y = top + height * w;
    out << fmt::format(
        "<text x=\"4\" y=\"{:.0f}\">worker {}</text>\n<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" "
        "height=\"{:.0f}\" fill=\"#eee\"/>\n",
        y + 22, w, left, y, width, height - 6);
    for (detail::task_shape const& d : detail::row_of(all_, w)) {
      detail::task_past const& t = all_[d.nth];
      std::string const name = names[d.nth] != nullptr ? detail::escaped(*names[d.nth]) : fmt::format("#{}", d.nth);
      double const x = left + static_cast<double>(t.begin) * scale;
      double const wide = std::max(0.5, static_cast<double>(t.end - t.begin) * scale);
      double const at = y + 8 * d.depth;
      bool const stolen = t.from != w;
      out << fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"hsl({},60%,75%)\" "
          "stroke=\"#555\" stroke-width=\"0.3\"{}><title>{}: {} us from {} us{}{}</title></rect>\n",
          x, at, wide, height - 6 - 8 * d.depth, d.nth * 47 % 360, d.has_waited ? " stroke-dasharray=\"3 2\"" : "",
          name, (t.end - t.begin) / 1000, t.begin / 1000,
          stolen ? fmt::format(", made ready by worker {}", t.from) : "", d.has_waited ? ", waited" : "");
      if (stolen)
        out << fmt::format("<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"1.5\" height=\"{:.0f}\"/>\n", x, at,
                           height - 6 - 8 * d.depth);
      if (wide > 8.0 * static_cast<double>(name.size()))
        out << fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\">{}</text>\n", x + 3, at + 14, name);
    }
  }
  out << "</svg>\n";
}

}  // namespace heist
