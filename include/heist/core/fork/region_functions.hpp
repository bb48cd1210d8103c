// How code uses a region whose inside it does not know.
#pragma once

#include <atomic>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"

namespace heist {

class region;

namespace detail {

/// The functions of a region for code that does not include region.hpp: loops.
struct region_functions {
  void (*begin)(region& r);  ///< throws region_error if it is in use
  void (*end)(region& r) noexcept;
  char const* (*name)(region const& r) noexcept;

  /// Set by the first region that is made. Read with a region at hand.
  HEIST_ONE_COPY static inline constinit os_env::atomic<region_functions const*> of_all = nullptr;
};

/// While a region is in use without a room.
class region_in_use {
 public:
  explicit region_in_use(region& r) : r_{r} { functions().begin(r); }
  region_in_use(region_in_use const&) = delete;
  region_in_use& operator=(region_in_use const&) = delete;
  ~region_in_use() { functions().end(r_); }

  static region_functions const& functions() noexcept {
    return *region_functions::of_all.load(std::memory_order_relaxed);  // relaxed: it refers to constants
  }

 private:
  region& r_;
};

}  // namespace detail
}  // namespace heist
