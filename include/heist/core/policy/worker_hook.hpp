// A callable that options carry, for threads to call.
#pragma once

#include <atomic>
#include <cstddef>  // nullptr_t, size_t
#include <cstdint>
#include <type_traits>
#include <utility>  // exchange, forward, swap

#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_function.hpp"

namespace heist {

/// void(std::size_t worker), or empty. Copies share the callable, which several threads may call at a time.
class worker_hook {
 public:
  worker_hook() noexcept = default;
  worker_hook(std::nullptr_t) noexcept {}
  // clang-format off
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, worker_hook> && std::is_invocable_v<std::decay_t<F>&, std::size_t>)
  worker_hook(F&& f) : shared_{new shared{std::forward<F>(f)}} {}
  // clang-format on
  worker_hook(worker_hook const& other) noexcept : shared_{other.shared_} {
    // relaxed: `other` keeps it alive meanwhile
    if (shared_ != nullptr) shared_->users.fetch_add(1, std::memory_order_relaxed);
  }
  worker_hook(worker_hook&& other) noexcept : shared_{std::exchange(other.shared_, nullptr)} {}
  worker_hook& operator=(worker_hook other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~worker_hook() {
    // acq_rel: the thread that deletes it sees the effects of the other threads' calls
    if (shared_ != nullptr && shared_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared_;
  }

  explicit operator bool() const noexcept { return shared_ != nullptr; }
  /// Must not be empty.
  void operator()(std::size_t worker) const { shared_->call(worker); }

 private:
  // A count of its own is lighter for a compiler than <memory> and std::shared_ptr.
  struct shared {
    unique_function<void(std::size_t)> call;
    os_env::atomic<std::uint32_t> users{1};
  };

  shared* shared_ = nullptr;
};

}  // namespace heist
