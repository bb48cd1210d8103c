// Lists of numbers of workers, as every benchmark program takes them: --workers 1,2,4..max
#pragma once

#include <heist/topology.hpp>

#include <fmt/format.h>

#include <algorithm>  // min, sort, unique
#include <charconv>   // from_chars
#include <cstddef>    // size_t
#include <stdexcept>  // invalid_argument
#include <string>
#include <string_view>
#include <system_error>  // errc
#include <utility>       // move
#include <vector>

namespace bench {

inline constexpr std::size_t most_workers = 1024;
inline constexpr char const* workers_syntax =
    "numbers of workers, such as 1,2,4..max: a..b doubles from a to b, and max is what this process may use";

/// As many workers as this process may use: its CPUs, or its quota of CPU time if that is less.
inline std::size_t usable_workers() {
  return heist::topology::usable_cpus(heist::topology::this_machine());
}

namespace detail {

class worker_list_parser {
 public:
  worker_list_parser(std::string_view list, std::size_t max) : list_{list}, max_{std::min(max, most_workers)} {}

  std::vector<std::size_t> parse() {
    for (std::size_t begin = 0; begin <= list_.size();) {
      std::size_t const end = std::min(list_.find(',', begin), list_.size());
      add(list_.substr(begin, end - begin));
      begin = end + 1;
    }
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  [[noreturn]] void fail(std::string const& why) const {
    throw std::invalid_argument{fmt::format("the list of workers '{}': {}", list_, why)};
  }

  std::size_t number(std::string_view text) const {
    if (text == "max") return max_;
    std::size_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty()) fail("a number is missing; write numbers and ranges with one comma between two of them");
    if (error == std::errc::invalid_argument || end != text.data() + text.size())
      fail(fmt::format("'{}' is no number; write a number, max, or a range such as 2..max", text));
    if (error != std::errc{} || value > most_workers)
      fail(fmt::format("'{}' is too large; at most {} workers are possible", text, most_workers));
    if (value == 0) fail("0 workers cannot run anything; write max for as many as this process may use");
    return value;
  }

  void add(std::string_view part) {
    std::size_t const dots = part.find("..");
    if (dots == std::string_view::npos) {
      found_.push_back(number(part));
      return;
    }
    std::string_view const last_text = part.substr(dots + 2);
    if (last_text.find('.') != std::string_view::npos)
      fail(fmt::format("'{}' has too many dots; a range is a first number, two dots and a last number", part));
    std::size_t const first = number(part.substr(0, dots)), last = number(last_text);
    if (first > last && last_text != "max")
      fail(fmt::format("'{}' begins above its end; write the smaller number first", part));
    for (std::size_t n = first; n < last; n *= 2) found_.push_back(n);
    found_.push_back(last);
  }

  std::string_view list_;
  std::size_t max_;
  std::vector<std::size_t> found_;
};

}  // namespace detail

/// The numbers of the list, ascending, each once. `max` is the value of the word max. A range up to max that begins
/// above it is max alone, so that 1,2,4..max works on any machine. Throws std::invalid_argument with one sentence.
inline std::vector<std::size_t> worker_list(std::string_view list, std::size_t max = usable_workers()) {
  return detail::worker_list_parser{list, max}.parse();
}

/// The option --workers of a program with CLI11. `list` has the default, and gets a list that worker_list() takes.
template <class App>
auto* add_workers_option(App& app, std::string& list, std::string_view more = "") {
  return app.add_option("--workers", list, fmt::format("{}{}", workers_syntax, more))
      ->type_name("LIST")
      ->capture_default_str()
      ->check([](std::string const& text) {
        try {
          worker_list(text);
        } catch (std::invalid_argument const& e) {
          return std::string{e.what()};
        }
        return std::string{};
      });
}

}  // namespace bench
