// Shows the progress on stderr: on a terminal one line, redrawn in place; elsewhere a new line every two seconds.
#pragma once

#include <fmt/format.h>
#include <unistd.h>  // isatty

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace timing {

using clock = std::chrono::steady_clock;

inline double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// One thread at a time.
class progress {
 public:
  progress() : is_terminal_{isatty(STDERR_FILENO) == 1} {}
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { clear(); }

  /// Shows the current work, on terminals only: such phases are short.
  void phase(std::string_view text) {
    if (!is_terminal_) return;
    clear();
    show(text);
  }

  /// Reports that `done` of `all` steps of `what` are done. Cheap enough for a call after each step.
  void step(std::string_view what, std::uint64_t done, std::uint64_t all) {
    auto const now = clock::now();
    if (now - last_ < (is_terminal_ ? std::chrono::milliseconds{100} : std::chrono::milliseconds{2000})) return;
    last_ = now;
    auto const elapsed = seconds_since(begin_);
    auto const left = done == 0 ? 0.0 : elapsed / static_cast<double>(done) * static_cast<double>(all - done);
    clear();
    show(fmt::format("{} {} of {} ({} %), about {:.0f} s left", what, done, all, all == 0 ? 100 : done * 100 / all,
                     left));
    if (!is_terminal_) std::fputc('\n', stderr);
  }

  /// Begins to count time for `step`.
  void restart() { begin_ = last_ = clock::now(); }

  void clear() {
    if (is_visible_ && is_terminal_) std::fputs("\r\033[K", stderr);
    is_visible_ = false;
  }

 private:
  void show(std::string_view text) {
    fmt::print(stderr, "{}", text);
    std::fflush(stderr);
    is_visible_ = true;
  }

  bool is_terminal_;
  bool is_visible_ = false;
  clock::time_point begin_ = clock::now();
  clock::time_point last_ = begin_;
};

}  // namespace timing
