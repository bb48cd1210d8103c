// Stands for core/sync/unobserved.hpp: nobody asks for exceptions here, and nothing is said of them.
#pragma once

#include <exception>

namespace heist::detail {

class unobserved_exceptions {
 public:
  struct closing {
    void operator()(unobserved_exceptions* all) const noexcept { delete all; }
  };
  void keep(std::exception_ptr const&) noexcept {}
};

class unobserved_reference {
 public:
  void refer(unobserved_exceptions&) noexcept {}
  void keep(std::exception_ptr const&) const noexcept {}
};

}  // namespace heist::detail
