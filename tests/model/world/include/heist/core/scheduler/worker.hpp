// Stands for core/scheduler/worker.hpp: what graphs and the worker loop need of a worker, on a deque of few slots. The
// pending_count is as there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heist/core/base/random.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/ready_tasks.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/sync/idle_gate.hpp"
#include "heist/core/sync/injector.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/core/sync/request_share.hpp"
#include "heist/core/sync/work_deque.hpp"

namespace heist::detail {

struct pending_count_keeper {
  void (*add)(pending_count_keeper& self, std::uint32_t n, worker& w);
};

struct worker {
  worker(core& home, std::uint32_t number, bool alone, fork_order order) noexcept
      : home{home}, number{number}, alone{alone}, only{home, *this, order}, random{number + 1} {}
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;

  core& home;
  std::uint32_t const number;
  bool const alone;
  fiber only;
  idle_gate<>* gate = nullptr;
  std::uint32_t group = 0;
  static constexpr bool has_guest = false;
  std::uint32_t const bed = number;

  bool near = false;  ///< searches in its squad only (rooms.hpp)
  /// No loop is shared here (tests/model/shared_range.cpp).
  struct no_loops {
    static constexpr runnable* enter() noexcept { return nullptr; }
  };
  [[no_unique_address]] no_loops loops;
  bool took_loop = false;
  bool active = false;
  std::uint64_t active_since = 0;
  std::uint64_t worked = 0;
  std::uint32_t until_look = 1;
  std::uint64_t looked = 0;
  request_share share;
  std::uint32_t pending_count = 0;
  pending_count_keeper* keeper = nullptr;
  std::uint64_t ended[2]{};
  fast_random random;

  os_env::atomic<std::uint32_t> help_wanted{0};
  struct no_attention {
    static constexpr bool raised() noexcept { return false; }
    static constexpr void raise() noexcept {}
    template <class Look>
    static bool lower_unless(Look&&) noexcept {
      return true;
    }
  };
  no_attention attention;
  static constexpr bool has_just_woken() noexcept { return false; }
  silent<char const*> doing{"not started"};
  static constexpr char searching[] = "searching";
  static constexpr char running[] = "active";
  static constexpr char asleep[] = "asleep";
  silent<std::uint32_t> depth{0};
  silent<fiber*> current{&only};

  work_deque<runnable*> deque{2};
  ready_tasks ready;
  empty_stack<continuation_slot> continuations;

  /// Where nothing is for one worker only, nobody looks.
  struct own_queue : injector<queued_runnable> {
    bool is_used = false;
    bool maybe_empty() const noexcept { return !is_used || injector<queued_runnable>::maybe_empty(); }
  };
  own_queue own_fibers;
  own_queue gifts;

  void work_for(pending_count_keeper& k) {
    if (keeper != &k) change_keeper(k);
  }
  void count_for(pending_count_keeper& k) {
    if (keeper != &k) change_keeper(k);
    ++pending_count;
  }
  void change_keeper(pending_count_keeper& k) {
    report_pending_count();
    keeper = &k;
  }
  void report_pending_count() {
    while (pending_count != 0) {
      std::uint32_t const n = pending_count;
      pending_count = 0;
      keeper->add(*keeper, n, *this);
    }
  }
};

}  // namespace heist::detail
