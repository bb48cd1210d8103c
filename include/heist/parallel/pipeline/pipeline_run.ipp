// Bodies of pipeline_run.hpp.
#pragma once

#include "heist/parallel/pipeline/pipeline_run.hpp"

#include <iterator>  // size

#include "heist/core/base/format.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

inline constexpr async_operations pipeline_operations = [] {
  async_operations o{{&text_of_async, &wave_of_async}, &destroy_async<pipeline_state>};
  // The state of a pipeline's run is behind the task, and the run looks at all its bits.
  o.stop = [](async_base& self) noexcept {
    inherited_stop::of(self)->state.set(stop_state::by_token);
    return true;
  };
  return o;
}();
inline constexpr described pipeline_what{&pipeline_operations};
inline constexpr std::size_t most_lines = std::size_t{1} << 16;

HEIST_COLD_BODY pipeline_state::pipeline_state(async_place const& at) noexcept
    : async_state<void>{nullptr, &pipeline_what, at} {}

HEIST_COLD_BODY bool text_of_line(runnable const& self, task_view& view) noexcept {
  view = {task_kind::other, &self, "pipeline"};
  return false;  // its stages are told
}

HEIST_COLD_BODY unsigned wave_of_line(runnable const& self) noexcept {
  return static_cast<pipeline_line const&>(self).of->run->wave;
}

HEIST_COLD_BODY char const* name_of_stage(char const* given, std::size_t number) noexcept {
  static constexpr char const* by_place[] = {"stage 1", "stage 2", "stage 3", "stage 4", "stage 5", "stage 6"};
  return given != nullptr ? given : number < std::size(by_place) ? by_place[number] : "a later stage";
}

HEIST_COLD_BODY stage_times::stage_times(std::size_t stages)
    : ticks_{make_unique<os_env::atomic<std::uint32_t>[]>(stages)} {
  for (std::size_t s = 0; s != stages; ++s)
    ticks_[s].store(~std::uint32_t{0}, std::memory_order_relaxed);  // relaxed: as below
}

/// Shorter at once, longer by a quarter: one call that was disturbed makes a stage long for a while.
HEIST_COLD_BODY void stage_times::ran(std::size_t stage, std::uint64_t ticks) noexcept {
  auto const now = static_cast<std::uint32_t>(ticks < ~std::uint32_t{0} ? ticks : ~std::uint32_t{0});
  std::uint32_t const before = ticks_[stage].load(std::memory_order_relaxed);                        // relaxed: advice
  ticks_[stage].store(now < before ? now : before + (now - before) / 4, std::memory_order_relaxed);  // relaxed: advice
}

HEIST_BODY bool stage_times::are_short(std::size_t first, std::size_t end) const noexcept {
  std::uint64_t all = 0;
  for (std::size_t s = first; s != end; ++s) all += ticks_[s].load(std::memory_order_relaxed);  // relaxed: advice
  return all < short_ticks;
}

HEIST_BODY void kept_line::push() noexcept {
  if (pipeline_line* const l = take(); l != nullptr)
    self_.scheduler.push(*self_.worker, static_cast<queued_runnable&>(*l));
}

HEIST_COLD_BODY pipeline_core::pipeline_core(std::size_t tokens_at_a_time, std::size_t stages)
    : lines{tokens_at_a_time}, times{stages} {
  if (lines == 0 || lines > most_lines) {
    throw executor_error{
        format_text("a pipeline of {} tokens at a time: 1 to {} are allowed. Fix it by some for each worker.",
                    {lines, most_lines})};
  }
  turns = make_unique<basic_turn<>[]>(lines * stages);
}

HEIST_COLD_BODY void pipeline_core::set_stages(std::size_t stages) {
  stage_times unused{stages};
  turns = make_unique<basic_turn<>[]>(lines * stages);
  times = std::move(unused);
}

HEIST_COLD_BODY void pipeline_core::arm_turns(std::size_t stages) noexcept {
  for (std::size_t s = 0; s != stages; ++s) {
    // A turn awaits the token itself and the token before it. At the first stage the first line has the turn. At later
    // stages no token is before it.
    for (std::size_t l = 0; l != lines; ++l) turn(s, l).expect((s == 0) == (l == 0) ? 2 : 1);
  }
}

HEIST_COLD_BODY pipeline_core::~pipeline_core() = default;

HEIST_COLD_BODY void pipeline_core::wait() const {
  if (!last.valid()) return;
  try {
    wait_to_the_end(future_access::state(last).finished, future_access::state(last).generation,
                    {"the run of a pipeline, to destroy it"});
  } catch (executor_error const&) {  // a child of fork(): no worker runs it here
  }
}

HEIST_COLD_BODY void pipeline_core::fail() noexcept {
  fail_with(exception_of_task());
}

HEIST_COLD_BODY void pipeline_core::fail_with(std::exception_ptr e) noexcept {
  // acq_rel: the first one owns the exception, which the worker that finishes the run sees through the turns
  if (!failed.exchange(true, std::memory_order_acq_rel)) exception = std::move(e);
}

