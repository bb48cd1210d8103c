// Shows the progress of a long solution on stderr.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>  // size_t
#include <optional>

#include "../progress_line.hpp"

namespace heat {

using clock = std::chrono::steady_clock;
using examples::show_progress;

inline double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// One thread at a time.
class progress {
 public:
  explicit progress(show_progress when) : line_{when} {}

  /// Starts to count the time.
  void start() {
    begin_ = clock::now();
    line_.start();
  }

  /// Reports that `done` of at most `all` steps are done. Cheap enough for a call after each step.
  void step(std::size_t done, std::size_t all, std::optional<double> change, std::optional<double> wanted_change) {
    if (!line_.due()) return;
    auto text = fmt::format("step {} of ", done);
    if (wanted_change) {
      text += fmt::format("at most {}, ends when no cell changes by more than {:.3g}", all, *wanted_change);
      if (change) text += fmt::format(" (last seen {:.3g})", *change);
    } else {
      auto const left = seconds_since(begin_) / static_cast<double>(done) * static_cast<double>(all - done);
      text += fmt::format("{} ({} %), about {:.0f} s left", all, done * 100 / all, left);
    }
    line_.show(text);
  }

  void clear() { line_.clear(); }

 private:
  examples::progress_line line_;
  clock::time_point begin_ = clock::now();
};

}  // namespace heat
