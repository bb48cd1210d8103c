// substring_finder (the oneTBB example; ssf in Wool's Table 1). For every position of a string it finds the longest
// substring that starts there and also elsewhere, and its other position.
// The string is s(n) = s(n-1) s(n-2), s(0) = "a", s(1) = "b".
#pragma once

#include <algorithm>  // max
#include <vector>

#include "kernel.hpp"

namespace kernels {

class substring_finder {
 public:
  static constexpr description about{.name = "substring_finder",
                                     .problem = "for each position of s(n) the longest substring found elsewhere too",
                                     .size_means = "n of s(n) = s(n-1) s(n-2)",
                                     .smallest = 0,
                                     .largest = 24,
                                     .test = 11,
                                     .usual = 17,
                                     .published = 22};

  struct match {
    std::size_t length, position;
    bool operator==(match const&) const = default;
  };

  explicit substring_finder(std::size_t n) {
    std::string last = "a";
    text_ = "b";
    if (n == 0) text_.swap(last);
    for (std::size_t i = 2; i <= n; ++i) last = std::exchange(text_, text_ + last);
  }

  void prepare() { matches_.assign(text_.size(), match{0, 0}); }
  void serial() {
    for (std::size_t i = 0; i < text_.size(); ++i) matches_[i] = longest(i);
  }
  template <class Context>
  void parallel(Context ctx) {
    for_range(ctx, 0, text_.size(), 1, [this](std::size_t i) { matches_[i] = longest(i); });
  }
  std::vector<match> const& result() const { return matches_; }

  /// Checks that both substrings of a match are equal, and compares the lengths with a table of common prefixes.
  std::string check() const {
    std::size_t const n = text_.size();
    std::vector<std::size_t> wanted(n), common(n + 1), next(n + 1);  // common[j]: of the suffixes at i and at j
    for (std::size_t i = n; i-- > 0;) {
      std::swap(common, next);
      for (std::size_t j = 0; j < n; ++j) {
        common[j] = text_[i] == text_[j] ? next[j + 1] + 1 : 0;
        if (i != j) wanted[i] = std::max(wanted[i], common[j]);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      auto const [length, position] = matches_[i];
      if (length != wanted[i]) return fmt::format("at {} the length is {} instead of {}", i, length, wanted[i]);
      if (length != 0 && (position == i || text_.compare(i, length, text_, position, length) != 0))
        return fmt::format("at {} and at {} differs what should be the same", i, position);
    }
    return {};
  }

 private:
  /// The first of the longest matches.
  match longest(std::size_t i) const {
    match best{0, 0};
    std::size_t const n = text_.size();
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      std::size_t const most = n - std::max(i, j);
      std::size_t length = 0;
      while (length < most && text_[i + length] == text_[j + length]) ++length;
      if (length > best.length) best = {length, j};
    }
    return best;
  }

  std::string text_;
  std::vector<match> matches_;
};

}  // namespace kernels
