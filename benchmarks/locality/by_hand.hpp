// The reference for a scheduler: sweeps whose blocks are placed by hand on pinned threads, which meet at a spinning
// barrier. The arithmetic is that of the program that the scheduler runs.
#pragma once

#include <heist/core/base/config.hpp>
#include <heist/core/base/env.hpp>
#include <heist/topology.hpp>

#include <algorithm>  // max, min
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <thread>
#include <utility>  // swap
#include <vector>

#include "program.hpp"
#include "tally.hpp"
#include "timing.hpp"

namespace locality {

/// The thread that computes a block. `stays`: always the same thread. `random`: a random thread in each sweep; each
/// thread keeps its number of blocks. `swapped`: the threads take turns, so that no thread gets the blocks that it had
/// in the sweep before. `tossed`: a random turn in each sweep; two threads change sides in every second sweep on
/// average.
enum class placement { stays, random, swapped, tossed };

/// Threads  as many as it is made for; each waits once per round.
class spinning_barrier {
 public:
  explicit spinning_barrier(std::size_t threads) : threads_{threads} {}

  void wait() {
    // relaxed: changes only when all have arrived, this thread too
    std::size_t const round = round_.load(std::memory_order_relaxed);
    // acq_rel: the last to arrive has seen what all did, and passes it on below
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);        // relaxed: the others come back after the next line
      round_.store(round + 1, std::memory_order_release);  // release: pairs with the load below
      return;
    }
    while (round_.load(std::memory_order_acquire) == round) heist::os_env::relax();  // acquire: what all did
  }

 private:
  std::size_t const threads_;
  alignas(heist::cache_line_size) std::atomic<std::size_t> arrived_{0};
  alignas(heist::cache_line_size) std::atomic<std::size_t> round_{0};
};

/// Runs of a program in blocks of its leaf size. The assignment of blocks to threads is made before the time is taken.
template <class P>
class by_hand {
 public:
  /// `threads` are pinned to PUs of the machine in the order in which an executor's workers are.
  by_hand(P& program, placement how, heist::topology::machine const& machine, std::size_t threads, span_of_steps steps)
      : program_{program},
        machine_{machine},
        pus_{heist::topology::make_squads(machine, heist::squad_by::automatic, threads).pu_of_worker},
        steps_{steps} {
    random_numbers random{1};
    sweeps_.reserve(steps.all() * P::sweeps_per_step);
    for (std::size_t s = 0; s < steps.all() * P::sweeps_per_step; ++s) sweeps_.push_back(place(s, how, random));
  }

  /// All blocks, sweep by sweep.
  std::vector<tally::entry> leaves() const {
    std::vector<tally::entry> all;
    for (std::size_t sweep = 0; sweep != sweeps_.size(); ++sweep) {
      for (std::size_t block = 0; block < sweeps_[sweep].size(); ++block)
        all.push_back({sweep, rows_of(sweep, block), sweeps_[sweep][block], sweeps_[sweep][block]});
    }
    return all;
  }

  /// Share of blocks whose thread had the block of that number in the sweep before.
  double stayed() const {
    std::size_t same = 0, all = 0;
    for (std::size_t sweep = 1; sweep < sweeps_.size(); ++sweep) {
      std::size_t const blocks = std::min(sweeps_[sweep].size(), sweeps_[sweep - 1].size());
      for (std::size_t block = 0; block < blocks; ++block) same += sweeps_[sweep][block] == sweeps_[sweep - 1][block];
      all += blocks;
    }
    return static_cast<double>(same) / static_cast<double>(std::max<std::size_t>(all, 1));
  }

  timed run() {
    program_.prepare();
    timed result;
    spinning_barrier barrier{pus_.size()};
    std::vector<std::jthread> threads;
    for (std::size_t me = 0; me < pus_.size(); ++me) {
      threads.emplace_back([&, me] {
        heist::topology::bind_this_thread(machine_, pus_[me]);
        stopwatch watch;
        double const has_waited = me == 0 ? cpu_wait() : 0;
        barrier.wait();
        for (std::size_t step = 0; step < steps_.all(); ++step) {
          if (step == steps_.warmup) watch = {};
          for (std::size_t i = 0; i < P::sweeps_per_step; ++i) {
            compute(step * P::sweeps_per_step + i, me);
            barrier.wait();
          }
        }
        if (me == 0) {
          result.seconds = watch.seconds();
          result.has_waited = cpu_wait() - has_waited;
        }
        barrier.wait();  // no thread ends before the waiting time of all is known
      });
    }
    threads.clear();
    for (std::size_t step = steps_.warmup; step < steps_.all(); ++step) result.work += program_.work(step);
    return result;
  }

 private:
  using owners = std::vector<std::uint32_t>;  // block -> thread

  std::size_t blocks(std::size_t sweep) const {
    return (program_.rows(sweep).size() + program_.leaf() - 1) / program_.leaf();
  }

  owners place(std::size_t sweep, placement how, random_numbers& random) const {
    std::size_t const n = blocks(sweep), threads = pus_.size();
    owners result(n);
    std::size_t const turn = how == placement::swapped ? sweep : how == placement::tossed ? random.below(threads) : 0;
    for (std::size_t block = 0; block < n; ++block) {
      result[block] = static_cast<std::uint32_t>((block * threads / n + turn) % threads);
    }
    if (how == placement::random) {
      for (std::size_t block = n; block > 1; --block) std::swap(result[block - 1], result[random.below(block)]);
    }
    return result;
  }

  void compute(std::size_t sweep, std::size_t me) {
    owners const& owner = sweeps_[sweep];
    for (std::size_t block = 0; block < owner.size(); ++block) {
      if (owner[block] == me) program_.compute(sweep, rows_of(sweep, block));
    }
  }

  range rows_of(std::size_t sweep, std::size_t block) const {
    range const rows = program_.rows(sweep);
    std::size_t const first = block * program_.leaf();
    return rows.from(first, std::min(program_.leaf(), rows.size() - first));
  }

  P& program_;
  heist::topology::machine const& machine_;
  std::vector<std::uint32_t> pus_;
  span_of_steps steps_;
  std::vector<owners> sweeps_;
};

}  // namespace locality
