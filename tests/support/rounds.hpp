// Many repetitions provoke races. Beside busy processes each hand-over between threads takes a time slice: a second on
// a quiet machine becomes a minute there, and shows no more.
#pragma once

#include <chrono>

namespace heist_test {

/// At most `most` rounds, fewer if they take more than a second, but at least ten:
///   rounds r{300}; while (r.next()) ...
class rounds {
 public:
  explicit rounds(int most) noexcept : most_{most} {}

  /// Is there time for one more? Counts it.
  bool next() noexcept {
    bool const over = begun_ == most_ || (begun_ >= 10 && std::chrono::steady_clock::now() > until_);
    if (!over) ++begun_;
    return !over;
  }
  /// How many have been begun.
  int begun() const noexcept { return begun_; }

 private:
  int most_;
  int begun_ = 0;
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + std::chrono::seconds{1};
};

}  // namespace heist_test
