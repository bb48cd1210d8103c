// The programs of the papers under each policy, in turn.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/topology.hpp>

#include <algorithm>  // clamp, max, min
#include <cstddef>    // size_t
#include <memory>     // make_shared
#include <optional>
#include <string>
#include <string_view>
#include <utility>  // move
#include <vector>

#include "../locality/program.hpp"
#include "../locality/regions.hpp"
#include "../locality/timing.hpp"
#include "measuring.hpp"

namespace measure {

struct child_first : heist::policy::with_order<heist::policy::random, heist::order::child_first> {};

/// The squads of cab and cats: as by default, or by L2 where that would be one squad.
struct squad_choice {
  heist::squad_by level = heist::squad_by::automatic;
  std::size_t squads = 1;
  std::uint64_t cache_bytes = 0;  ///< of one squad

  static squad_choice of(std::size_t workers) {
    auto const& m = heist::topology::this_machine();
    squad_choice c;
    for (auto const level : {heist::squad_by::automatic, heist::squad_by::l2}) {
      auto const made = heist::topology::make_squads(m, level, workers);
      if (level != heist::squad_by::automatic && made.members.size() == 1) break;
      std::uint64_t const most = m.core_count() * most_cache_of_core / made.members.size();
      std::uint64_t const told =
          level == heist::squad_by::l2 ? m.l2_bytes : heist::topology::shared_cache_bytes(m, made);
      c = {level, made.members.size(), std::min(told, most)};
      if (c.squads > 1) break;
    }
    return c;
  }
  std::string text() const {
    return fmt::format("{} squad{}{}", squads, squads == 1 ? "" : "s",
                       level == heist::squad_by::l2 ? ", by L2 cache" : "");
  }
};

/// A size and a leaf, at least eight leaves for each worker. Memory-bound programs have data of three quarters of all
/// squads' caches. Others have the size `wanted`, or their usual one if that is 0.
template <class P>
locality::settings settings_for(request const& o, std::size_t workers, squad_choice const& squads, std::size_t wanted) {
  auto const& about = P::about;
  std::size_t size = o.tiny ? about.test : wanted != 0 ? wanted : about.usual;
  if (!o.tiny && about.bound == locality::bound_by::memory && P::bytes_for(about.usual) != 0) {
    constexpr std::size_t least = std::size_t{1} << 20, most = std::size_t{64} << 20;
    size =
        locality::size_for_bytes<P>(std::clamp<std::size_t>(squads.squads * squads.cache_bytes / 4 * 3, least, most));
  }
  if (about.leaf == 0) return {size, 0};
  std::size_t const leaves = std::max((about.usual + about.leaf - 1) / about.leaf, 8 * workers);
  return {size, std::max<std::size_t>(1, (size + leaves - 1) / leaves)};
}

/// A program under one policy. The executor and the region live as long as the row: policies learn from its runs.
template <class Policy, class P>
class under_policy {
 public:
  under_policy(P& program, std::size_t workers, squad_choice const& squads)
      : program_{program},
        executor_{heist::options{.workers = workers, .squads = squads.level, .stack_size = P::about.stack}},
        region_{
            {.branching = P::branching, .bytes = P::about.bound == locality::bound_by::memory ? program.bytes() : 0}} {
    if constexpr (std::is_same_v<Policy, heist::policy::replay>) region_.adapt();
  }

  locality::timed run(locality::span_of_steps steps) {
    program_.prepare();
    return executor_.invoke([&](auto ctx) {
      return locality::time_steps(program_, steps, [&](std::size_t i) {
        locality::enter(ctx, region_, [&](auto c) { program_.step(c, i, locality::no_notes{}); });
      });
    });
  }
  std::string explain() const { return region_.explain(); }

