// The candidates of a comparison: the schedulers under each policy, blocks placed by hand, the serial program.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/topology.hpp>

#include <cstddef>  // size_t
#include <cstdint>
#include <functional>
#include <memory>  // make_shared
#include <optional>
#include <string>
#include <utility>  // move
#include <vector>

#include "by_hand.hpp"
#include "options.hpp"
#include "policies.hpp"
#include "program.hpp"
#include "regions.hpp"
#include "tally.hpp"
#include "timing.hpp"

namespace locality {

struct candidate {
  std::string name;
  std::function<timed()> run;
  std::function<void(candidate&)> look = {};  ///< a run on its own, to see more than the time

  std::vector<double> rounds = {};       ///< ns per element
  std::vector<double> first_steps = {};  ///< seconds
  std::vector<double> has_waited = {};   ///< share of the time that some thread had no CPU
  std::optional<staying> stays = {};
  std::optional<std::uint32_t> boundary_level = {};
  std::string note = {};
  std::string wrong = {};  ///< empty: all results were right
};

/// Executes one run of `program`, as one task that enters the region once per step.
template <class Policy, class P>
class scheduled {
 public:
  scheduled(P& program, options const& o, span_of_steps steps, std::optional<std::uint32_t> boundary_level)
      : program_{&program}, executor_options_{o.for_executor(P::about.stack)}, steps_{steps} {
    region_options_.branching = P::branching;
    region_options_.bytes = P::about.bound == bound_by::memory ? program.bytes() : 0;
    region_options_.boundary_level = boundary_level;
  }

  timed run() const {
    heist::executor<Policy> ex{executor_options_};
    heist::region steps{region_options_};
    return run_on(ex, steps, steps_, no_notes{});
  }

  void look(candidate& c) const {
    constexpr std::size_t most = 200;
    heist::executor<Policy> ex{executor_options_};
    heist::region steps{region_options_};
    if constexpr (requires { P::sweeps_per_step; }) {
      tally notes{ex.worker_count()};
      run_on(ex, steps, {0, std::min(most, steps_.all())}, notes);
      c.stays = notes.shares();
    } else {
      run_on(ex, steps, {0, 2}, no_notes{});
    }
    c.note = steps.explain();
    c.boundary_level = steps.boundary_level();
  }

 private:
  template <class Notes>
  timed run_on(heist::executor<Policy>& ex, heist::region& r, span_of_steps steps, Notes const& notes) const {
    program_->prepare();
    return ex.invoke([&](auto ctx) {
      return time_steps(*program_, steps,
                        [&](std::size_t i) { enter(ctx, r, [&](auto c) { program_->step(c, i, notes); }); });
    });
  }

  P* program_;
  heist::options executor_options_;
  heist::region_options region_options_;
  span_of_steps steps_;
};

template <class Policy, class P>
candidate make_scheduled(std::string name, P& program, options const& o, span_of_steps steps,
                         std::optional<std::uint32_t> boundary_level = {}) {
  scheduled<Policy, P> const s{program, o, steps, boundary_level};
  return {.name = std::move(name), .run = [s] { return s.run(); }, .look = [s](candidate& c) { s.look(c); }};
}

/// The serial program, on a thread pinned to the machine's first PU.
template <class P>
candidate make_serial(P& program, heist::topology::machine const& machine, span_of_steps steps) {
  return {.name = "serial", .run = [&program, &machine, steps] {
            timed result;
            std::jthread{[&] {
              heist::topology::bind_this_thread(machine, 0u);
              program.prepare();
              result = time_steps(program, steps, [&](std::size_t i) { program.serial_step(i); });
            }}.join();
            return result;
          }};
}

template <class P>
candidate make_by_hand(std::string name, P& program, placement how, heist::topology::machine const& machine,
                       std::size_t threads, span_of_steps steps) {
  auto const blocks = std::make_shared<by_hand<P>>(program, how, machine, threads, steps);
  return {.name = std::move(name), .run = [blocks] { return blocks->run(); }};
}

}  // namespace locality
