// The decisions of one execution: which thread moves next, which store a load reads, which sleeper a wake wakes. The
// search is a walk over these decisions; a text of their numbers replays one execution exactly.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "malloc_allocator.hpp"

namespace model {

/// The subject of a decision; the random search weighs the kinds differently.
enum class about { schedule, value };

class choices {
 public:
  /// Picks one of `options` possibilities. 0 is always the plainest: resume, read the newest, wake the first.
  int choose(int options, about kind) noexcept {
    if (options <= 1) return 0;
    if (position_ < path_.size()) {
      choice& known = path_[position_++];
      if (known.options == 0) known.options = static_cast<std::uint8_t>(options);
      if (known.options != options) stop("a harness must do the same when it is given the same decisions");
      return known.taken;
    }
    int const taken = random_ ? draw(options, kind) : 0;
    path_.push_back({static_cast<std::uint8_t>(taken), static_cast<std::uint8_t>(options)});
    ++position_;
    return taken;
  }

  /// True when nothing is known of the decisions that follow: an earlier execution has not come here.
  bool explores() const noexcept { return searching_ && position_ >= path_.size(); }
  std::size_t length() const noexcept { return path_.size(); }
  /// How many there were so far in the running execution.
  std::size_t taken() const noexcept { return position_; }

  /// Starts an execution that takes the decisions on the path first.
  void rewind() noexcept { position_ = 0; }

  /// The first `count` decisions have been taken again.
  void go_back(std::size_t count) noexcept { position_ = count; }

  /// Depth first: changes the last decision that has an untried possibility. False when there is none left.
  bool advance() noexcept {
    path_.resize(position_);
    while (!path_.empty()) {
      if (++path_.back().taken < path_.back().options) return true;
      path_.pop_back();
    }
    return false;
  }

  /// Forgets the path; decisions are the plainest ones, or drawn from `seed`.
  void start_search() noexcept {
    path_.clear();
    random_ = false;
    searching_ = true;
  }
  void start_random(std::uint64_t seed) noexcept {
    path_.clear();
    random_ = true;
    searching_ = false;
    state_ = seed * 0x9E3779B97F4A7C15u + 1;
  }

  /// One character per decision, without the plain ones at the end; "-" when all are plain.
  std::string text() const {
    std::string all;
    for (choice const& c : path_) all += digits[c.taken];
    all.erase(all.find_last_not_of('0') + 1);
    return all.empty() ? "-" : all;
  }
  /// Takes the decisions of a text() and the plainest ones after its end.
  void start_replay(std::string const& text) {
    start_search();
    searching_ = false;
    if (text == "-") return;
    for (char c : text) {
      std::size_t const taken = std::string{digits}.find(c);
      if (taken == std::string::npos) stop("a replay text consists of digits and small letters");
      path_.push_back({static_cast<std::uint8_t>(taken), 0});
    }
  }

 private:
  struct choice {
    std::uint8_t taken;
    std::uint8_t options;  // 0: not yet known, in a replay
  };
  static constexpr char const* digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

  int draw(int options, about kind) noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    std::uint64_t const bits = (state_ * 0x2545F4914F6CDD1Du) >> 16;
    // Mostly plain: an execution in which everything is odd rarely gets far.
    bool const plain = kind == about::schedule ? bits % 4 != 0 : bits % 2 != 0;
    return plain ? 0 : static_cast<int>((bits >> 8) % static_cast<std::uint64_t>(options));
  }

  [[noreturn]] static void stop(char const* why) noexcept {
    std::fprintf(stderr, "model: %s\n", why);
    std::_Exit(2);
  }

  std::vector<choice, malloc_allocator<choice>> path_;
  std::size_t position_ = 0;
  bool random_ = false;
  bool searching_ = false;
  std::uint64_t state_ = 1;
};

inline choices decisions;

}  // namespace model
