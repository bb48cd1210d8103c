// The executors that an executor of policy::automatic has beside itself: one for each policy that it tries, made when
// that is tried first. Their workers sleep while nothing is run there.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/policy/options.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

enum class other_policy { cab, replay };
inline constexpr std::size_t other_policies = 2;

/// An executor, without its type.
class other_executor {
 public:
  virtual ~other_executor() = default;
  virtual core& scheduler() noexcept = 0;
};

/// Threads  every member may be called by any thread; the constructor's extension before the workers start.
class others {
 public:
  /// Throws what executor's constructor throws.
  using make_function = unique_ptr<other_executor> (*)(other_policy which, options const& wanted);

  explicit others(make_function make) noexcept : make_{make} {}
  others(others const&) = delete;
  others& operator=(others const&) = delete;
  HEIST_RARE ~others();

  /// Keeps the options of the first executor, with as many workers as it has.
  void keep(options wanted, std::size_t workers);

  /// Null if there can be none.
  core* get(other_policy which) noexcept;
  core* made(other_policy which) const noexcept;
  /// How many workers they have, made or not; and which of them `w` is: a number below that, or that.
  std::size_t workers() const noexcept { return other_policies * wanted_.workers; }
  std::size_t number_of(worker const& w) const noexcept;

  /// Something that the first executor has to wait for begins there.
  void begins() noexcept { started_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: see wait_for_all()
  /// Returns when all work has ended there. True if any work was begun since `seen`. The waiting caller sets `seen` to
  /// 0 before its first call, and each call updates it. `told` gets the unobserved exceptions.
  bool wait_for_all(std::uint64_t& seen, unobserved_exceptions& told);
  std::string state_text() const;

 private:
  make_function const make_;
  options wanted_;
  std::array<os_env::atomic<other_executor*>, other_policies> all_{};
  os_env::atomic<std::uint64_t> started_{0};
};

/// Of an executor of policy::automatic.
others& others_of(core& scheduler) noexcept;

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/automatic/others.ipp"
#endif
