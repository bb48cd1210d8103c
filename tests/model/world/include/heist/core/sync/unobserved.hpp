// Replaces core/sync/unobserved.hpp. The models ask for no exceptions, so this class keeps and reports none.
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
