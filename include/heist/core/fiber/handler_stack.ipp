// Bodies of handler_stack.hpp.
#pragma once

#include "heist/core/fiber/handler_stack.hpp"

#include <signal.h>  // sigaltstack
#include <unistd.h>  // sysconf

#include <new>

#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

HEIST_COLD_BODY handler_stack::handler_stack() {
  if constexpr (!under_asan && !under_tsan) {
    long const least = ::sysconf(_SC_SIGSTKSZ);
    if (least > 16384) bytes_ = static_cast<std::size_t>(least);
    bytes_ = (bytes_ & ~worker_sign::size_bits) + worker_sign::size_bits + 1 + worker_sign::size_mark;
    memory_ = make_unique_for_overwrite<char[]>(bytes_);
  }
}

HEIST_COLD_BODY void handler_stack::enter(worker& w) noexcept {
  if (!memory_) return;
  ::new (static_cast<void*>(memory_.get())) worker_sign{worker_sign::layout, memory_.get(), &w};
  stack_t mine{};
  mine.ss_sp = memory_.get();
  mine.ss_size = bytes_;
  ::sigaltstack(&mine, nullptr);
}

HEIST_COLD_BODY void handler_stack::leave() noexcept {
  if (!memory_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

}  // namespace heist::detail
