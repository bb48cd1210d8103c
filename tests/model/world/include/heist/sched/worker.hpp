// Stands for sched/worker.hpp: what graphs and the worker loop need of a worker, on a deque of few slots. The tally is
// as there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heist/base/random.hpp"
#include "heist/sched/fiber.hpp"
#include "heist/sched/idle_gate.hpp"
#include "heist/sched/interrupt.hpp"
#include "heist/sched/request_share.hpp"
#include "heist/sched/runnable.hpp"
#include "heist/sync/work_deque.hpp"

namespace heist::detail {

struct tally_keeper {
  void (*add)(tally_keeper& self, std::uint32_t n, worker& w);
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
  squad* in = nullptr;
  std::vector<worker*> const* mates = nullptr;
  bool head = false;
  std::uint32_t place = 0;
  bool takes_beside = false;

  bool active = false;
  std::uint64_t active_since = 0;
  std::uint64_t worked = 0;
  std::uint32_t until_look = 1;
  std::uint64_t looked = 0;
  request_share share;
  std::uint32_t tally = 0;
  tally_keeper* keeper = nullptr;
  std::uint64_t ended[2]{};
  fast_random random;

  os_env::atomic<std::uint32_t> help_wanted{0};
  struct no_attention {
    static constexpr bool raised() noexcept { return false; }
    template <class Look>
    static bool lower_unless(Look&&) noexcept {
      return true;
    }
  };
  no_attention attention;
  silent<char const*> doing{"not started"};
  static constexpr char searching[] = "searching";
  static constexpr char running[] = "active";
  silent<std::uint32_t> depth{0};
  silent<fiber*> current{&only};

  work_deque<runnable*> deque{2};
  empty_stack<continuation_slot> continuations;

  // Nobody gives anything to a certain worker.
  struct no_queue {
    bool maybe_empty() const noexcept { return true; }
  };
  no_queue own_fibers;
  no_queue donated;

  void work_for(tally_keeper& k) {
    if (keeper != &k) change_keeper(k);
  }
  void count_for(tally_keeper& k) {
    if (keeper != &k) change_keeper(k);
    ++tally;
  }
  void change_keeper(tally_keeper& k) {
    report_tally();
    keeper = &k;
  }
  void report_tally() {
    while (tally != 0) {
      std::uint32_t const n = tally;
      tally = 0;
      keeper->add(*keeper, n, *this);
    }
  }
};

}  // namespace heist::detail
