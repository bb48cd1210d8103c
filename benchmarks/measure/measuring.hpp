// Rows, their variants, and the rounds in which the variants of a row take turns.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>  // clamp, minmax_element, sort
#include <cstddef>    // size_t
#include <functional>
#include <stdexcept>  // runtime_error
#include <string>
#include <vector>

#include "../locality/waiting.hpp"
#include "../stopwatch.hpp"

namespace measure {

/// What the command line asks for.
struct request {
  std::vector<std::size_t> workers;
  std::size_t rounds = 7;
  double seconds = 10;  ///< about so long for a row; each variant has all its rounds in any case
  bool tiny = false;    ///< problems of milliseconds, to see that everything works
};

/// One of the ways to run a row's problem.
struct variant {
  std::string name;
  std::size_t workers = 1;
  std::function<double()> run;         ///< once; returns the seconds that count
  std::function<std::string()> check;  ///< whether the last run's result is right: empty, or what is wrong
};

/// `measure` returns an object with "figures", "size" in words, and more that the row has to say.
struct row {
  std::string family, group, name, what;
  std::function<nlohmann::json(request const&)> measure;
};

std::vector<row> scaling_rows();
std::vector<row> memory_rows();
std::vector<row> policy_rows();
std::vector<row> cpu_policy_rows();
std::vector<row> idle_rows();
std::vector<row> forecast_rows();
nlohmann::json describe_machine();

/// Hypervisors tell sizes of caches that no machine has: at most so much counts for each core.
inline constexpr std::size_t most_cache_of_core = std::size_t{32} << 20;

using bench::stopwatch;

template <class F>
double seconds_of(F&& f) {
  stopwatch const watch;
  f();
  return watch.seconds();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t const n = values.size();
  return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// A figure: a value for each round, their median, least and greatest.
inline nlohmann::json figure(std::string const& variant, std::size_t workers, std::vector<double> const& samples) {
  auto const [least, greatest] = std::minmax_element(samples.begin(), samples.end());
  return {{"variant", variant},        {"workers", workers}, {"samples", samples},
          {"median", median(samples)}, {"min", *least},      {"max", *greatest}};
}

/// Seconds of one sample, such that all rounds of so many variants take about the time that is asked for.
inline double seconds_of_sample(request const& o, std::size_t variants) {
  return o.seconds / (static_cast<double>(variants) * static_cast<double>(o.rounds + 1));
}

/// Measures all variants in turn, round by round; each round begins with another variant. Figures are in ns. `waited`
/// is the share of the time for which a worker was ready to run and had no CPU. There are fewer rounds if they
/// take longer than asked for, and less than three if they take much longer. Throws if a result is wrong.
inline nlohmann::json alternate(std::vector<variant> const& all, request const& o, std::size_t most_repeats = 100'000) {
  constexpr std::size_t few_rounds = 3;
  constexpr double longer = 1.5, much_longer = 4;
  struct state {
    std::size_t repeats = 1;
    std::vector<double> samples;
    double elapsed = 0, has_waited = 0;
  };
  std::vector<state> states(all.size());
  auto const check = [](variant const& v) {
    if (auto const wrong = v.check(); !wrong.empty())
      throw std::runtime_error{fmt::format("{} on {} workers: {}", v.name, v.workers, wrong)};
  };
  stopwatch const watch;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].run();  // memory, threads and caches
    check(all[i]);
    double const once = seconds_of([&] { all[i].run(); });
    states[i].repeats = static_cast<std::size_t>(
        std::clamp(seconds_of_sample(o, all.size()) / once, 1.0, static_cast<double>(most_repeats)));
  }
  for (std::size_t round = 0; round < o.rounds; ++round) {
    double const most = (round < few_rounds ? much_longer : longer) * o.seconds;
    if (round > 0 && o.seconds > 0 && watch.seconds() > most) break;
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::size_t const i = (k + round) % all.size();
      state& s = states[i];
      double sum = 0;
      double const waited_before = locality::cpu_wait();
      s.elapsed += seconds_of([&] {
        for (std::size_t n = 0; n < s.repeats; ++n) sum += all[i].run();
      });
      s.has_waited += locality::cpu_wait() - waited_before;
      s.samples.push_back(1e9 * sum / static_cast<double>(s.repeats));
      check(all[i]);
    }
  }
  auto figures = nlohmann::json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto f = figure(all[i].name, all[i].workers, states[i].samples);
    f["repeats"] = states[i].repeats;
    f["waited"] =
        std::clamp(states[i].has_waited / (states[i].elapsed * static_cast<double>(all[i].workers)), 0.0, 1.0);
    figures.push_back(f);
  }
  return figures;
}

}  // namespace measure
