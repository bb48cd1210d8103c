// Plots as SVG: one or several panels of lines or of bars.
#pragma once

#include <fmt/format.h>

#include <algorithm>  // max, min
#include <array>
#include <cmath>    // abs, ceil, exp2, floor, log2, log10, pow
#include <cstddef>  // size_t
#include <string>
#include <string_view>
#include <utility>  // pair
#include <variant>
#include <vector>

namespace papers {

struct line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// Lines over a common x axis. With log_x the marks of the axis are powers of two.
struct line_panel {
  std::string title, x_title, y_title;
  bool log_x = false;
  std::vector<line> lines;
};

/// Groups of bars. Each group has a value for each name.
struct bar_panel {
  std::string title, y_title;
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::vector<double>>> groups;
};

using panel = std::variant<line_panel, bar_panel>;

namespace detail {

inline constexpr double panel_width = 720, panel_height = 340;

inline std::string xml(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

inline std::string_view color(std::size_t i) {
  static constexpr std::array<std::string_view, 8> colors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                          "#e69f00", "#56b4e9", "#444444", "#999933"};
  return colors[i % colors.size()];
}

/// The smallest step that divides `range` into at most `most` parts, among 1, 2 and 5 times powers of ten.
inline double round_step(double range, double most) {
  double const decade = std::pow(10, std::floor(std::log10(range / most)));
  for (double const digit : {1., 2., 5.}) {
    if (decade * digit * most >= range) return decade * digit;
  }
  return decade * 10;
}

/// Draws one panel: the axes, and a legend at the right. The y axis starts at 0, or below if a value is negative.
class drawing {
 public:
  drawing(std::string& out, double top) : out_{out}, above_{top + 40}, ground_{top + panel_height - 58} {}

  void draw(line_panel const& p) {
    double low = 0, high = 0, first = 0, last = 0;
    bool any = false;
    for (auto const& l : p.lines) {
      for (auto const& [x, y] : l.points) {
        double const at = p.log_x ? std::log2(x) : x;
        first = any ? std::min(first, at) : at;
        last = any ? std::max(last, at) : at;
        low = std::min(low, y);
        high = std::max(high, y);
        any = true;
      }
    }
    if (!p.log_x) first = std::min(first, 0.);
    y_axis(low, high, p.title, p.y_title);
    double const range = last > first ? last - first : 1;
    auto const place = [&](double x) { return left + (right - left) * ((p.log_x ? std::log2(x) : x) - first) / range; };
    double const step = p.log_x ? 1 : round_step(range, 8);
    for (double at = std::ceil(first / step) * step; at <= last + step / 1000; at += step) {
      double const x = p.log_x ? std::exp2(at) : at;
      text(place(x), ground_ + 18, fmt::format("{:g}", x), "middle");
      out_ += fmt::format("<path d=\"M{:.1f} {:.1f}v5\" stroke=\"#333\"/>\n", place(x), ground_);
    }
    text((left + right) / 2, ground_ + 40, p.x_title, "middle");
    for (std::size_t i = 0; i < p.lines.size(); ++i) {
      std::string path;
      for (auto const& [x, y] : p.lines[i].points)
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', place(x), height(y));
      out_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, color(i));
      legend(i, p.lines[i].name);
    }
  }

  void draw(bar_panel const& p) {
    double low = 0, high = 0;
    for (auto const& [name, values] : p.groups) {
      for (double const v : values) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
    }
    y_axis(low, high, p.title, p.y_title);
    double const group = (right - left) / static_cast<double>(std::max<std::size_t>(1, p.groups.size()));
    double const bar = 0.8 * group / static_cast<double>(std::max<std::size_t>(1, p.names.size()));
    for (std::size_t g = 0; g < p.groups.size(); ++g) {
      double const from = left + group * (static_cast<double>(g) + 0.1);
      auto const& [name, values] = p.groups[g];
      text(from + 0.4 * group, ground_ + 18, name, "middle");
      for (std::size_t i = 0; i < values.size(); ++i)
        out_ += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}, {}: "
            "{:.4g}</title></rect>\n",
            from + bar * static_cast<double>(i), std::min(height(values[i]), height(0)), 0.9 * bar,
            std::abs(height(values[i]) - height(0)), color(i), xml(name), xml(p.names[i]), values[i]);
    }
    for (std::size_t i = 0; i < p.names.size(); ++i) legend(i, p.names[i]);
  }

 private:
  static constexpr double left = 70, right = 530;

  void text(double x, double y, std::string_view what, std::string_view anchor, std::string_view more = "") {
    out_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, xml(what));
  }

  void y_axis(double low, double high, std::string const& title, std::string const& unit) {
    double const step = round_step(high > low ? high - low : 1, 6);
    low_ = std::floor(low / step) * step;
    high_ = std::max(std::ceil(high / step), low_ / step + 1) * step;
    text(left, above_ - 14, title, "start", " font-weight=\"bold\"");
    for (double y = low_; y <= high_ + step / 1000; y += step) {
      bool const zero = std::abs(y) < step / 1000;
      out_ +=
          fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"{}\"/>\n", left, height(y), right, zero ? "#333" : "#ddd");
      text(left - 8, height(y) + 4, fmt::format("{:g}", zero ? 0 : y), "end");
    }
    double const middle = (above_ + ground_) / 2;
    text(16, middle, unit, "middle", fmt::format(" transform=\"rotate(-90 16 {:.1f})\"", middle));
  }

  void legend(std::size_t i, std::string const& name) {
    double const y = above_ + 8 + 18 * static_cast<double>(i);
    out_ += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", right + 14, y - 10,
                        color(i));
    text(right + 32, y, name, "start");
  }

  double height(double y) const { return ground_ - (ground_ - above_) * (y - low_) / (high_ - low_); }

  std::string& out_;
  double above_, ground_;
  double low_ = 0, high_ = 1;
};

}  // namespace detail

/// An SVG picture of all panels, one below the other.
inline std::string plot(std::string_view title, std::vector<panel> const& panels) {
  constexpr double head = 44;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\" "
      "fill=\"#333\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"16\" y=\"28\" font-size=\"17\">{2}</text>\n",
      detail::panel_width, head + detail::panel_height * static_cast<double>(panels.size()), detail::xml(title));
  for (std::size_t i = 0; i < panels.size(); ++i) {
    detail::drawing drawing{out, head + detail::panel_height * static_cast<double>(i)};
    std::visit([&](auto const& p) { drawing.draw(p); }, panels[i]);
  }
  return out + "</svg>\n";
}

}  // namespace papers
