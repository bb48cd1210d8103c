// How tokens go through a pipeline, without the types of its stages (README.md, "Pipelines").
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <utility>  // exchange, forward, move

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/core/executor/future.hpp"
#include "heist/core/executor/with.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/sync/arrivals.hpp"
#include "heist/core/sync/time_limit.hpp"
#include "heist/parallel/pipeline/token.hpp"

namespace heist {
namespace detail {

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

/// The handle's side of a run.
struct pipeline_state final : async_state<void> {
  explicit pipeline_state(async_place const& at) noexcept;
};

bool text_of_line(runnable const& self, task_view& view) noexcept;
unsigned wave_of_line(runnable const& self) noexcept;
inline constexpr described_operations line_operations{&text_of_line, &wave_of_line};
inline constexpr described line_what{&line_operations};

/// The tokens of a run that have been deferred; deferred_tokens.hpp has the only kind.
struct deferral {
  static constexpr std::size_t none = ~std::size_t{0};
  struct token_state {
    std::size_t number = none, deferrals = 0;
  };
  /// Token `number` waits for token `other`.
  struct pair {
    std::size_t number, other;
  };

  virtual ~deferral() = default;
  virtual void ask(std::size_t number, std::size_t other) = 0;
  virtual bool asked() const noexcept = 0;
  virtual void forget_asked() noexcept = 0;
  virtual void defer(std::size_t number, std::size_t deferrals, std::size_t next) = 0;
  virtual void left(std::size_t number) noexcept = 0;
  virtual void drop(std::size_t number) noexcept = 0;
  virtual token_state take_ready() noexcept = 0;
  virtual bool empty() const noexcept = 0;
  virtual pair first_pair() const noexcept = 0;
};
[[noreturn]] HEIST_RARE void reject_cycle_of_tokens(std::size_t number, std::size_t other);

/// The name of a stage for observers.
char const* name_of_stage(char const* given, std::size_t number) noexcept;

/// A place for a token; one task.
struct pipeline_line : queued_runnable {
  pipeline_line() noexcept : queued_runnable{{nullptr, &line_what}, nullptr} {}
  pipeline_core* of = nullptr;
  std::size_t index = 0;      ///< of the line
  std::size_t number = 0;     ///< of its token
  std::size_t deferrals = 0;  ///< as above
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
  /// Are all these together? False until they have been timed.
  bool are_short(std::size_t first, std::size_t end) const noexcept;

 private:
  unique_ptr<os_env::atomic<std::uint32_t>[]> ticks_;
};

/// The line that has been given its turn by what runs on a fiber, which keeps it, to run it next itself. A fiber that
/// waits gives the line to other workers before.
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
  void fail_with(std::exception_ptr e) noexcept;

  // Of whose turn it is at the first stage: next_token(), the stage with first_token(), finish_first_stage().
  /// The next token that the first stage is called with gets its number and goes on `l`. False: there is none any more.
  bool next_token(pipeline_line& l) {
    if (deferred != nullptr) [[unlikely]]
      return next_of_deferred(l);
    l.number = next_number++;
    l.deferrals = 0;
    return true;
  }
  token first_token(pipeline_line const& l) noexcept { return {this, l.number, l.index, l.deferrals}; }
  static token later_token(pipeline_line const& l) noexcept { return {nullptr, l.number, l.index, l.deferrals}; }
  enum class outcome { leaves, is_deferred, ends_input };
  /// The first stage has returned.
  outcome finish_first_stage(token const& t) {
    if (deferred != nullptr) [[unlikely]]
      return finish_deferred(t);
    if (!t.stopped_) return outcome::leaves;
    input_ended = true;
    return outcome::ends_input;
  }
  /// A later stage has returned: it must not have ended the input.
  static void check_later(token const& t) {
    if (t.stopped_) [[unlikely]]
      reject_late_stop();
  }
  /// token::defer().
  static void defer(pipeline_core* of, std::size_t number, std::size_t other, unique_ptr<deferral> (*make)());

  /// Before a run: each line is free, and the first has the turn. `stages`: the first serial, too.
  void arm_turns(std::size_t stages) noexcept;
  /// The token in front of `following` has left serial stage `stage`. `begin()` says at which stage the line continues,
  /// if it has its turn now: not before, it may stand in a deque for another stage. The line goes on here, after this
  /// token, if that is soon: if the stages up to `row_end` are short.
  template <class Begin>
  void pass_turn(std::size_t stage, std::size_t row_end, pipeline_line& following, Begin&& begin, fiber& self,
                 kept_line& kept) {
    bool const is_soon = self.scheduler.worker_count == 1 || times.are_short(stage + 1, row_end);
    bool const may_keep = is_soon && self.scheduler.joins == join_strategy::park;  // other joins wait without a word
    if (!may_keep) kept.push();
    if (!turn(stage, following.index).arrive()) return;
    begin();
    if (may_keep) {
      kept.keep(following);
    } else {
      self.scheduler.push(*self.worker, static_cast<queued_runnable&>(following));
    }
  }
  /// The token of `l` has left the last stage. Returns what the worker runs next.
  runnable* free_line(pipeline_line& l, fiber& self, kept_line& kept) {
    if (lines != 1 && !turn(0, l.index).arrive()) return kept.take();
    runnable* const next = kept.take();
    if (next == nullptr) return &l;
    self.scheduler.push(*self.worker, static_cast<queued_runnable&>(l));
    return next;
  }
  /// There are no more tokens: the turn goes once through all lines, each of which is then free. `begin()`: as above.
  template <class Begin>
  runnable* pass_end(pipeline_line& following, Begin&& begin, fiber& self) {
    if (++ended == lines) return finish(self);
    if (!turn(0, following.index).arrive()) return nullptr;
    begin();
    return &following;
  }
  /// Starts a run whose lines are `first` and those that follow it, with `source` as the first stage; its future's
  /// share.
  future<void> start(core& scheduler, pipeline_line& first, with how);
  /// Before start(): the run is the caller's. Throws executor_error if there is one, or the executor ends.
  /// Uses .stop and .deadline of `how`; stages have names of their own. Throws executor_error for several passes, for a
  /// priority, a worker or fifo, and during a run.
  void claim(core const& scheduler, std::size_t passes, with const& how);
  /// Sets the number of stages. Must not be called during a run.
  void set_stages(std::size_t stages);
  /// All tokens are through.
  runnable* finish(fiber& self) noexcept;
  bool next_of_deferred(pipeline_line& l);
  outcome finish_deferred(token const& t);
  [[noreturn]] HEIST_RARE static void reject_late_stop();

  std::size_t const lines;
  stage_times times;
  unique_ptr<basic_turn<>[]> turns;  ///< by stage and line; those of parallel stages stay unused
  os_env::atomic<bool> running{false};
  os_env::atomic<bool> failed{false};
  std::exception_ptr exception;
  // Of whose turn it is at the first stage.
  std::size_t next_number = 0;
  bool input_ended = false;       ///< the first stage has
  std::size_t ended = 0;          ///< lines that have had their turn since the last token
  unique_ptr<deferral> deferred;  ///< made by the first token::defer() of a run
  pipeline_state* run = nullptr;
  interrupt_state* interrupt = nullptr;  ///< the run's
  struct interrupt_on_stop {
    interrupt_state* state;
    void operator()() const noexcept { state->set(1); }
  };
  std::optional<std::stop_callback<interrupt_on_stop>> stop;
  running_limit limit;
  shared_future<void> last;  ///< for the destructor
};

}  // namespace detail
}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/pipeline/pipeline_run.ipp"
#endif
