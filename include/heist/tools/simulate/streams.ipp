// Bodies of streams.hpp.
#pragma once

#include "heist/tools/simulate/streams.hpp"

#include <algorithm>  // clamp, find, max, min
#include <barrier>
#include <chrono>
#include <cmath>    // llround
#include <cstddef>  // ptrdiff_t, size_t
#include <memory>   // make_unique_for_overwrite, unique_ptr
#include <thread>
#include <vector>

#include "heist/core/topology/bind.hpp"
#include "heist/tools/simulate/fail.hpp"
#include "heist/tools/simulate/memory.hpp"
#include "heist/tools/simulate/state.hpp"

namespace heist::sim {
namespace detail {

/// A thread that writes its array on one PU and reads it on another, or the same.
struct stream_reader {
  std::uint32_t writes_on, reads_on;
};

/// `count`: a multiple of 8. Not cold: the compiler would make it small and slow.
HEIST_BODY void read_lines(std::uint64_t const* values, std::size_t count) {
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  for (auto const* const end = values + count; values != end; values += 8) {
    a += values[0] + values[4];
    b += values[1] + values[5];
    c += values[2] + values[6];
    d += values[3] + values[7];
  }
  std::uint64_t volatile kept = a + b + c + d;
  static_cast<void>(kept);
}

/// Nanoseconds for a line that each reader takes while all of them read: of the slowest, in the fastest round.
/// `fresh`: the array is written before each round, otherwise only once.
HEIST_COLD_BODY double line_time(topology::machine const& m, std::vector<stream_reader> const& readers,
                                 std::uint64_t bytes, bool fresh = false) {
  constexpr int rounds = 5;
  constexpr std::uint64_t enough = std::uint64_t{8} << 20;
  std::size_t const count = std::max<std::size_t>(64, static_cast<std::size_t>(bytes / sizeof(std::uint64_t)) / 8 * 8);
  std::size_t const repeats = fresh ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(enough / bytes));
  std::vector<std::unique_ptr<std::uint64_t[]>> arrays;
  for (std::size_t i = 0; i != readers.size(); ++i)
    arrays.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(count));  // each thread touches its own first
  std::vector<double> times(readers.size());
  double best = 0;
  std::barrier<> gate{static_cast<std::ptrdiff_t>(readers.size())};
  {
    auto const read = [&](std::size_t i) {
      for (int round = 0; round != rounds; ++round) {
        if (round == 0 || fresh) {
          topology::bind_this_thread(m, readers[i].writes_on);
          std::fill_n(arrays[i].get(), count, static_cast<std::uint64_t>(round));
          topology::bind_this_thread(m, readers[i].reads_on);
        }
        gate.arrive_and_wait();
        auto const begin = std::chrono::steady_clock::now();
        for (std::size_t k = 0; k != repeats; ++k) read_lines(arrays[i].get(), count);
        std::chrono::duration<double, std::nano> const taken = std::chrono::steady_clock::now() - begin;
        times[i] = taken.count() * 8 / static_cast<double>(count * repeats);
        gate.arrive_and_wait();
        if (i != 0) continue;
        double const slowest = *std::max_element(times.begin(), times.end());
        if (round == 0 || slowest < best) best = slowest;
      }
    };
    std::vector<std::jthread> threads;  // after all that they use: their end is waited for here
    threads.reserve(readers.size());
    for (std::size_t i = 0; i != readers.size(); ++i) {
      try {
        threads.emplace_back([&read, i] { read(i); });
      } catch (...) {  // the others must not wait for this one
        for (std::size_t k = i; k != readers.size(); ++k) static_cast<void>(gate.arrive_and_drop());
        fail(
            "cannot start thread {} of {} that read memory; fix it by fewer options::workers, or a higher limit on "
            "processes",
            i + 1, readers.size());
      }
    }
  }
  return best;
}

/// Bytes in 1000 ns that `readers` get together; 0 if each of them is about as fast as alone.
HEIST_COLD_BODY double limit_of(std::size_t readers, double line, double alone) {
  constexpr double as_fast = 1.15;
  return line <= as_fast * alone ? 0 : static_cast<double>(readers * memory::line_bytes) * 1000 / line;
}

}  // namespace detail

