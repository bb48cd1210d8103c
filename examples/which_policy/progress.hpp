// Shows the progress on stderr.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>  // size_t
#include <string_view>

#include "../progress_line.hpp"

namespace which_policy {

using examples::show_progress;

/// One thread at a time.
class progress {
 public:
  explicit progress(show_progress when) : line_{when} {}

  /// Reports that `done` of `all` steps of `what` are done.
  void step(std::string_view what, std::size_t done, std::size_t all) {
    auto const now = clock::now();
    if (what.data() != last_.data()) last_ = what, begin_ = now;
    if (!line_.due()) return;
    auto text = fmt::format("{} {} of {}", what, done, all);
    if (done != 0) {
      auto const so_far = std::chrono::duration<double>(now - begin_).count();
      text +=
          fmt::format(", about {:.0f} s left", so_far / static_cast<double>(done) * static_cast<double>(all - done));
    }
    line_.show(text);
  }

  void clear() { line_.clear(); }

 private:
  using clock = std::chrono::steady_clock;

  examples::progress_line line_;
  std::string_view last_;
  clock::time_point begin_ = clock::now();
};

}  // namespace which_policy
