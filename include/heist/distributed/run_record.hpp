// One run of a distributed graph, as one rank sees it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>

#include "heist/core/sync/completion.hpp"
#include "heist/graph/run_state.hpp"

namespace heist::distributed {

struct run_record {
  std::uint32_t number = 0;
  unsigned generation = 0;
  bool told = false;        ///< the other ranks know that it is interrupted
  bool wanted = false;      ///< an interrupt has come before `local` was there
  bool stop_known = false;  ///< a stop was asked for, here or elsewhere, before this rank's part ended
  std::string given_up;     ///< why this rank waits no longer
  graph_run local;
  std::optional<std::stop_callback<std::function<void()>>> stop;
  // The verdict.
  heist::detail::completion over;
  int failed_on = -1;
  std::string text;
  bool stopped = false;
};

/// A rank's report on its part of a run, and rank 0's report on all parts.
using part_report = std::tuple<bool, bool, std::string>;     // failed, stopped, text
using decision_report = std::tuple<int, bool, std::string>;  // failed on, stopped, text

namespace detail {

/// The text of an exception, for a report.
inline std::string text_of(std::exception_ptr const& e) {
  try {
    std::rethrow_exception(e);
  } catch (std::exception const& x) {
    return x.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace detail

}  // namespace heist::distributed
