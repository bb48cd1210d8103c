// The idle policies: how soon a task begins after a pause, and what an executor without work costs.
#include <heist/heist.hpp>

#include <algorithm>  // clamp, sort
#include <atomic>
#include <chrono>
#include <cstddef>  // size_t
#include <string>
#include <thread>
#include <vector>

#include "../graph/probes.hpp"
#include "measuring.hpp"

namespace measure {
namespace {

using clock = std::chrono::steady_clock;

/// Calls f.operator()<Idle>(name) for each idle policy.
template <class F>
void for_each_idle_policy(F&& f) {
  f.template operator()<heist::idle::standard>("standard");
  f.template operator()<heist::idle::adaptive>("adaptive");
  f.template operator()<heist::idle::bws>("bws");
  f.template operator()<heist::idle::spinning>("spinning");
}
constexpr std::size_t idle_policies = 4;

template <class Idle>
using executor_with = heist::executor<heist::policy::with_idle<heist::policy::random, Idle>>;

/// Waits without a system call where the pause is short, so that the posting thread's own wake-up is not in it.
void pause(std::chrono::microseconds length) {
  auto const until = clock::now() + length;
  if (length > std::chrono::microseconds{500}) std::this_thread::sleep_until(until - std::chrono::microseconds{200});
  while (clock::now() < until) {
  }
}

/// ns from submit() until the task begins, `posts` times, each after a pause.
template <class Executor>
std::vector<double> latencies(Executor& ex, std::chrono::microseconds length, std::size_t posts) {
  std::vector<double> all;
  for (std::size_t i = 0; i < posts; ++i) {
    pause(length);
    auto const posted = clock::now();
    auto const began = ex.submit([] { return clock::now(); }).get();
    all.push_back(std::chrono::duration<double, std::nano>(began - posted).count());
  }
  return all;
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

/// Calls f(i, ex) in each round for each idle policy, with a new executor. Returns the policies' names.
template <class F>
std::vector<std::string> in_rounds(request const& o, std::size_t workers, F&& f) {
  std::vector<std::string> names;
  for (std::size_t round = 0; round < o.rounds; ++round) {
    names.clear();
    for_each_idle_policy([&]<class Idle>(char const* policy) {
      executor_with<Idle> ex{heist::options{.workers = workers}};
      f(names.size(), ex);
      names.emplace_back(policy);
    });
  }
  return names;
}

row wake_row(std::string name, std::chrono::microseconds length) {
  return {"idle", "wake-up", std::move(name),
          "time from submit() by a thread outside until the task begins, after a pause", [length](request const& o) {
            auto figures = nlohmann::json::array();
            double const each = seconds_of_sample(o, idle_policies * o.workers.size());
            double const one = std::chrono::duration<double>(length).count() + 1e-4;
            auto const posts = static_cast<std::size_t>(std::clamp(each / one, 5.0, o.tiny ? 5.0 : 500.0));
            for (std::size_t const workers : o.workers) {
              std::vector<std::vector<double>> medians(idle_policies), pooled(idle_policies);
              auto const names = in_rounds(o, workers, [&](std::size_t i, auto& ex) {
                latencies(ex, length, 3);
                auto const found = latencies(ex, length, posts);
                medians[i].push_back(median(found));
                pooled[i].insert(pooled[i].end(), found.begin(), found.end());
              });
              for (std::size_t i = 0; i < names.size(); ++i) {
                auto f = figure(names[i], workers, medians[i]);
                f["p99"] = percentile(pooled[i], 0.99);
                f["posts"] = pooled[i].size();
                figures.push_back(f);
              }
            }
            return nlohmann::json{
                {"figures", figures},
                {"size",
                 fmt::format("a pause of {}", length.count() < 1000 ? fmt::format("{} us", length.count())
                                                                    : fmt::format("{} ms", length.count() / 1000))}};
          }};
}

row cost_row() {
  return {"idle", "cost", "idle executor", "CPU time that an executor without work uses", [](request const& o) {
            auto figures = nlohmann::json::array();
            double const each =
                o.tiny ? 0.02 : std::clamp(seconds_of_sample(o, idle_policies * o.workers.size()), 0.1, 1.0);
            for (std::size_t const workers : o.workers) {
              std::vector<std::vector<double>> used(idle_policies);
              auto const names = in_rounds(o, workers, [&](std::size_t i, auto& ex) {
                ex.submit([] {}).get();
                std::this_thread::sleep_for(std::chrono::milliseconds{10});  // the workers fall asleep
                stopwatch const watch;
                double const before = bench::process_cpu_us();
                std::this_thread::sleep_for(std::chrono::duration<double>{each});
                used[i].push_back((bench::process_cpu_us() - before) / watch.seconds());
              });
              for (std::size_t i = 0; i < names.size(); ++i) figures.push_back(figure(names[i], workers, used[i]));
            }
            return nlohmann::json{
                {"figures", figures}, {"unit", "us/s"}, {"size", fmt::format("{:.2g} s without work", each)}};
          }};
}

}  // namespace

std::vector<row> idle_rows() {
  return {wake_row("after 50 us", std::chrono::microseconds{50}),
          wake_row("after 1 ms", std::chrono::microseconds{1000}),
          wake_row("after 10 ms", std::chrono::microseconds{10'000}), cost_row()};
}

}  // namespace measure
