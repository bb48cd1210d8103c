// A scheduler for std::execution: tasks of an executor (README.md).
#pragma once

#include "heist/parallel/execution/names.hpp"

#if defined(__cpp_lib_senders) || __has_include(<stdexec/execution.hpp>)

#include <exception>
#include <type_traits>
#include <utility>  // move

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

template <class Receiver>
class schedule_operation : sender_item {
 public:
  using operation_state_concept = execution::operation_state_t;

  schedule_operation(core& scheduler, Receiver to) noexcept(std::is_nothrow_move_constructible_v<Receiver>)
      : sender_item{&complete}, scheduler_{scheduler}, to_{std::move(to)} {}

  void start() & noexcept {
    try {
      scheduler_.submit(*this, [this](unsigned w) { this->wave = w; });
    } catch (...) {
      execution::set_error(std::move(to_), std::current_exception());
    }
  }

 private:
  static void complete(sender_item& self) noexcept {
    Receiver& to = static_cast<schedule_operation&>(self).to_;
    if (execution::get_stop_token(execution::get_env(to)).stop_requested()) {
      execution::set_stopped(std::move(to));
    } else {
      execution::set_value(std::move(to));
    }
  }

  core& scheduler_;
  Receiver to_;
};

}  // namespace detail

/// A scheduler for std::execution: what is scheduled runs on the executor's workers, bulk as a parallel loop. Refers to
/// the executor, which outlives it. Copied freely; used by any thread. An operation allocates nothing.
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
    using completion_signatures =
        detail::execution::completion_signatures<detail::execution::set_value_t(),
                                                 detail::execution::set_error_t(std::exception_ptr),
                                                 detail::execution::set_stopped_t()>;
    template <class... Env>
    static consteval completion_signatures get_completion_signatures() noexcept {
      return {};
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
