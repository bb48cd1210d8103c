// Tells on stderr how far a long solution has come, in one line that renews itself on a terminal.
#pragma once

#include <fmt/format.h>
#include <unistd.h>  // isatty

#include <chrono>
#include <cstddef>  // size_t
#include <cstdio>
#include <optional>
#include <string>

namespace heat {

using clock = std::chrono::steady_clock;

inline double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

enum class show_progress {
  on_terminals,  ///< after a second of work, where stderr is a terminal
  always,        ///< from the first step on; where stderr is no terminal, a line every two seconds
  never
};

/// One thread at a time.
class progress {
 public:
  explicit progress(show_progress when)
      : is_terminal_{isatty(STDERR_FILENO) == 1},
        is_patient_{when == show_progress::on_terminals},
        is_shown_at_all_{when == show_progress::always || (when == show_progress::on_terminals && is_terminal_)} {}
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { clear(); }

  /// From here time is counted.
  void start() {
    begin_ = clock::now();
    next_ = begin_ + std::chrono::seconds{is_patient_ ? 1 : 0};
  }

  /// `done` of at most `all` steps are done. Cheap enough to be called after each.
  void step(std::size_t done, std::size_t all, std::optional<double> change, std::optional<double> wanted_change) {
    if (!is_shown_at_all_) return;
    auto const now = clock::now();
    if (now < next_) return;
    next_ = now + (is_terminal_ ? std::chrono::milliseconds{100} : std::chrono::milliseconds{2000});
    auto text = fmt::format("step {} of ", done);
    if (wanted_change) {
      text += fmt::format("at most {}, ends when no cell changes by more than {:.3g}", all, *wanted_change);
      if (change) text += fmt::format(" (last seen {:.3g})", *change);
    } else {
      auto const left = seconds_since(begin_) / static_cast<double>(done) * static_cast<double>(all - done);
      text += fmt::format("{} ({} %), about {:.0f} s left", all, done * 100 / all, left);
    }
    clear();
    fmt::print(stderr, "{}{}", text, is_terminal_ ? "" : "\n");
    std::fflush(stderr);
    is_line_open_ = is_terminal_;
  }

  void clear() {
    if (is_line_open_) std::fputs("\r\033[K", stderr);
    is_line_open_ = false;
  }

 private:
  bool is_terminal_, is_patient_, is_shown_at_all_;
  bool is_line_open_ = false;
  clock::time_point begin_ = clock::now();
  clock::time_point next_ = begin_;
};

}  // namespace heat
