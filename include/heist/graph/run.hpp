// How a graph runs: lines of runs, passes, and their ends (README.md, "How a run ends"). Bodies of graph_data.
#pragma once

#include <cstddef>  // size_t
#include <type_traits>
#include <utility>  // exchange, forward, move

#include "heist/core/base/config.hpp"
#include "heist/core/executor/circular_wait.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/node_callable.hpp"

namespace heist::detail {

/// The graph that the calling code is a task or a callback of, or null.
struct caller {
  graph_data* graph = nullptr;
  bool is_callback = false;

  static caller now() noexcept;
};

/// Which executor is to do a run that is about to be started: the one that was asked, or one that its extension finds out.
class executor_of_run {
 public:
  /// `passes`: 0 if that is not known.
  executor_of_run(graph_data& g, core& asked, std::size_t passes) : scheduler_{&asked} {
    if (asked.extension != nullptr) [[unlikely]]
      ask(g, passes);
  }
  executor_of_run(executor_of_run const&) = delete;
  executor_of_run& operator=(executor_of_run const&) = delete;
  ~executor_of_run() {
    if (by_ != nullptr) [[unlikely]]
      by_->run_ends(nullptr);
  }
  core& scheduler() const noexcept { return *scheduler_; }
  /// Notifies the tuner that has chosen of the end. Throws bad_alloc.
  void prepare(run_state& r) {
    if (by_ != nullptr) [[unlikely]]
      tell_end_of(r);
  }
  void started() noexcept { by_ = nullptr; }

 private:
  HEIST_RARE void ask(graph_data& g, std::size_t passes);
  HEIST_RARE void tell_end_of(run_state& r);

  core* scheduler_;
  graph_tuner* by_ = nullptr;
};

[[noreturn]] void reject_worker_of_run();

/// Throws graph_error for options that a run cannot have, before anything of it is prepared.
template <class Option>
void check_option_of_run([[maybe_unused]] Option const& option) {
  if constexpr (is_with<Option>) {
    if (option.worker) reject_worker_of_run();
  }
}

template <class... Options>
graph_run graph_data::start(core& asked, std::size_t passes, unique_function<bool()> again, Options&&... options) {
  asked.check_open();
  (check_option_of_run(options), ...);
  constexpr bool is_part = (std::is_same_v<std::decay_t<Options>, part_option> || ...);
  executor_of_run selected{*this, asked, again || is_part ? std::size_t{0} : passes};
  run_state& r = prepare_run(selected.scheduler());
  graph_run handle{r};  // owns what the run will own, until it is certain that there is a run
  r.again = std::move(again);
  r.passes = passes;
  r.origin = stop_origin{interrupt_of_caller()};
  [[maybe_unused]] auto const apply = [&](auto&& option) {
    using type = std::decay_t<decltype(option)>;
    if constexpr (is_with<type>) {
      type how(std::forward<decltype(option)>(option));
      r.start_priority = how.priority;
      if (how.name != nullptr) r.copy_title(how.name);
      r.limit = start_deadline(*r.scheduler, how);
      if (how.stop.stop_possible()) r.stop.emplace(std::move(how.stop), run_state::interrupt_on_stop{&r});
    } else if constexpr (std::is_same_v<type, part_option>) {
      r.part = std::move(option.part);
    } else {
      static_assert(result_of_task<decltype(option())>::is_result);
      r.callback = std::forward<decltype(option)>(option);
    }
  };
  try {
    (apply(std::forward<Options>(options)), ...);
    selected.prepare(r);
  } catch (...) {
    r.stop.reset();
    r.limit.reset();
    r.again = nullptr;
    r.callback = nullptr;
    r.part = nullptr;
    r.finished.complete();  // no thread waits for it: its state can be used again
    throw;
  }
  r.retain();
  enqueue(r);
  selected.started();
  return handle;
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/layout.ipp"
#include "heist/graph/warnings.ipp"
#endif

#if HEIST_HEADER_ONLY
#include "heist/graph/run.ipp"
#endif
