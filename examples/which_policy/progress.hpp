// Tells on stderr how far the work has come: one line that renews itself on a terminal, now and then a line elsewhere.
#pragma once

#include <fmt/format.h>
#include <unistd.h>  // isatty

#include <chrono>
#include <cstddef>  // size_t
#include <cstdio>
#include <string_view>

namespace which_policy {

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
        is_shown_at_all_{when == show_progress::always || (when == show_progress::on_terminals && is_terminal_)} {
    next_ = begin_ + std::chrono::seconds{when == show_progress::always ? 0 : 1};
  }
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { clear(); }

  /// `done` of `all` steps of `what` are done.
  void step(std::string_view what, std::size_t done, std::size_t all) {
    auto const now = clock::now();
    if (what.data() != last_.data()) last_ = what, begin_ = now;
    if (!is_shown_at_all_ || now < next_) return;
    next_ = now + (is_terminal_ ? std::chrono::milliseconds{100} : std::chrono::milliseconds{2000});
    clear();
    fmt::print(stderr, "{} {} of {}", what, done, all);
    if (done != 0) {
      auto const so_far = std::chrono::duration<double>(now - begin_).count();
      fmt::print(stderr, ", about {:.0f} s left", so_far / static_cast<double>(done) * static_cast<double>(all - done));
    }
    if (!is_terminal_) std::fputc('\n', stderr);
    std::fflush(stderr);
    is_line_open_ = is_terminal_;
  }

  void clear() {
    if (is_line_open_) std::fputs("\r\033[K", stderr);
    is_line_open_ = false;
  }

 private:
  using clock = std::chrono::steady_clock;

  bool is_terminal_, is_shown_at_all_;
  bool is_line_open_ = false;
  std::string_view last_;
  clock::time_point begin_ = clock::now(), next_;
};

}  // namespace which_policy
