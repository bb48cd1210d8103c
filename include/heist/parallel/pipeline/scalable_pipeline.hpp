// A pipeline whose stages are known at run time only.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/unique_function.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/executor/executor.hpp"
#include "heist/core/executor/start_access.hpp"
#include "heist/parallel/pipeline/deferred_tokens.hpp"
#include "heist/parallel/pipeline/pipeline_run.hpp"

namespace heist {

/// How a stage of a scalable_pipeline processes tokens: one at a time, in order; or any number in parallel.
enum class stage_mode : std::uint8_t { serial, parallel };

/// A sequence of stages that are added one by one. The pipeline calls each stage as f(token&) or f(context, token&). A
/// stage keeps the data of a token in the program's own memory, by token::line(). The first stage is serial. The
/// pipeline calls it until it calls token::stop(). ex.run(p) and ctx.run(p) run the pipeline and return a future<void>.
/// They take a heist::with as in pipeline.
///
/// Threads  one thread at a time adds stages and starts runs. During a run add(), clear() and a second run throw
///          executor_error.
/// Promises as pipeline. It can run again and again, with other stages, too.
/// Cost     as pipeline, and one indirect call for each stage.
class scalable_pipeline {
 public:
  /// Throws executor_error for 0 tokens at a time, or for too many.
  explicit scalable_pipeline(std::size_t tokens_at_a_time);
  /// Waits for a run in progress.
  ~scalable_pipeline();
  scalable_pipeline(scalable_pipeline const&) = delete;
  scalable_pipeline& operator=(scalable_pipeline const&) = delete;

  /// Adds a stage behind those that it has. `name`: as in serial_stage. Throws executor_error if the first stage is
  /// parallel.
  template <class F>
  void add(stage_mode mode, F&& f, char const* name = nullptr) {
    using function = std::decay_t<F>;
    static_assert(
        detail::callable_as_task<function, context, token&>,
        "heist: a stage of a scalable_pipeline is called with a heist::token&, which cannot be copied, or with "
        "a context and that; fix its parameters.");
    if constexpr (detail::callable_as_task<function, context, token&>) {
      add_stage(mode, name,
                [own = function(std::forward<F>(f))](detail::fiber& self, detail::interrupt_state const* stop,
                                                     token& t) mutable {
                  static_cast<void>(detail::call_with_context<context>(own, self, stop, t));
                });
    }
  }
  /// Removes all stages.
  void clear();
  /// The number of stages.
  std::size_t size() const noexcept { return stages_.size(); }

 private:
  friend struct detail::start_access;
  template <class... Options>
  future<void> start_run(detail::core& scheduler, std::size_t passes, Options&&... options) {
    return start(scheduler, passes, detail::options_of_pipeline(std::forward<Options>(options)...));
  }
  future<void> start(detail::core& scheduler, std::size_t passes, with how);
  using stage_function = unique_function<void(detail::fiber&, detail::interrupt_state const*, token&)>;
  struct stage {
    stage_function function;
    char const* name;
    bool serial;
    std::size_t row_end = 0;  ///< behind the stages that a token goes through until it has left its next serial stage
  };
  struct alignas(cache_line_size) line : detail::pipeline_line {
    scalable_pipeline* in = nullptr;
    std::size_t stage = 0;  ///< where it continues
    bool alive = false;     ///< its token is to go through further stages
  };

  void add_stage(stage_mode mode, char const* name, stage_function f);
  void reject_while_running(char const* what) const;
  void prepare();
  static detail::runnable* run_line(detail::runnable& task, detail::fiber& self);
  detail::runnable* go_on(line& l, detail::fiber& self, detail::kept_line& kept);
  bool begin_token(line& l, detail::fiber& self);
  void call(line& l, std::size_t s, detail::fiber& self);

  detail::pipeline_core core_;
  detail::unique_ptr<line[]> lines_;
  detail::vector<stage> stages_;
  bool changed_ = true;  ///< since the last run
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/pipeline/scalable_pipeline.ipp"
#endif
