// The state of the memory, in a form that is equal for two executions if nothing that follows can tell them apart.
// Stores that no thread can read any more do not count, nor do the numbers of stores and accesses.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "memory.hpp"
#include "mix.hpp"

namespace model {

class memory::normal_form {
 public:
  explicit normal_form(memory& m) noexcept : m_{m}, threads_{sched.thread_count()} {
    oldest_stores();
    known_to_all();
    collect();
  }

  std::uint64_t number() noexcept {
    std::uint64_t all = static_cast<std::uint64_t>(m_.odd_failures_ << 16 | m_.stale_);
    for (int id = 0; id < view::used; ++id) all = of_location(all, id);
    for (accesses const& a : m_.cells_) {
      if (a.alive) all = of_cell(all, a);
    }
    for (int t = 0; t < threads_; ++t) {
      known_state const& k = m_.threads_[static_cast<std::size_t>(t)];
      all = of_seen(all, k.light);
      if (t == 0 || !sched.is_live(t)) continue;
      all = of_seen(of_seen(of_seen(of_seen(all, k.heavy), k.cur), k.acq), k.rel);
      all = of_clock(of_clock(of_clock(all, k.cur), k.acq), k.rel);
      all = of_stale(all, k);
      all = of_waiting_load(all, sched.waiting_load(t));
    }
    return of_seen(all, m_.sc_);
  }

 private:
  /// Per atomic, the oldest store that a thread can still read.
  void oldest_stores() noexcept {
    bool any = false;
    for (int t = 1; t < threads_; ++t) {
      if (!sched.is_live(t)) continue;
      known_state const& k = m_.threads_[static_cast<std::size_t>(t)];
      for (std::size_t i = 0; i < size(); ++i) {
        stamp const low = std::max(k.cur.seen[i], k.floor[i]);
        oldest_[i] = any ? std::min(oldest_[i], low) : low;
      }
      any = true;
    }
    for (std::size_t i = 0; i < size(); ++i) {
      if (static_cast<int>(i) < view::used) {
        auto const newest = static_cast<stamp>(m_.locations_[i].newest());
        oldest_[i] = any ? std::min(oldest_[i], newest) : newest;
      }
    }
  }
  /// Per thread, its accesses that happen before whatever comes.
  void known_to_all() noexcept {
    known_.fill(0);
    bool any = false;
    for (int t = 1; t < threads_; ++t) {
      if (!sched.is_live(t)) continue;
      view const& v = m_.threads_[static_cast<std::size_t>(t)].cur;
      for (std::size_t i = 0; i < max_threads; ++i) known_[i] = any ? std::min(known_[i], v.clock[i]) : v.clock[i];
      any = true;
    }
  }
  /// The numbers of accesses that occur; only their order matters.
  void collect() noexcept {
    auto const note_view = [&](view const& v) {
      for (int i = 0; i < threads_; ++i) note(i, v.clock[static_cast<std::size_t>(i)]);
    };
    for (int t = 1; t < threads_; ++t) {
      if (!sched.is_live(t)) continue;
      known_state const& k = m_.threads_[static_cast<std::size_t>(t)];
      note_view(k.cur);
      note_view(k.acq);
      note_view(k.rel);
    }
    for (int id = 0; id < view::used; ++id) {
      location const& at = m_.locations_[static_cast<std::size_t>(id)];
      if (at.where == 0) continue;
      note(at.maker, at.made);
      for (int i = 0; i < threads_; ++i) note(i, at.used[static_cast<std::size_t>(i)]);
      for (int j = oldest_[static_cast<std::size_t>(id)]; j <= at.newest(); ++j) {
        note_view(at.history[static_cast<std::size_t>(j)].carries);
      }
    }
    for (accesses const& a : m_.cells_) {
      if (!a.alive) continue;
      note(a.writer, a.written);
      for (int i = 0; i < threads_; ++i) note(i, a.read[static_cast<std::size_t>(i)]);
    }
  }
  void note(int thread, stamp when) noexcept {
    int const n = when - known_[static_cast<std::size_t>(thread)];
    if (n > 0 && n < range)
      occurs_[static_cast<std::size_t>(thread)][static_cast<std::size_t>(n / 64)] |= std::uint64_t{1} << n % 64;
  }
  std::uint64_t rank(int thread, stamp when) const noexcept {
    int const n = when - known_[static_cast<std::size_t>(thread)];
    if (n <= 0) return 0;
    if (n >= range) return static_cast<std::uint64_t>(n);
    auto const& words = occurs_[static_cast<std::size_t>(thread)];
    int count = 0;
    for (int w = 0; w < n / 64; ++w) count += std::popcount(words[static_cast<std::size_t>(w)]);
    count += std::popcount(words[static_cast<std::size_t>(n / 64)] & ((std::uint64_t{2} << n % 64) - 1));
    return static_cast<std::uint64_t>(count);
  }

