#include "redistribution.hpp"

#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/observe.hpp>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>  // max, min
#include <cmath>      // sqrt
#include <cstddef>    // size_t
#include <cstdio>     // fflush
#include <cstring>    // memcmp, memcpy
#include <new>        // bad_alloc
#include <numeric>    // accumulate
#include <optional>
#include <string>
#include <vector>

#include "../locality/comparison.hpp"
#include "../locality/comparisons.hpp"
#include "../locality/timing.hpp"
#include "entrants.hpp"
#include "programs.hpp"
#include "schedules.hpp"

namespace replay {

namespace {

/// Memory that no thread has touched: the first thread that touches a page decides its place.
class unused_memory {
 public:
  explicit unused_memory(std::size_t bytes) : bytes_{bytes} {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc{};
    at_ = static_cast<char*>(at);
  }
  unused_memory(unused_memory const&) = delete;
  unused_memory& operator=(unused_memory const&) = delete;
  ~unused_memory() { ::munmap(at_, bytes_); }

  char* data() const { return at_; }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  char* at_;
};

/// As much data as a program has, laid out as the box of its first phase: so much for each element.
class distributed_data {
 public:
  distributed_data(std::size_t bytes, box const& all)
      : all_{all},
        element_{std::max<std::size_t>(1, bytes / (all.rows.size() * all.columns.size()))},
        data_{element_ * all.rows.size() * all.columns.size()} {
    for (std::size_t i = 0; i != data_.size(); ++i) data_.data()[i] = static_cast<char>(i * 2'654'435'761u >> 16);
  }

  std::size_t bytes() const { return data_.size(); }
  box const& all() const { return all_; }

  void copy(box const& part, unused_memory const& to, heist::first_touch_check* check) const {
    std::size_t const bytes = part.columns.size() * element_;
    for (std::size_t row = part.rows.first; row != part.rows.last; ++row) {
      std::size_t const at =
          ((row - all_.rows.first) * all_.columns.size() + part.columns.first - all_.columns.first) * element_;
      std::memcpy(to.data() + at, data_.data() + at, bytes);
      if (check != nullptr) check->touched(to.data() + at, bytes);
    }
  }
  bool is_in(unused_memory const& copied) const { return std::memcmp(copied.data(), data_.data(), data_.size()) == 0; }

 private:
  box all_;
  std::size_t element_;
  unused_memory data_;
};

/// A program's first phase, and which of its regions has recorded it.
struct template_schedule {
  std::size_t region;
  box all;
  block_size block;
};

template <class P>
template_schedule record(heist::executor<heist::policy::replay>& ex, P& program, schedule& phases) {
  std::optional<template_schedule> first;
  auto const phase = [&](auto ctx, std::size_t region, box const& b, block_size s, auto const& work, auto const& leaf) {
    if (!first) first = template_schedule{region, b, s};
    phases.run(ctx, region, b, s, work, leaf);
  };
  run_on(ex, program, {recorded_steps, 5}, locality::no_notes{}, phase, [&](std::size_t i) { phases.end_of_step(i); });
  return *first;
}

double mean(std::vector<double> const& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.) / static_cast<double>(seconds.size());
}

std::string mean_and_deviation(std::vector<double> const& seconds) {
  double squares = 0;
  for (double const s : seconds) squares += (s - mean(seconds)) * (s - mean(seconds));
  double const others = std::max(1., static_cast<double>(seconds.size()) - 1);
  return fmt::format("{:.3f} +- {:.3f}", 1e3 * mean(seconds), 1e3 * std::sqrt(squares / others));
}

template <class P>
bool measure(locality::options o, std::size_t size) {
  bool right = true;
  locality::settings const settings = locality::settings_for<P>(o, size);
  auto const counts = o.worker_counts();
  for (std::size_t const workers : counts) {
    o.workers = workers;
    P program{settings};
    heist::executor<heist::policy::replay> ex{o.for_executor(P::about.stack)};
    schedule phases{guidance::ordered, program.regions(), P::one_tree, workers};
    template_schedule const found = record(ex, program, phases);
    distributed_data const data{program.bytes(), found.all};
    if (workers == counts.front())
      fmt::print("\n{}, {}: {}\n{:>7} {:>20} {:>20} {:>20} {:>10} {:>14}\n", P::about.name, size,
                 locality::bytes_text(data.bytes()), "workers", "one thread, ms", "stolen at random, ms",
                 "along the schedule, ms", "GB/s", "pages near");
    auto const initializer = [&](unused_memory const& to, heist::first_touch_check* check) {
      return [&, check](auto ctx) {
        auto const copy = [&](auto, box const& part) { data.copy(part, to, check); };
        divide(ctx, found.all, found.block, copy, copy, to_blocks{});
      };
    };
    std::vector<double> serial, random, along;
    std::string note;
    auto const timed = [&](std::vector<double>& into, auto const& run) {
      unused_memory const to{data.bytes()};
      locality::stopwatch const watch;
      run(to);
      into.push_back(watch.seconds());
      right = data.is_in(to) && right;
    };
    for (std::size_t round = 0; round != o.rounds; ++round) {
      timed(serial, [&](unused_memory const& to) { data.copy(found.all, to, nullptr); });
      timed(random, [&](unused_memory const& to) { ex.invoke(initializer(to, nullptr)); });
      timed(along, [&](unused_memory const& to) {
        note = heist::redistribute(ex, phases.region(found.region), initializer(to, nullptr)).note;
      });
    }
    unused_memory const seen{data.bytes()};
    heist::first_touch_check check;
    heist::redistribute(ex, phases.region(found.region), initializer(seen, &check));
    right = data.is_in(seen) && right;
    fmt::print("{:>7} {:>20} {:>20} {:>20} {:>10.2f} {:>14}{}\n", workers, mean_and_deviation(serial),
               mean_and_deviation(random), mean_and_deviation(along),
               1e-9 * static_cast<double>(data.bytes()) / mean(along),
               fmt::format("{} of {}", check.right(), check.right() + check.wrong() + check.unknown()),
               note.empty() ? "" : "  " + note);
    std::fflush(stdout);
    if (workers == counts.back()) fmt::print("{}\n", check.text());
  }
  return right;
}

}  // namespace

bool measure_redistribution(locality::options o) {
  o.workers = o.worker_counts().back();
  locality::place const where{o};
  fmt::print("{}{}; means and standard deviations of {} rounds\n", where.text(), o.pin ? "; pinned" : "", o.rounds);
  bool right = true, any = false;
  for_each_program([&]<class P>() {
    if (!o.needs_program(P::about.name)) return;
    any = true;
    for (std::size_t const size : locality::sizes_for<P>(o)) right = measure<P>(o, size) && right;
  });
  if (!any) throw locality::wrong_input{fmt::format("there is no such program: {}", o.programs.front())};
  if (!right) fmt::print("WRONG: a copy is not what was copied\n");
  return right;
}

}  // namespace replay
