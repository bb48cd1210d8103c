// A scheduler for std::execution: tasks of an executor (README.md).
#pragma once

#include "heist/parallel/execution/names.hpp"

#if defined(__cpp_lib_senders) || __has_include(<stdexec/execution.hpp>)

#include <type_traits>
#include <utility>  // move

#include "heist/core/base/errors.hpp"
#include "heist/core/executor/executor.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist {
namespace detail {

/// A task that lies in the state of an operation; that may be gone when its work has been called.
struct sender_item : queued_runnable {
  using work_function = void (*)(sender_item& self) noexcept;
  explicit sender_item(work_function f) noexcept : queued_runnable{{&run_it, &what_it_is}, nullptr}, work{f} {}
  sender_item(sender_item const&) = delete;
  sender_item& operator=(sender_item const&) = delete;

  work_function const work;
  unsigned wave = 0;

 private:
  static runnable* run_it(runnable& task, fiber& self) {
    self.worker->report_pending_count();
    auto& item = static_cast<sender_item&>(task);
    task_view const view{task_kind::async, &task, "sender"};
    unsigned const its_wave = item.wave;
    self.scheduler.tell_begin(*self.worker, view);
    outside_its_task const unknown{self};  // no thread may read the item from here on
    item.work(item);
    self.scheduler.tell_end(*self.worker, view);
    core::ended(*self.worker, its_wave);
    return nullptr;
  }
  static bool to_text(runnable const& self, task_view& view) noexcept {
    view = {task_kind::async, &self, "sender"};
    return false;
  }
  static unsigned wave_of(runnable const& self) noexcept { return static_cast<sender_item const&>(self).wave; }
  static constexpr described_operations operations{&to_text, &wave_of};
  static constexpr described what_it_is{&operations};
};

struct bulk_domain;

/// Can no stop be requested by the token of a receiver with this environment? Its type says so.
template <class Env>
inline constexpr bool never_stops = stop_tokens::unstoppable_token<stop_tokens::stop_token_of_t<Env>>;

/// schedule() with its receiver. start() allocates nothing: the task lies here. It fails only in a child of fork(), and
/// from outside when the destructor of the executor has waited for all work. Both break the rule that the executor
/// outlives its operations.
template <class Receiver>
class schedule_operation : sender_item {
 public:
  using operation_state_concept = execution::operation_state_t;

  schedule_operation(core& scheduler, Receiver to) noexcept(std::is_nothrow_move_constructible_v<Receiver>)
      : sender_item{&complete}, scheduler_{scheduler}, to_{std::move(to)} {}

  void start() & noexcept {
    if constexpr (unstoppable) {
      submit();  // its exception ends the program
    } else {
      try {
        submit();
      } catch (executor_error const&) {
        execution::set_stopped(std::move(to_));
      }
    }
  }

 private:
  static constexpr bool unstoppable = never_stops<execution::env_of_t<Receiver>>;

  void submit() {
    scheduler_.submit(*this, [this](unsigned w) { this->wave = w; });
  }
  static void complete(sender_item& self) noexcept {
    Receiver& to = static_cast<schedule_operation&>(self).to_;
    if constexpr (!unstoppable) {
      if (stop_tokens::get_stop_token(execution::get_env(to)).stop_requested())
        return execution::set_stopped(std::move(to));
    }
    execution::set_value(std::move(to));
  }

  core& scheduler_;
  Receiver to_;
};

}  // namespace detail

/// A scheduler for std::execution: scheduled work runs on the executor's workers, bulk as a parallel loop. Refers to
/// the executor, which outlives it and its operations. Copied freely; used by any thread. An operation allocates
/// nothing.
///
/// Sends  schedule() sends set_value() on a worker, and never an error. It sends set_stopped() only if the receiver's
///        token can stop: on a worker, where a stop was requested before the task began. An operation that starts too
///        late sends it in start(): in a child of fork(), or from outside after the executor's destructor has waited
///        for all work. If the token cannot stop, such a start ends the program by std::terminate with executor_error.
class execution_scheduler {
 public:
  using scheduler_concept = detail::execution::scheduler_t;

  template <class Executor>
  requires(!std::is_same_v<std::remove_cv_t<Executor>, execution_scheduler>) explicit execution_scheduler(
      Executor& ex) noexcept
      : scheduler_{&detail::executor_access::core_of(ex)} {}

  class sender {
   public:
    using sender_concept = detail::execution::sender_t;
    /// They depend on the environment: without one there are none.
    template <class Self, class Env>
    static consteval auto get_completion_signatures() noexcept {
      using namespace detail::execution;
      if constexpr (detail::never_stops<Env>) {
        return completion_signatures<set_value_t()>{};
      } else {
        return completion_signatures<set_value_t(), set_stopped_t()>{};
      }
    }
    template <class Receiver>
    detail::schedule_operation<Receiver> connect(Receiver to) const {
      return {*scheduler_, std::move(to)};
    }
    execution_scheduler get_env() const noexcept { return execution_scheduler{scheduler_}; }

   private:
    friend class execution_scheduler;
    explicit sender(detail::core* scheduler) noexcept : scheduler_{scheduler} {}
    detail::core* scheduler_;
  };

  sender schedule() const noexcept { return sender{scheduler_}; }
  friend bool operator==(execution_scheduler const&, execution_scheduler const&) noexcept = default;

  auto query(detail::execution::get_forward_progress_guarantee_t) const noexcept {
    return detail::execution::forward_progress_guarantee::parallel;
  }
  /// Where its values come.
  template <class... Env>
  execution_scheduler query(detail::execution::get_completion_scheduler_t<detail::execution::set_value_t>,
                            Env const&...) const noexcept {
    return *this;
  }
  template <class... Env>
  detail::bulk_domain query(detail::execution::get_completion_domain_t<detail::execution::set_value_t>,
                            Env const&...) const noexcept;

 private:
  explicit execution_scheduler(detail::core* scheduler) noexcept : scheduler_{scheduler} {}
  detail::core* scheduler_;
};

}  // namespace heist

#endif
