// How a graph runs: lines of runs, passes, and their ends (README.md, "How a run ends"). Bodies of graph_data.
#pragma once

#include <cstddef>  // size_t
#include <type_traits>
#include <utility>  // exchange, forward, move

#include "heist/base/config.hpp"
#include "heist/graph/build.hpp"
#include "heist/graph/graph_data.hpp"

namespace heist::detail {

/// The graph that the calling code is a task or a callback of, or null.
struct caller {
  graph_data* graph = nullptr;
  bool is_callback = false;

  static caller now() noexcept;
};

template <class... Options>
graph_run graph_data::start(core& home, std::size_t passes, unique_function<bool()> again, Options&&... options) {
  home.check_open();
  run_state& r = prepare_run(home);
  graph_run handle{r};  // owns what the run will own, until it is certain that there is a run
  r.again = std::move(again);
  r.passes = passes;
  [[maybe_unused]] auto const apply = [&](auto&& option) {
    using type = std::decay_t<decltype(option)>;
    if constexpr (std::is_same_v<type, std::stop_token>) {
      if (option.stop_possible())
        r.stop.emplace(std::forward<decltype(option)>(option), run_state::interrupt_on_stop{&r});
    } else {
      static_assert(
          std::is_invocable_v<type&>,
          "heist: what follows the graph in run() is a std::stop_token or a callable without parameters, which "
          "is called when the run has ended; mend the argument.");
      r.callback = std::forward<decltype(option)>(option);
    }
  };
  try {
    (apply(std::forward<Options>(options)), ...);
  } catch (...) {
    r.stop.reset();
    r.again = nullptr;
    r.finished.complete();  // nobody waits for it: its state can be used again
    throw;
  }
  r.retain();
  enqueue(r);
  return handle;
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/layout.ipp"
#endif

#if HEIST_HEADER_ONLY
#include "heist/graph/run.ipp"
#endif
