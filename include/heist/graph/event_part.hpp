// The part of an event's task that does not depend on the type of its value.
#pragma once

#include <exception>  // exception_ptr
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/observe/outside_waits.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/graph/event_word.hpp"
#include "heist/graph/node.hpp"

namespace heist::detail {

struct run_state;

/// A run that comes by before the value does leaves the task standing. The thread that brings the value makes it runnable again. So
/// waiting for it costs no worker and no fiber.
struct event_part : outside_note {
  explicit event_part(void (*how)(event_part& self, run_state& of)) noexcept;
  event_part(event_part const&) = delete;
  event_part& operator=(event_part const&) = delete;

  /// The run calls this when it reaches the task.
  runnable* reached(record& r, fiber& self);
  /// Gives the event an exception instead of a value, for the run to end with. Throws graph_error as set_value() does.
  void fail(std::exception_ptr why, graph_data& of, std::uint32_t index);
  /// False if the value is not wanted any more. Throws graph_error if it is not the caller's to give.
  bool claim(graph_data& of, std::uint32_t index);
  /// Ends the task, as often as it was reached. `listed`: in executor::state_text.
  runnable* complete(record& r, fiber& self, bool listed);
  /// After word.fill() or word.drop() was true.
  void resume();
  /// Those that wait for it outside of the run go on.
  void tell() noexcept {
    if (!known.is_ready()) known.complete();
  }

  struct arrival : queued_runnable {
    event_part* of;
  };

  basic_event_word<> word;
  bool is_patient = false;  ///< waits for its value in a run that is interrupted, too
  /// Before the task ends, on a worker: the value, or the exception, becomes the task's.
  void (*const take_in)(event_part& self, run_state& of);
  /// How often the run has reached it and waits: a loop can come by again before the value does. The one that finds 0
  /// waits for all of them.
  os_env::atomic<std::uint32_t> arrivals{0};
  bool has_taken = false;  ///< take_in was called in this pass; by the one that waits for all
  record* at = nullptr;
  std::exception_ptr exception;  ///< given instead of a value
  arrival item{};
  completion known;  ///< done when the event has a value in this run, or will have none; between runs
};

[[noreturn]] HEIST_RARE void reject_event(std::string const& name, bool no_run);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/event_part.ipp"
#endif
