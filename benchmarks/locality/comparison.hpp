// A comparison: all contestants in turn, round by round, every result compared with the serial one.
#pragma once

#include <cstddef>  // size_t
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "candidates.hpp"
#include "timing.hpp"

namespace locality {

struct comparison {
  std::string title;
  std::string unit;  ///< unit of the contestants' rounds after division by `scale`
  double scale = 1;
  std::string reference;  ///< the name of the contestant whose time the others' are divided by
  std::vector<candidate> candidates;
  std::string summary;

  double reference_time() const {
    for (candidate const& c : candidates) {
      if (c.name == reference) return median(c.rounds);
    }
    return 0;
  }
  bool right() const {
    for (candidate const& c : candidates) {
      if (!c.wrong.empty()) return false;
    }
    return true;
  }
};

/// `program` has been solved serially, in `steps` steps, before; all contestants solve it again. A run in which threads
/// waited for CPUs longer than `calm` percent of its time is repeated, up to 8 runs in all. If `calm` is 0, no run is
/// repeated.
template <class P>
void contend(P& program, comparison& all, span_of_steps steps, std::size_t rounds, double calm) {
  constexpr int most_runs = 8;
  auto const expected = program.result(steps.all());
  auto const evaluate = [&](candidate& c) {
    if (c.wrong.empty() && !(program.result(steps.all()) == expected))
      c.wrong = "the result differs from the serial one";
  };
  for (std::size_t round = 0; round < rounds; ++round) {
    for (candidate& c : all.candidates) {
      try {
        timed t = c.run();
        for (int runs = 1; runs < most_runs && calm > 0 && 100 * t.has_waited > calm * t.seconds; ++runs) t = c.run();
        c.rounds.push_back(t.per_element());
        c.has_waited.push_back(t.has_waited / t.seconds);
        if (t.first_step > 0) c.first_steps.push_back(t.first_step);
        evaluate(c);
      } catch (std::exception const& e) {
        c.wrong = e.what();
      }
    }
  }
  for (candidate& c : all.candidates) {
    if (c.look) c.look(c);
  }
}

}  // namespace locality