 private:
  P& program_;
  heist::executor<Policy> executor_;
  heist::region region_;
};

/// All policies on one number of workers, and the serial program. Figures are of one step.
template <class P>
class policy_comparison {
 public:
  policy_comparison(request const& o, std::size_t workers, std::size_t size)
      : squads_{squad_choice::of(workers)}, settings_{settings_for<P>(o, workers, squads_, size)}, program_{settings_} {
    variants_.push_back({"serial", 1, [this] { return serial(); }, [this] { return check(); }});
    add<heist::policy::random>("random", workers);
    add<child_first>("child-first", workers);
    add<heist::policy::cab>("cab", workers);
    add<heist::policy::cats>("cats", workers);
    add<heist::policy::replay>("replay", workers);
    add<heist::policy::automatic>("automatic", workers);
    choose_steps(o);
  }
  policy_comparison(policy_comparison const&) = delete;
  policy_comparison& operator=(policy_comparison const&) = delete;

  nlohmann::json measure(request const& o) {
    auto figures = alternate(variants_, o, 1);
    auto notes = nlohmann::json::object();
    for (auto const& [name, explain] : explanations_) {
      if (auto const text = explain(); !text.empty()) notes[name] = text;
    }
    return {{"figures", figures},
            {"size", fmt::format("{} {}{}", P::about.size_means, settings_.size,
                                 program_.bytes() == 0
                                     ? std::string{}
                                     : fmt::format(", {:.3g} MiB", static_cast<double>(program_.bytes()) / 1048576))},
            {"steps", steps_.timed},
            {"squads", squads_.text()},
            {"explained", notes}};
  }

 private:
  /// So many steps that a round takes its time. All variants take the same steps, because later ones may differ.
  void choose_steps(request const& o) {
    constexpr std::size_t most = 20'000;
    steps_ = {0, std::min<std::size_t>(3, program_.most_steps())};
    double step = 0;  // of each variant
    double const all_runs = seconds_of([&] {
      for (auto const& v : variants_) {
        step += v.run();
        v.check();
      }
    });
    double const of_round = o.seconds / static_cast<double>(o.rounds + 2);  // two runs come before the first round
    double const rest = std::max(0.0, all_runs - step * static_cast<double>(steps_.timed));  // data and checks
    double const for_steps = std::max(of_round - rest, of_round / 4);
    auto const wanted = static_cast<std::size_t>(std::clamp(for_steps / step, 2.0, static_cast<double>(most)));
    std::size_t const all_steps = std::min(wanted, program_.most_steps());
    steps_ = {all_steps / 10, all_steps - all_steps / 10};
    expected_.reset();
  }

  double serial() {
    program_.prepare();
    auto const t = locality::time_steps(program_, steps_, [&](std::size_t i) { program_.serial_step(i); });
    if (!expected_) expected_.emplace(program_.result(steps_.all()));
    return t.seconds / static_cast<double>(steps_.timed);
  }
  std::string check() const {
    if (!(program_.result(steps_.all()) == *expected_)) return "the result differs from the serial program's";
    return program_.check(steps_.all());
  }

  template <class Policy>
  void add(std::string name, std::size_t workers) {
    auto const p = std::make_shared<under_policy<Policy, P>>(program_, workers, squads_);
    explanations_.emplace_back(name, [p] { return p->explain(); });
    variants_.push_back({std::move(name), workers,
                         [this, p] { return p->run(steps_).seconds / static_cast<double>(steps_.timed); },
                         [this] { return check(); }});
  }

  squad_choice squads_;
  locality::settings settings_;
  P program_;
  locality::span_of_steps steps_{0, 1};
  std::optional<std::decay_t<decltype(std::declval<P const&>().result(std::size_t{0}))>> expected_;
  std::vector<variant> variants_;
  std::vector<std::pair<std::string, std::function<std::string()>>> explanations_;
};

template <class P>
row policy_row(std::string group, std::size_t size = 0) {
  return {"policies", std::move(group), std::string{P::about.name}, std::string{P::about.problem},
          [size](request const& o) {
            auto result = nlohmann::json::object();
            for (std::size_t const workers : o.workers) {
              request part = o;
              part.seconds /= static_cast<double>(o.workers.size());
              policy_comparison<P> c{part, workers, size};
              auto const more = c.measure(part);
              if (result.empty()) {
                result = more;
              } else {
                result["figures"].insert(result["figures"].end(), more["figures"].begin(), more["figures"].end());
              }
            }
            return result;
          }};
}

}  // namespace measure