  std::uint64_t of_location(std::uint64_t all, int id) noexcept {
    location const& at = m_.locations_[static_cast<std::size_t>(id)];
    all = mix(all, at.where);
    if (at.where == 0) return all;
    std::uint64_t times = rank(at.maker, at.made) << 4 | static_cast<std::uint64_t>(at.maker);
    all = mix(all, times);
    all = of_times(all, at.used);
    for (int j = oldest_[static_cast<std::size_t>(id)]; j <= at.newest(); ++j) {
      message const& m = at.history[static_cast<std::size_t>(j)];
      all = of_clock(of_seen(mix(all, m.value), m.carries), m.carries);
    }
    return mix(all, 0xE4D);
  }
  std::uint64_t of_cell(std::uint64_t all, accesses const& a) const noexcept {
    std::uint64_t const written = rank(a.writer, a.written);
    all = mix(all, written == 0 ? 0 : written << 4 | static_cast<std::uint64_t>(a.writer));
    return of_times(all, a.read);
  }
  std::uint64_t of_times(std::uint64_t all, std::array<stamp, max_threads> const& times) const noexcept {
    std::uint64_t number = 0;
    for (int i = 0; i < threads_; ++i)
      number = number << 10 ^ number >> 54 ^ rank(i, times[static_cast<std::size_t>(i)]);
    return mix(all, number);
  }
  std::uint64_t of_clock(std::uint64_t all, view const& v) const noexcept { return of_times(all, v.clock); }
  std::uint64_t of_seen(std::uint64_t all, view const& v) const noexcept {
    std::array<stamp, max_locations> relative;
    for (std::size_t i = 0; i < size(); ++i) {
      relative[i] = static_cast<stamp>(std::max(v.seen[i], oldest_[i]) - oldest_[i]);
    }
    return mix_bytes(all, relative.data(), size() * sizeof(stamp));
  }
  std::uint64_t of_stale(std::uint64_t all, known_state const& k) const noexcept {
    std::array<stamp, 2 * max_locations> relative;
    for (std::size_t i = 0; i < size(); ++i) {
      relative[i] = static_cast<stamp>(std::max(k.floor[i], oldest_[i]) - oldest_[i]);
      relative[size() + i] =
          k.stale[i] > k.floor[i] ? static_cast<stamp>(std::max(k.stale[i], oldest_[i]) - oldest_[i] + 1) : stamp{0};
    }
    return mix_bytes(all, relative.data(), 2 * size() * sizeof(stamp));
  }

  std::uint64_t of_waiting_load(std::uint64_t all, scheduler::pending_load const& load) const noexcept {
    if (load.id < 0) return all;
    return mix(all,
               static_cast<std::uint64_t>(std::max(load.newest + 1 - oldest_[static_cast<std::size_t>(load.id)], 0)));
  }

  static std::size_t size() noexcept { return static_cast<std::size_t>((view::used + 7) / 8 * 8); }

  static constexpr int range = 512;
  memory& m_;
  int const threads_;
  std::array<stamp, max_locations> oldest_{};
  std::array<stamp, max_threads> known_{};
  std::array<std::array<std::uint64_t, range / 64>, max_threads> occurs_{};
};

inline std::uint64_t memory::image() noexcept {
  return normal_form{*this}.number();
}

}  // namespace model
