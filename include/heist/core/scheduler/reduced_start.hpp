// Makes an executor with less when the system refuses values that its options leave open.
#pragma once

#include <cstddef>  // size_t
#include <exception>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/policy/options.hpp"

namespace heist::detail {

/// The system has started some threads, and refuses one more.
struct thread_rejected : executor_error {
  thread_rejected(std::size_t so_far, std::size_t of_all, char const* text)
      : executor_error{text}, started{so_far}, wanted{of_all} {}
  std::size_t started, wanted;
};

/// The values to make an executor with, in one attempt after the other. When it ends without an exception it says on
/// stderr, once in a process, if the executor has less than it wanted.
struct attempt {
  explicit attempt(heist::options const& asked) noexcept
      : options{asked}, workers{asked.workers}, stack_size{asked.stack_size}, max_fibers{asked.max_fibers} {}
  attempt(attempt const&) = delete;
  attempt& operator=(attempt const&) = delete;
  ~attempt() {
    if (what_ != nullptr && std::uncaught_exceptions() == unwinding_) say();
  }

  /// In the handler of an attempt's exception: the next attempt asks for less. Throws the exception on if the options leave
  /// nothing open that was refused, or nothing is left.
  HEIST_RARE void ask_for_less(std::exception const& why);

  heist::options const& options;
  std::size_t workers, stack_size, max_fibers;  ///< in place of the options' values

 private:
  HEIST_RARE void say() const noexcept;
  std::size_t expected_workers() const;

  int const unwinding_ = std::uncaught_exceptions();
  char const* what_ = nullptr;
  char why_[256];
};

/// For configuration_text(): what the last executor has that was made with less than it wanted; 0: there was none.
struct made_with_less {
  HEIST_ONE_COPY static inline constinit os_env::atomic<std::size_t> workers{0};
  HEIST_ONE_COPY static inline constinit os_env::atomic<std::size_t> stack_size{0};
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/scheduler/reduced_start.ipp"
#endif
