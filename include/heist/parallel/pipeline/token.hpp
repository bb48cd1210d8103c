// A token of a pipeline.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"

namespace heist {

namespace detail {
struct pipeline_core;
}

/// The argument of a pipeline's first stage, and of each stage of a scalable_pipeline, by reference: stop() of a copy
/// would not reach the pipeline.
class token {
 public:
  token(token const&) = delete;
  token& operator=(token const&) = delete;

  /// The number of this token in its run, from 0.
  std::size_t number() const noexcept { return number_; }
  /// The line that the token uses, below the number of tokens at a time. A line has one token at a time, from the first
  /// stage to the last. A program may use the line as the index of the token's buffer in its own array. A deferred
  /// token may come back on another line.
  std::size_t line() const noexcept { return line_; }
  /// Ends the input: this token does not exist, and the result of the stage is dropped. In a later stage the run fails
  /// with executor_error.
  void stop() noexcept { stopped_ = true; }

  /// In the first stage: puts this token aside until token `other` has left this stage. The pipeline drops the result
  /// of the stage, and calls the stage again with this token. It does so before new tokens, and at once if `other` has
  /// left already. After several calls the token waits for all those tokens. Tokens behind it do not wait for it: later
  /// serial stages have the order in which tokens leave the first stage. Stop takes precedence over defer.
  ///
  /// Throws executor_error if both tokens would wait for each other, directly or through other tokens, and in a later
  /// stage. If the input ends and the other token has not come, the run fails with executor_error. Cost: some memory
  /// for each token that waits.
  template <class = void>
  void defer(std::size_t other);
  /// How often this token has been deferred.
  std::size_t deferrals() const noexcept { return deferrals_; }

 private:
  friend struct detail::pipeline_core;
  token(detail::pipeline_core* of, std::size_t number, std::size_t line, std::size_t deferrals) noexcept
      : of_{of}, number_{number}, line_{line}, deferrals_{deferrals} {}

  detail::pipeline_core* of_;  ///< null in later stages
  std::size_t number_, line_, deferrals_;
  bool stopped_ = false;
};

}  // namespace heist
