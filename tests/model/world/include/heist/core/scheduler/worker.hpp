// Stands for core/scheduler/worker.hpp: the parts of a worker that graphs and the worker loop need, on a deque of few
// slots. The pending_count is as there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heist/core/base/random.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/ready_tasks.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/sync/idle_gate.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/core/sync/request_share.hpp"
#include "heist/core/sync/work_deque.hpp"

namespace heist::detail {

struct pending_count_holder {
  void (*add)(pending_count_holder& self, std::uint32_t n, worker& w);
};

struct worker {
  worker(core& scheduler, std::uint32_t number, bool alone, fork_order order) noexcept
      : scheduler{scheduler}, number{number}, alone{alone}, only{scheduler, *this, order}, random{number + 1} {}
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;

  core& scheduler;
  std::uint32_t const number;
  bool const alone;
  fiber only;
  idle_gate<>* gate = nullptr;
  std::uint32_t group = 0;
  static constexpr bool has_helper = false;
  std::uint32_t const bed = number;

  bool near = false;  ///< searches in its squad only (extensions.hpp)
  /// No loop is shared here (tests/model/shared_range.cpp).
  struct no_loops {
    static constexpr runnable* enter() noexcept { return nullptr; }
  };
  [[no_unique_address]] no_loops loops;
  bool loop_is_next = false;
  bool active = false;
  std::uint64_t active_since = 0;
  std::uint64_t worked = 0;
  std::uint32_t until_look = 1;
  worker* had_more = nullptr;
  std::uint32_t returned = 0;
  bool returns() noexcept { return had_more != nullptr && ++returned % 16 != 0; }
  std::uint64_t last_look = 0;
  request_share share;
  std::uint32_t pending_count = 0;
  pending_count_holder* holder = nullptr;
  std::uint64_t ended[2]{};
  fast_random random;

  os_env::atomic<std::uint32_t> help_wanted{0};
  struct no_notification {
    static constexpr bool is_set() noexcept { return false; }
    static constexpr void raise() noexcept {}
    template <class Look>
    static bool lower_unless(Look&&) noexcept {
      return true;
    }
  };
  no_notification notification;
  static constexpr bool just_woke() noexcept { return false; }
  silent<char const*> state{"not started"};
  static constexpr char searching[] = "searching";
  static constexpr char running[] = "active";
  static constexpr char asleep[] = "asleep";
  silent<std::uint32_t> depth{0};
  silent<fiber*> current{&only};

  work_deque<runnable*> deque{2};
  ready_tasks ready;
  empty_stack<continuation_slot> continuations;

  /// Where no task is for one worker only, no worker looks here.
  struct own_queue : injection_queue<queued_runnable> {
    bool is_used = false;
    bool maybe_empty() const noexcept { return !is_used || injection_queue<queued_runnable>::maybe_empty(); }
  };
  own_queue own_fibers;
  own_queue mailbox;

  void work_for(pending_count_holder& k) {
    if (holder != &k) change_holder(k);
  }
  void count_for(pending_count_holder& k) {
    if (holder != &k) change_holder(k);
    ++pending_count;
  }
  void change_holder(pending_count_holder& k) {
    report_pending_count();
    holder = &k;
  }
  void report_pending_count() {
    while (pending_count != 0) {
      std::uint32_t const n = pending_count;
      pending_count = 0;
      holder->add(*holder, n, *this);
    }
  }
};

}  // namespace heist::detail
