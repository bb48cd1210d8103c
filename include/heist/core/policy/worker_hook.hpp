// A callable that options carry, for threads to call.
#pragma once

#include <cstddef>  // nullptr_t, size_t
#include <memory>   // make_shared, shared_ptr
#include <type_traits>
#include <utility>  // forward

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
  worker_hook(F&& f) : call_{std::make_shared<unique_function<void(std::size_t)>>(std::forward<F>(f))} {}
  // clang-format on

  explicit operator bool() const noexcept { return call_ != nullptr; }
  /// Not to be called when empty.
  void operator()(std::size_t worker) const { (*call_)(worker); }

 private:
  std::shared_ptr<unique_function<void(std::size_t)>> call_;
};

}  // namespace heist
