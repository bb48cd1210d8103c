// How loops run: the parts of a partitioner, on a task for each worker.
#pragma once

#include <algorithm>  // min
#include <atomic>
#include <cstddef>
#include <memory>   // make_shared
#include <utility>  // move

#include "heist/compat/taskflow/taskflow/algorithm/partitioner.hpp"
#include "heist/compat/taskflow/taskflow/core/runtime.hpp"

namespace tf::detail {

template <class Body>
void end_body(Body& body) {
  if constexpr (requires { body.end(); }) body.end();
}

/// Calls body(begin, end) for parts of [0, n). Each task has a copy of `body`, and calls its end() if it has one.
/// The last task is the caller.
template <class P, class Body>
void run_parts(Runtime& runtime, std::size_t n, P part, Body body) {
  std::size_t const workers = std::min(n, runtime.executor().num_workers());
  if (n == 0) return;
  if (workers == 1 || n <= part.chunk_size()) {
    auto whole = part([body = std::move(body), n]() mutable {
      visit_part(body, std::size_t{0}, n);
      end_body(body);
    });
    return whole();
  }
  if constexpr (P::type() == PartitionerType::STATIC) {
    for (std::size_t which = 0, at = 0; which != workers && at < n; ++which) {
      std::size_t const chunk = part.adjusted_chunk_size(n, workers, which);
      auto task = part([body, part, n, workers, at, chunk]() mutable {
        part.loop(n, workers, at, chunk, body);
        end_body(body);
      });
      at += chunk;
      which + 1 == workers || at >= n ? task() : runtime.silent_async(std::move(task));
    }
  } else {
    auto const next = std::make_shared<std::atomic<std::size_t>>(0);
    auto task = part([body = std::move(body), part, n, workers, next]() mutable {
      if constexpr (requires { Body::first_part; }) {
        // relaxed: it hands out numbers only
        std::size_t const first = next->fetch_add(Body::first_part, std::memory_order_relaxed);
        if (first >= n) return;
        visit_part(body, first, std::min(first + Body::first_part, n));
      }
      part.loop(n, workers, *next, body);
      end_body(body);
    });
    for (std::size_t which = 1; which != workers; ++which) runtime.silent_async(task);
    task();
  }
}

/// An iterator that a body moves forward.
template <class I>
class cursor {
 public:
  explicit cursor(I first) : at_(std::move(first)) {}
  I& at(std::size_t index) {
    std::advance(at_, static_cast<std::iter_difference_t<I>>(index - index_));
    index_ = index;
    return at_;
  }
  void passed(std::size_t index) noexcept { index_ = index; }

 private:
  I at_;
  std::size_t index_ = 0;
};
template <class I>
std::size_t length(I const& first, auto const& last) {
  return static_cast<std::size_t>(std::distance(first, last));
}

/// Returns a callable for emplace(). It calls `f(runtime, args...)` when it runs. An argument may be a std::ref to a
/// variable that is set before then.
template <class F, class... Args>
auto later(F f, Args... args) {
  return [f = std::move(f), ... args = std::move(args)](Runtime& runtime) mutable {
    f(runtime, static_cast<plain<Args>>(args)...);
  };
}

}  // namespace tf::detail
