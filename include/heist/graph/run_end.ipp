// Bodies of run_end.hpp.
#pragma once

#include "heist/graph/run_end.hpp"

#include <new>  // bad_alloc
#include <optional>
#include <stop_token>
#include <utility>  // move

#include "heist/core/base/errors.hpp"

namespace heist::detail {

/// Waits in line at the run as a task that comes after another one does, so that circles of waits are found through it.
struct run_end final : async_state<void> {
  run_end(async_place const& at, graph_run&& awaited_run) noexcept
      : async_state<void>{&run, &what_it_is, at}, link{*this, nullptr, true}, of{std::move(awaited_run)} {}

  static runnable* run(runnable& r, fiber& self) {
    auto& end = static_cast<run_end&>(r);
    return run_async(
        end, self, nullptr, [&end] { return end.failed(); }, [] {}, [&end] { end.forget(); });
  }

  /// Takes over the exception of the run.
  bool failed() noexcept {
    run_state& s = run_access::state(of);
    bool const known = s.fetched.load(std::memory_order_relaxed);  // relaxed: advice
    try {
      of.get();
      return false;
    } catch (...) {
      if (s.exception && !known) {
        fail_with(std::current_exception());
      } else {
        exception = std::current_exception();  // the program knows, of the failure or of the stop: no report is due
      }
      return true;
    }
  }
  void forget() noexcept {
    stop.reset();
    of = {};
  }

  /// A stop of the task that started the run, and waits for what comes after it, reaches the run.
  void propagate_stop(interrupt_state const& origin) noexcept {
    inherited_stop::add(*this, &origin);
    run_state& s = run_access::state(of);
    if (!s.origin.is(&origin)) return;
    try {
      stop.emplace(inherited_stop::of(*this)->state.token(), run_state::interrupt_on_stop{&s});
    } catch (std::bad_alloc const&) {  // then the stop is not handed on
    }
  }

  dependency link;
  graph_run of;
  std::optional<std::stop_callback<run_state::interrupt_on_stop>> stop;
  no_stop extra;

 private:
  static constexpr async_operations operations_of_it{{&text_of_async, &wave_of_async, &end_of_async},
                                                     &destroy_async<run_end>};
  static constexpr described what_it_is{&operations_of_it};
};

HEIST_COLD_BODY async_state<void>* end_of_run(graph_run const& run, core& scheduler) {
  graph_run own = run.share();
  scheduler.check_open();
  interrupt_state const* const origin = interrupt_of_caller();
  run_end& end =
      *make_async<run_end>(scheduler, origin == nullptr ? std::size_t{0} : sizeof(inherited_stop), std::move(own));
  if (origin != nullptr) end.propagate_stop(*origin);
  end.wave = static_cast<std::uint8_t>(scheduler.add_work());
  end.awaited.expect(1);
  if (!run_access::state(end.of).finished.add_entry(end.link)) make_ready(end);
  return &end;
}

}  // namespace heist::detail
