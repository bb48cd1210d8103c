// How tokens go through a pipeline, without the types of its stages (README.md, "Pipelines").
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <memory>  // unique_ptr
#include <optional>
#include <stop_token>
#include <utility>  // exchange, forward, move

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/core/executor/future.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/sync/arrivals.hpp"

namespace heist {

/// The argument of a pipeline's first stage, by reference: stop() of a copy would not reach the pipeline.
class token {
 public:
  token(token const&) = delete;
  token& operator=(token const&) = delete;
  /// The number of this token in its run, from 0.
  std::size_t number() const noexcept { return number_; }
  /// Ends the input: this token does not exist, and the result of the stage is dropped.
  void stop() noexcept { stopped_ = true; }

 private:
  friend struct detail_token_access;
  explicit token(std::size_t number) noexcept : number_{number} {}
  std::size_t number_;
  bool stopped_ = false;
};
struct detail_token_access {
  static token make(std::size_t number) noexcept { return token{number}; }
  static bool stopped(token const& t) noexcept { return t.stopped_; }
};

/// The turn of one line at one serial stage: two have to come, the token itself and the one before it, which leaves.
/// The second to come continues.
template <class Env = os_env>
class basic_turn {
 public:
  /// How many have to come. Before anybody does.
  void expect(std::uint32_t n) noexcept { left_.expect(n); }
  /// True if the caller is the last; then it is ready for the next round.
  [[nodiscard]] bool arrive() noexcept {
    if (!left_.arrive()) return false;
    expect(2);
    return true;
  }

 private:
  alignas(cache_line_size) basic_arrivals<Env> left_;
};

namespace detail {

/// The handle's side of a run.
struct pipeline_state final : async_state<void> {
  explicit pipeline_state(async_place const& at) noexcept;
};

/// What lines share.
struct pipeline_core;

bool text_of_line(runnable const& self, task_view& view) noexcept;
unsigned wave_of_line(runnable const& self) noexcept;
inline constexpr described_operations line_operations{&text_of_line, &wave_of_line};
inline constexpr described line_what{&line_operations};

/// A place for a token; one task.
struct pipeline_line : queued_runnable {
  pipeline_line() noexcept : queued_runnable{{nullptr, &line_what}, nullptr} {}
  pipeline_core* of = nullptr;
  std::size_t index = 0;   ///< of the line
  std::size_t number = 0;  ///< of its token
};

/// How long the stages of a pipeline take, by some of their calls.
///
/// Threads  any.
class stage_times {
 public:
  /// Ticks of the clock; less is short. A token that is handed to another worker costs some 80 ns a stage, so two
  /// workers gain where stages take more than twice that.
  static constexpr std::uint32_t short_ticks = 600;

  explicit stage_times(std::size_t stages);

  /// Is this token's call timed? The first ones, then one of 64, in no order.
  static bool times(std::size_t token) noexcept {
    return token < 4 || static_cast<std::uint32_t>(token) * 0x9E3779B9u >> 26 == 0;
  }
  void ran(std::size_t stage, std::uint64_t ticks) noexcept;
  /// Are all these together? Not before they have been timed.
  bool are_short(std::size_t first, std::size_t end) const noexcept;

 private:
  std::unique_ptr<os_env::atomic<std::uint32_t>[]> ticks_;
};

/// The line that has been given its turn by what runs on a fiber, which keeps it, to run it next itself. Whoever waits
/// lets others have it before.
class kept_line : pending_children {
 public:
  explicit kept_line(fiber& self) noexcept : pending_children{&let_go, self.not_started}, self_{self} {
    self.not_started = this;
  }
  kept_line(kept_line const&) = delete;
  kept_line& operator=(kept_line const&) = delete;
  ~kept_line() { self_.not_started = older; }

  void keep(pipeline_line& l) noexcept {
    HEIST_ASSERT(line_ == nullptr, "a line that is kept is the next one, which has no other turn");
    line_ = &l;
  }
  /// Any worker may run it from here on.
  void push() noexcept;
  pipeline_line* take() noexcept { return std::exchange(line_, nullptr); }

 private:
  static void let_go(pending_children& self) noexcept { static_cast<kept_line&>(self).push(); }

  fiber& self_;
  pipeline_line* line_ = nullptr;
};

struct pipeline_core {
  pipeline_core(std::size_t tokens_at_a_time, std::size_t stages);
  pipeline_core(pipeline_core const&) = delete;
  pipeline_core& operator=(pipeline_core const&) = delete;
  ~pipeline_core();
  /// For a run in progress: before the lines are gone.
  void wait() const;

  basic_turn<>& turn(std::size_t stage, std::size_t line) noexcept { return turns[stage * lines + line]; }
  std::size_t after(std::size_t line) const noexcept { return line + 1 == lines ? 0 : line + 1; }
  /// No more tokens begin.
  bool over() const noexcept { return failed.load(std::memory_order_relaxed) || interrupt->any(); }  // relaxed: advice
  /// The first to fail owns the run's exception.
  void fail() noexcept;
  /// Starts a run whose lines are `first` and those that follow it, with `source` as the first stage; its future's
  /// share.
  future<void> start(core& scheduler, pipeline_line& first, std::optional<std::stop_token> token);
  /// Before start(): the run is the caller's. Throws executor_error if there is one, or the executor ends.
  void claim(core const& scheduler);
  /// All tokens are through.
  runnable* finish(fiber& self) noexcept;

  std::size_t const lines;
  stage_times times;
  std::unique_ptr<basic_turn<>[]> turns;  ///< by stage and line; those of parallel stages stay unused
  os_env::atomic<bool> running{false};
  os_env::atomic<bool> failed{false};
  std::exception_ptr exception;
  // Of whose turn it is at the first stage.
  std::size_t next_number = 0;
  bool said_stop = false;  ///< the first stage has
  std::size_t ended = 0;   ///< lines that have had their turn since the last token
  pipeline_state* run = nullptr;
  interrupt_state* interrupt = nullptr;  ///< the run's
  struct interrupt_on_stop {
    interrupt_state* state;
    void operator()() const noexcept { state->set(1); }
  };
  std::optional<std::stop_callback<interrupt_on_stop>> stop;
  shared_future<void> last;  ///< for the destructor
};

}  // namespace detail
}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/pipeline/pipeline_run.ipp"
#endif
