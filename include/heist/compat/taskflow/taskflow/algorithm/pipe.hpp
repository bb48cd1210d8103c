// Pipes, and the token that passes them.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>  // forward, move
#include <vector>

#include "heist/compat/taskflow/taskflow/core/error.hpp"

namespace tf {

namespace detail {
class pipeline_base;
class deferrals;
}  // namespace detail

/// A token in a pipe: which line carries it, and its number.
class Pipeflow {
 public:
  Pipeflow() = default;
  std::size_t line() const noexcept { return line_; }
  std::size_t pipe() const noexcept { return pipe_; }
  std::size_t token() const noexcept { return token_; }
  /// In the first pipe: this token does not exist, and none comes after it.
  void stop() {
    if (pipe_ != 0)
      detail::reject(
          "heist: a pipe that is not the first stops a tf::Pipeline; fix it by pf.stop() in the first pipe.");
    stop_ = true;
  }
  /// In the first pipe: calls it again for this token after that other token has passed it.
  void defer(std::size_t token) {
    if (pipe_ != 0)
      detail::reject("heist: a pipe that is not the first defers a token; fix it by pf.defer() in the first pipe.");
    if (token != token_) after_.push_back(token);
  }
  /// How often the first pipe has deferred this token.
  std::size_t num_deferrals() const noexcept { return deferred_; }

 private:
  friend class detail::pipeline_base;
  friend class detail::deferrals;
  std::size_t line_ = 0, pipe_ = 0, token_ = 0, deferred_ = 0;
  std::vector<std::size_t> after_;
  bool stop_ = false;
};

enum class PipeType : int { PARALLEL = 1, SERIAL = 2 };

template <class C = std::function<void(Pipeflow&)>>
class Pipe {
 public:
  using callable_t = C;
  Pipe() = default;
  Pipe(PipeType type, C callable) : type_{type}, callable_(std::move(callable)) {}
  PipeType type() const noexcept { return type_; }
  void type(PipeType to) noexcept { type_ = to; }
  template <class U>
  void callable(U&& to) {
    callable_ = std::forward<U>(to);
  }
  // For the code of the layer.
  C& function() noexcept { return callable_; }

 private:
  PipeType type_ = PipeType::SERIAL;
  C callable_;
};

}  // namespace tf
