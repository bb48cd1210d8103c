// Stands for core/sync/unfetched.hpp: nobody asks for exceptions here, and nothing is said of them.
#pragma once

#include <exception>

namespace heist::detail {

class unfetched_exceptions {
 public:
  struct closing {
    void operator()(unfetched_exceptions* all) const noexcept { delete all; }
  };
  void keep(std::exception_ptr const&) noexcept {}
};

class unfetched_reference {
 public:
  void refer(unfetched_exceptions&) noexcept {}
  void keep(std::exception_ptr const&) const noexcept {}
};

}  // namespace heist::detail