HEIST_COLD_BODY void pipeline_core::claim(core const& scheduler, std::size_t passes, with const& how) {
  if (passes != 1) {
    throw executor_error{
        "run_n() of a pipeline: its first stage says how often it is called; fix it by run(), once for each pass."};
  }
  reject_place("a run of a pipeline", how);
  scheduler.check_open();
  if (running.exchange(true, std::memory_order_acquire)) {  // acquire: pairs with finish()
    throw executor_error{
        "a pipeline is run while it runs: its stages' order would be lost. Fix it by get() on the first run before, or "
        "by a second pipeline."};
  }
}

HEIST_COLD_BODY future<void> pipeline_core::start(core& scheduler, pipeline_line& first, with how) {
  try {
    limit = start_deadline(scheduler, how);
    run = make_async<pipeline_state>(scheduler, sizeof(inherited_stop));
  } catch (...) {
    limit.reset();
    running.store(false, std::memory_order_relaxed);  // relaxed: nothing has been done
    throw;
  }
  inherited_stop::add(*run, interrupt_of_caller());
  interrupt = &inherited_stop::of(*run)->state;
  if (how.stop.stop_possible()) stop.emplace(std::move(how.stop), interrupt_on_stop{interrupt});
  failed.store(false, std::memory_order_relaxed);  // relaxed: what starts the run publishes it
  exception = nullptr;
  next_number = ended = 0;
  input_ended = false;
  deferred.reset();
  future<void> result = future_access::make<void>(*run);
  run->retain();
  last = future<void>{future_access::make<void>(*run)};
  scheduler.submit(first, [this](unsigned wave) { run->wave = static_cast<std::uint8_t>(wave); });
  return result;
}

HEIST_COLD_BODY void pipeline_core::defer(pipeline_core* of, std::size_t number, std::size_t other,
                                          unique_ptr<deferral> (*make)()) {
  if (of == nullptr) {
    throw executor_error{
        "token::defer() in a later stage of a pipeline: only the first stage can wait for other tokens; fix it by "
        "calling it there."};
  }
  if (of->deferred == nullptr) of->deferred = make();
  of->deferred->ask(number, other);
}

HEIST_COLD_BODY void reject_cycle_of_tokens(std::size_t number, std::size_t other) {
  throw executor_error{
      format_text("token {} of a pipeline is deferred until token {} has left the first stage, and that one waits "
                  "for token {}: neither would ever come. Fix it by an order of deferrals without a circle.",
                  {number, other, number})};
}

HEIST_COLD_BODY bool pipeline_core::next_of_deferred(pipeline_line& l) {
  deferral::token_state const next = deferred->take_ready();
  if (next.number == deferral::none && !input_ended) {
    l.number = next_number++;
    l.deferrals = 0;
    return true;
  }
  l.number = next.number;
  l.deferrals = next.deferrals;
  if (next.number != deferral::none) return true;
  if (!deferred->empty()) {
    auto const [number, other] = deferred->first_pair();
    fail_with(std::make_exception_ptr(executor_error{
        format_text("token {} of a pipeline is deferred until token {} has left the first stage, and the input has "
                    "ended without that one. Fix it by deferring only to tokens that come.",
                    {number, other})}));
  }
  return false;
}

HEIST_COLD_BODY pipeline_core::outcome pipeline_core::finish_deferred(token const& t) {
  if (t.stopped_) {
    input_ended = true;
    deferred->forget_asked();
    deferred->drop(t.number_);
    return outcome::is_deferred;  // other lines may be ready
  }
  if (deferred->asked()) {
    deferred->defer(t.number_, t.deferrals_, next_number);
    return outcome::is_deferred;
  }
  deferred->left(t.number_);
  return outcome::leaves;
}

HEIST_COLD_BODY void pipeline_core::reject_late_stop() {
  throw executor_error{
      "token::stop() in a later stage of a pipeline: only the first stage ends the input; fix it by calling it there, "
      "or by heist::with{.stop = token} for the run."};
}

HEIST_BODY runnable* pipeline_core::finish(fiber& self) noexcept {
  pipeline_state& over = *run;
  bool const all_tokens = input_ended && (deferred == nullptr || deferred->empty());
  bool const stopped = !all_tokens && interrupt->any();
  stop.reset();
  limit.reset();
  if (exception) {
    over.fail_with(std::move(exception));
  } else if (stopped) {
    over.exception =
        std::make_exception_ptr(stopped_error{"the pipeline was stopped before its first stage had said so"});
  }
  running.store(false, std::memory_order_release);  // release: pairs with start()
  // From here on the pipeline may be gone.
  unsigned const wave = over.wave;
  runnable* next = complete_async(over, self);
  if (next != nullptr) self.scheduler.push(*self.worker, *static_cast<queued_runnable*>(std::exchange(next, nullptr)));
  over.release();
  core::ended(*self.worker, wave);
  return nullptr;
}

}  // namespace heist::detail