HEIST_COLD_BODY streams measure_streams(options const& wanted, std::uint64_t data_bytes) {
  auto const m = machine_of(wanted);
  if (!m.is_this_machine)
    detail::fail(
        "streams of another machine cannot be measured here; fix it by options::machine = topology::this_machine(), or "
        "by streams that were measured there");
  auto const workers = std::min<std::size_t>(workers_of(wanted, m), m.pu_count());
  auto const placed = squads_of(wanted, m, workers);
  constexpr std::uint64_t least = std::uint64_t{16} << 10, most = std::uint64_t{512} << 20;
  auto const sizes = cache_sizes_of(wanted, m, placed);
  std::uint64_t const own = std::max(sizes.of_worker / 2, least), of_squad = std::min(sizes.of_squad, most);
  auto const on = [](std::uint32_t pu) { return detail::stream_reader{pu, pu}; };
  auto const pu_of = [&](std::uint32_t worker) { return placed.pu_of_worker[worker]; };
  std::vector<detail::stream_reader> const one{on(pu_of(0))};

  streams s;
  s.private_line = s.shared_line = detail::line_time(m, one, own);
  if (of_squad > sizes.of_worker) {
    std::vector<detail::stream_reader> squad;
    for (std::uint32_t const w : placed.members[placed.squad_of[0]]) squad.push_back(on(pu_of(w)));
    s.shared_line = detail::line_time(m, one, of_squad / 2);
    s.shared_bandwidth = detail::limit_of(
        squad.size(), detail::line_time(m, squad, std::max(of_squad / 2 / squad.size(), own)), s.shared_line);
  }

  // The workers of the first worker's node, and as many of other nodes. Both read from the memory of the first node.
  auto const nodes = nodes_of_workers(m, placed);
  std::vector<detail::stream_reader> near, far;
  for (std::uint32_t w = 0; w != workers; ++w) {
    if (nodes[w] == nodes[0]) near.push_back(on(pu_of(w)));
  }
  for (std::uint32_t w = 0; w != workers; ++w) {
    if (nodes[w] != nodes[0] && far.size() != near.size()) far.push_back({near[far.size()].reads_on, pu_of(w)});
  }
  std::uint64_t const told = detail::credible_cache(std::max(m.l3_bytes * m.l3_count(), m.l2_bytes * m.l2_count()),
                                                    m.core_count()),
                      all = std::max(of_squad, sizes.of_worker) * placed.members.size(),
                      behind = std::clamp(std::max(data_bytes, 4 * (data_bytes == 0 ? std::max(told, all) : all)),
                                          64 * least, most);
  auto const each = [&](std::size_t readers) { return std::max(behind / readers, least); };
  s.memory_line = detail::line_time(m, one, std::min(behind, most / 4));
  s.memory_bandwidth = detail::limit_of(near.size(), detail::line_time(m, near, each(near.size())), s.memory_line);
  if (!far.empty()) {
    s.far_line = detail::line_time(m, {far[0]}, std::min(behind, most / 4));
    s.link_bandwidth = detail::limit_of(far.size(), detail::line_time(m, far, each(far.size())), s.far_line);
  }
  auto const other = std::find_if(placed.squad_of.begin(), placed.squad_of.end(),
                                  [&](std::uint32_t squad) { return squad != placed.squad_of[0]; });
  if (other != placed.squad_of.end()) {
    auto const writer = pu_of(static_cast<std::uint32_t>(other - placed.squad_of.begin()));
    s.transfer_line = detail::line_time(m, {{writer, one[0].reads_on}}, own, true);
  }
  return s;
}

HEIST_COLD_BODY void set_memory(options& into, streams const& measured) {
  constexpr std::uint32_t parts = 1000;
  auto const beyond = [&](double line) {
    return duration{static_cast<ticks>(std::llround(std::max(0., line - measured.private_line) * parts))};
  };
  auto const bandwidth = [](double b) { return static_cast<std::uint64_t>(std::llround(b)); };
  into.costs.line_parts = parts;
  into.costs.private_hit = 0;
  into.costs.shared_hit = beyond(measured.shared_line);
  into.costs.memory = beyond(measured.memory_line);
  into.costs.transfer.reset();
  if (measured.transfer_line != 0) into.costs.transfer = beyond(measured.transfer_line);
  into.caches.shared_bandwidth = bandwidth(measured.shared_bandwidth);
  into.caches.memory_bandwidth = bandwidth(measured.memory_bandwidth);
  if (measured.far_line == 0) return;
  into.costs.far_memory = beyond(measured.far_line);
  into.numa.pages = page_placement::first_touch;
  into.numa.node_bandwidth = bandwidth(measured.memory_bandwidth);
  into.numa.link_bandwidth = bandwidth(measured.link_bandwidth);
}

}  // namespace heist::sim
