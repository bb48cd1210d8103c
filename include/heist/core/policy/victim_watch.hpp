// Debug builds: does a victim policy keep its promises while it is used?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heist/core/base/config.hpp"
#include "heist/core/policy/victim.hpp"

namespace heist::victim {

/// Watches the victims that one worker's policy names. It keeps one worker with work in mind, and expects that worker
/// to be named within enough() attempts. The number is thousands of times as large as `random` needs. It is some times
/// as large as needed by a policy that steals from workers with most tasks, or near ones, and from the other workers
/// every 64th time.
///
/// Threads  as the policy.
class watch {
 public:
  /// To be called for each attempt; false if `has_work(u)` has been true for some worker u, and still is, and u was not
  /// named in between. The thief itself stands for the injection queue.
  template <class HasWork>
  bool includes_all(thief_view const& me, std::uint32_t named, HasWork&& has_work) {
    if (named == suspect_) {
      suspect_ = none;
      attempts_ = 0;
    }
    if (++attempts_ <= enough(me.workers)) return true;
    attempts_ = 0;
    if (suspect_ < me.workers && has_work(suspect_)) return false;
    suspect_ = none;
    for (std::uint32_t i = 0; i != me.workers && suspect_ == none; ++i) {
      next_ = next_ + 1 < me.workers ? next_ + 1 : 0;
      if (has_work(next_)) suspect_ = next_;
    }
    return true;
  }
  /// The worker that it has in mind.
  std::uint32_t suspect() const noexcept { return suspect_; }

  /// A policy that holds V2 has named every worker by then.
  static constexpr std::uint64_t enough(std::uint32_t workers) noexcept {
    return 4000 * (50 + 20 * std::uint64_t{workers});
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint64_t attempts_ = 0;
  std::uint32_t suspect_ = none;
  std::uint32_t next_ = 0;  // the last that was thought of
};

/// The name of a policy, for people.
template <class P>
constexpr std::string_view name_of() noexcept {
  std::string_view name = __PRETTY_FUNCTION__;
  auto const begin = name.find("P = ");
  name = begin == std::string_view::npos ? name : name.substr(begin + 4);
  return name.substr(0, name.find_first_of(";]"));
}

/// `what` as a sentence about the policy P, with its name.
template <class P>
HEIST_COLD std::string complaint(std::string_view what) {
  return std::string{"the victim policy "}.append(name_of<P>()).append(" ").append(what);
}

}  // namespace heist::victim
