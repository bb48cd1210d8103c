// A progress line on stderr, for the examples. On a terminal it is redrawn in place; elsewhere each text is a new line.
#pragma once

#include <fmt/format.h>
#include <unistd.h>  // isatty

#include <chrono>
#include <cstdio>
#include <string_view>

namespace examples {

enum class show_progress {
  on_terminals,  ///< if stderr is a terminal, after one second of work
  always,        ///< from the first step on; every two seconds if stderr is no terminal
  never
};

/// One thread at a time.
class progress_line {
 public:
  explicit progress_line(show_progress when)
      : is_terminal_{isatty(STDERR_FILENO) == 1},
        is_patient_{when == show_progress::on_terminals},
        is_visible_at_all_{when == show_progress::always || (when == show_progress::on_terminals && is_terminal_)} {
    start();
  }
  progress_line(progress_line const&) = delete;
  progress_line& operator=(progress_line const&) = delete;
  ~progress_line() { clear(); }

  /// Marks the beginning of the work.
  void start() { next_ = clock::now() + std::chrono::seconds{is_patient_ ? 1 : 0}; }

  /// Returns true if a new text is due. Call it after each step.
  bool due() {
    if (!is_visible_at_all_) return false;
    auto const now = clock::now();
    if (now < next_) return false;
    next_ = now + (is_terminal_ ? std::chrono::milliseconds{100} : std::chrono::milliseconds{2000});
    return true;
  }

  void show(std::string_view text) {
    clear();
    fmt::print(stderr, "{}{}", text, is_terminal_ ? "" : "\n");
    std::fflush(stderr);
    is_open_ = is_terminal_;
  }
  void clear() {
    if (is_open_) std::fputs("\r\033[K", stderr);
    is_open_ = false;
  }

 private:
  using clock = std::chrono::steady_clock;

  bool is_terminal_, is_patient_, is_visible_at_all_;
  bool is_open_ = false;
  clock::time_point next_;
};

}  // namespace examples
