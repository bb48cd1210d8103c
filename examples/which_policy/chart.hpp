// The comparison as a picture (SVG): the speed-up of each policy by the number of workers, and its bounds. For the most
// workers it shows times, and lines fetched from memory (or attempts to steal, if the program touches no memory).
#pragma once

#include <fmt/format.h>

#include <algorithm>  // clamp, max, min
#include <array>
#include <cmath>    // ceil, exp2, floor, log2
#include <cstddef>  // size_t
#include <string>
#include <string_view>

#include "comparison.hpp"
#include "decision.hpp"

namespace which_policy {
namespace detail {

inline std::string xml_text(std::string_view text) {
  std::string result;
  for (char const c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else {
      result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return result;
}

/// Colours that colour-blind people can distinguish, too.
inline std::string_view line_color(std::size_t policy) {
  static constexpr std::array<std::string_view, 7> colors{"#444444", "#0072b2", "#56b4e9", "#009e73",
                                                          "#e69f00", "#d55e00", "#cc79a7"};
  return colors[policy % colors.size()];
}

class drawing {
 public:
  explicit drawing(comparison const& c) : c_{c} {}

  std::string draw(std::string_view title, std::string_view where, std::string_view answer) {
    rows_ = static_cast<double>(c_.policies.size());
    double const height = std::max(460.0, bars_top + 2 * (rows_ * bar_step + 50));
    svg_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
        "font-size=\"12\" fill=\"#333\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        width, height);
    text(left, 28, title, "start", " font-size=\"17\"");
    text(left, 48, where, "start", " fill=\"#666\"");
    text(left, 66, answer, "start", " fill=\"#666\"");
    draw_speedups();
    double const next = draw_bars(bars_top, fmt::format("time on {} workers", c_.workers.back()), time_of,
                                  [](double v) { return time_text(v); });
    bool touches_memory = false;
    for (auto const& r : c_.last()) touches_memory = touches_memory || r.median.cache.accesses != 0;
    if (touches_memory) {
      draw_bars(next, "lines of 64 bytes from memory (shared misses)", memory_of,
                [](double v) { return fmt::format("{:.0f}", v); });
    } else {
      draw_bars(next, "attempts to steal", attempts_of, [](double v) { return fmt::format("{:.0f}", v); });
    }
    return svg_ + "</svg>\n";
  }

 private:
  static constexpr double width = 980, left = 64, right = 500, top = 120, ground = 400;
  static constexpr double bars_left = 660, bars_right = 880, bars_top = 104, bar_step = 20;

  static double memory_of(result const& r) { return static_cast<double>(r.median.cache.memory); }
  static double attempts_of(result const& r) { return static_cast<double>(r.median.attempts); }

  void text(double x, double y, std::string_view what, std::string_view anchor, std::string_view more = {}) {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                        xml_text(what));
  }

  /// Both axes are logarithmic, with base 2.
  double x(std::uint32_t workers) const {
    double const first = std::log2(c_.workers.front()), last = std::log2(c_.workers.back());
    return last == first ? (left + right) / 2 : left + (right - left) * (std::log2(workers) - first) / (last - first);
  }
  double y(double speedup) const {
    double const share = (std::log2(std::max(speedup, 1e-9)) - low_) / (high_ - low_);
    return ground - (ground - top) * std::clamp(share, 0.0, 1.0);
  }

  void draw_speedups() {
    low_ = 1e9, high_ = -1e9;
    auto const cover = [&](double speedup) {
      low_ = std::min(low_, std::floor(std::log2(speedup)));
      high_ = std::max(high_, std::ceil(std::log2(speedup)));
    };
    for (std::size_t w = 0; w < c_.workers.size(); ++w) {
      for (auto const& r : c_.results[w]) cover(c_.speedup(r));
      cover(most(w)), cover(least(w));
    }
    high_ = std::max(high_, low_ + 1);
    text(left, top - 14, "speed-up (grey: between the bounds)", "start", " font-weight=\"bold\"");
    std::string band;
    for (std::size_t w = 0; w < c_.workers.size(); ++w) band += point(w, most(w));
    for (std::size_t w = c_.workers.size(); w-- > 0;) band += point(w, least(w));
    svg_ += fmt::format("<path d=\"M{}Z\" fill=\"#e4e4e4\" stroke=\"#cccccc\"/>\n", band);
    for (double at = low_; at <= high_; ++at) {
      double const value = std::exp2(at);
      svg_ += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#333\" stroke-opacity=\"{}\"/>\n", left, y(value), right,
                          at == low_ ? 1 : 0.15);
      text(left - 8, y(value) + 4, fmt::format("{:g}", value), "end");
    }
    double last_label = -100;
    for (auto const w : c_.workers) {
      svg_ += fmt::format("<path d=\"M{:.1f} {}v5\" stroke=\"#333\"/>\n", x(w), ground);
      if (x(w) - last_label < 26) continue;
      text(last_label = x(w), ground + 20, fmt::format("{}", w), "middle");
    }
    text((left + right) / 2, ground + 42, "workers", "middle");
    for (std::size_t p = 0; p < c_.policies.size(); ++p) {
      std::string path;
      for (std::size_t w = 0; w < c_.workers.size(); ++w) path += point(w, c_.speedup(c_.results[w][p]));
      svg_ += fmt::format("<path d=\"M{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, line_color(p));
      for (std::size_t w = 0; w < c_.workers.size(); ++w) {
        double const speedup = c_.speedup(c_.results[w][p]);
        svg_ += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}, {} workers: {:.2f}</title></circle>\n",
            x(c_.workers[w]), y(speedup), line_color(p), c_.policies[p]->name, c_.workers[w], speedup);
      }
    }
  }

  double most(std::size_t w) const { return c_.work / c_.least_time(c_.workers[w]); }
  double least(std::size_t w) const { return c_.work / c_.greedy_time(c_.workers[w]); }
  std::string point(std::size_t w, double speedup) const {
    return fmt::format("{:.1f} {:.1f} ", x(c_.workers[w]), y(speedup));
  }

  /// Returns the position at which the next bars may begin.
  template <class Value, class Text>
  double draw_bars(double from, std::string_view title, Value value, Text label) {
    double largest = 0;
    for (auto const& r : c_.last()) largest = std::max(largest, value(r));
    text(bars_left - 120, from + 2, title, "start", " font-weight=\"bold\"");
    for (std::size_t p = 0; p < c_.policies.size(); ++p) {
      double const at = from + 14 + bar_step * static_cast<double>(p), v = value(c_.last()[p]);
      double const length = largest == 0 ? 0 : (bars_right - bars_left) * v / largest;
      text(bars_left - 8, at + 12, c_.policies[p]->name, "end");
      svg_ += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", bars_left, at,
                          length, bar_step - 4, line_color(p));
      text(bars_left + length + 6, at + 12, label(v), "start");
    }
    return from + 14 + bar_step * rows_ + 40;
  }

  comparison const& c_;
  std::string svg_;
  double rows_ = 0, low_ = 0, high_ = 1;
};

}  // namespace detail

inline std::string chart(std::string_view program, std::string_view machine, comparison const& c, decision const& v) {
  return detail::drawing{c}.draw(fmt::format("Which policy suits {}?", program), machine, v.headline);
}

}  // namespace which_policy
