// A stack for a thread's signal handlers: the one that it runs on may be full.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/fiber/current.hpp"

namespace heist::detail {

/// Memory from the start, used between enter() and leave(), both by the thread that it is for. Nothing under the
/// sanitizers, which have their own.
class handler_stack {
 public:
  handler_stack();
  void enter(worker& w) noexcept;
  void leave() noexcept;

 private:
  std::size_t bytes_ = 16384;
  unique_ptr<char[]> memory_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/fiber/handler_stack.ipp"
#endif
