// For libraries whose threads recurse on the stack that the system gives them: some kernels nest tens of thousands
// deep.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <stdexcept>
#include <thread>

namespace bench {

inline constexpr std::size_t large_stack = std::size_t{1} << 30;  // address space; memory only as far as it is used

/// Calls f() on a new thread and waits for it. That thread and all threads made later have a stack of `bytes` bytes,
/// unless they are made with another size. Needs GNU libc.
template <class F>
int with_large_stacks(F f, std::size_t bytes = large_stack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  int const rejected = pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
  if (rejected != 0) throw std::runtime_error{"the system refuses large stacks"};
  int status = 0;
  std::thread{[&] { status = f(); }}.join();
  return status;
}

}  // namespace bench
