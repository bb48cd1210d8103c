// A histogram of the slacks of the end points, as SVG.
#pragma once

#include "end_points.hpp"
#include "error.hpp"

#include <fmt/format.h>

#include <algorithm>  // count_if, max_element, minmax_element
#include <iterator>   // back_inserter
#include <string>
#include <string_view>
#include <vector>

namespace timing {
namespace detail {

inline std::string xml_text(std::string_view text) {
  std::string result;
  for (char const c : printable(text)) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else
      result += c;
  }
  return result;
}

/// The least of 1, 2, 5, 10, 20, 50, ... times `unit` such that `most` steps cover `range`.
inline std::int64_t round_step(std::int64_t range, std::int64_t most, std::int64_t unit) {
  for (std::int64_t decade = unit;; decade *= 10) {
    for (std::int64_t const digit : {1, 2, 5}) {
      if (decade * digit * most >= range) return decade * digit;
    }
  }
}

inline std::int64_t floor_to(std::int64_t x, std::int64_t step) {
  return (x < 0 ? x - step + 1 : x) / step * step;
}

/// Counts slacks in steps of a round number of picoseconds, and places the bars in the picture.
class histogram {
 public:
  explicit histogram(std::vector<femtoseconds> const& slacks) {
    auto const [least, most] = std::minmax_element(slacks.begin(), slacks.end());
    step_ = round_step(*most - *least + 1, most_bars, 100);
    low_ = floor_to(*least, step_);
    counts_.resize(static_cast<std::size_t>((*most - low_) / step_ + 1));
    for (auto const s : slacks) ++counts_[static_cast<std::size_t>((s - low_) / step_)];
    count_step_ = round_step(static_cast<std::int64_t>(*std::max_element(counts_.begin(), counts_.end())), 5, 1);
    top_count_ =
        floor_to(static_cast<std::int64_t>(*std::max_element(counts_.begin(), counts_.end())) - 1, count_step_) +
        count_step_;
  }

  void draw(std::string& svg) const {
    auto out = std::back_inserter(svg);
    for (std::int64_t count = 0; count <= top_count_; count += count_step_) {
      fmt::format_to(out, "<path d=\"M{} {:.1f}H{}\" stroke=\"{}\"/>\n", left, y(count), right,
                     count == 0 ? "#333" : "#ddd");
      fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 8, y(count) + 4, count);
    }
    for (std::size_t i = 0; i < counts_.size(); ++i) draw_bar(out, i);
    auto const high = low_ + step_ * static_cast<femtoseconds>(counts_.size());
    auto const tick = round_step(high - low_, 8, step_);
    for (auto at = floor_to(low_ + tick - 1, tick); at <= high; at += tick) {
      fmt::format_to(out, "<path d=\"M{0:.1f} {1}v5\" stroke=\"#333\"/>\n", x(at), ground);
      fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", x(at), ground + 20,
                     static_cast<double>(at) / 1000);
    }
    if (low_ < 0 && high > 0) {
      fmt::format_to(out, "<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#333\" stroke-dasharray=\"4 3\"/>\n", x(0), top,
                     ground);
    }
  }

  static constexpr int width = 800, height = 400, left = 64, right = 776, top = 70, ground = 340;

 private:
  static constexpr std::int64_t most_bars = 50;

  template <class Out>
  void draw_bar(Out& out, std::size_t i) const {
    if (counts_[i] == 0) return;
    auto const begin = low_ + static_cast<femtoseconds>(i) * step_;
    auto const count = static_cast<std::int64_t>(counts_[i]);
    auto const gap = (x(step_) - x(0)) / 10;
    fmt::format_to(out,
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{} end "
                   "points, {:g} to {:g} ps</title></rect>\n",
                   x(begin) + gap / 2, y(count), x(begin + step_) - x(begin) - gap, ground - y(count),
                   begin < 0 ? "#c0392b" : "#2e86ab", count, static_cast<double>(begin) / 1000,
                   static_cast<double>(begin + step_) / 1000);
  }

  double x(femtoseconds slack) const {
    auto const range = static_cast<double>(step_) * static_cast<double>(counts_.size());
    return left + (right - left) * static_cast<double>(slack - low_) / range;
  }
  double y(std::int64_t count) const {
    return ground - (ground - top) * static_cast<double>(count) / static_cast<double>(top_count_);
  }

  femtoseconds low_ = 0;
  femtoseconds step_ = 1;
  std::vector<std::size_t> counts_;
  std::int64_t count_step_ = 1;
  std::int64_t top_count_ = 1;
};

}  // namespace detail

/// A histogram of the worst slack of each end point. Bars of end points that are too late are red.
inline std::string slack_histogram(netlist const& circuit, times const& t) {
  using drawing = detail::histogram;
  auto const slacks = end_point_slacks(circuit, t);
  auto const late = std::count_if(slacks.begin(), slacks.end(), [](femtoseconds s) { return s < 0; });
  auto svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"13\" "
      "fill=\"#333\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"28\" font-size=\"18\">Slack of the end points of {3}</text>\n"
      "<text x=\"{2}\" y=\"48\" fill=\"#666\">{4} end points, {5} of them too late; period {6:.1f} ps</text>\n",
      drawing::width, drawing::height, drawing::left, detail::xml_text(circuit.name), slacks.size(), late,
      static_cast<double>(t.period()) / 1000);
  if (!slacks.empty()) drawing{slacks}.draw(svg);
  fmt::format_to(std::back_inserter(svg), "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">slack in ps</text>\n</svg>\n",
                 (drawing::left + drawing::right) / 2, drawing::ground + 44);
  return svg;
}

}  // namespace timing
