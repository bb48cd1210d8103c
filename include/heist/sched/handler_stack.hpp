// A stack for a thread's signal handlers: the one that it runs on may be full.
#pragma once

#include <signal.h>  // sigaltstack
#include <unistd.h>  // sysconf

#include <cstddef>  // size_t
#include <memory>   // unique_ptr
#include <new>

#include "heist/base/config.hpp"
#include "heist/sched/current.hpp"

namespace heist::detail {

/// Memory from the start, used between enter() and leave(), both by the thread that it is for. Nothing under the
/// sanitizers, which have their own.
class handler_stack {
 public:
  handler_stack() {
    if constexpr (!under_asan && !under_tsan) {
      long const least = ::sysconf(_SC_SIGSTKSZ);
      if (least > 16384) bytes_ = static_cast<std::size_t>(least);
      bytes_ = (bytes_ & ~worker_sign::size_bits) + worker_sign::size_bits + 1 + worker_sign::size_mark;
      memory_ = std::make_unique_for_overwrite<char[]>(bytes_);
    }
  }

  void enter(worker& w) noexcept {
    if (!memory_) return;
    ::new (static_cast<void*>(memory_.get())) worker_sign{worker_sign::layout, memory_.get(), &w};
    stack_t mine{};
    mine.ss_sp = memory_.get();
    mine.ss_size = bytes_;
    ::sigaltstack(&mine, nullptr);
  }
  void leave() noexcept {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }

 private:
  std::size_t bytes_ = 16384;
  std::unique_ptr<char[]> memory_;
};

}  // namespace heist::detail
