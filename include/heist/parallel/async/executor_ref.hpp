// An executor of any policy, without a template parameter.
#pragma once

#include <cstddef>  // size_t
#include <exception>
#include <utility>  // forward

#include "heist/core/executor/executor.hpp"
#include "heist/parallel/async/after.hpp"

namespace heist {

/// Refers to an executor, which must outlive it. One word; pass it by value. Tasks get a heist::context.
///
/// Threads  as executor.
/// Cost     as executor; a fork through a heist::context asks the executor's order.
class executor_ref {
 public:
  template <class Policy, class Observer>
  executor_ref(executor<Policy, Observer>& ex) noexcept : scheduler_{&detail::executor_access::core_of(ex)} {}

  std::size_t worker_count() const noexcept { return scheduler_->workers.size(); }

  /// As executor::submit, with the same arguments.
  template <class F>
  auto submit(F&& f) const {
    if constexpr (detail::accepted<detail::as_task<context, F>>()) {
      return detail_submit<context>(*scheduler_, std::forward<F>(f));
    } else {
      return detail::rejected_handle<future>{};
    }
  }
  template <class F>
  auto submit(std::stop_token token, F&& f) const {
    if constexpr (detail::accepted<detail::as_task<context, F>>()) {
      return detail_submit<context>(*scheduler_, std::forward<F>(f), std::move(token));
    } else {
      return detail::rejected_handle<future>{};
    }
  }
  template <class How, class Next, class... More>
  requires(detail::have_submit_option<How, Next, More...>) auto submit(How&& how, Next&& next, More&&... more) const {
    return submit_how<context>(*scheduler_, std::forward<How>(how), std::forward<Next>(next),
                               std::forward<More>(more)...);
  }
  /// As executor::sync_wait.
  template <class F>
  decltype(auto) sync_wait(F&& f) const {
    if constexpr (detail::accepted<detail::as_task<context, F>>()) {
      return detail::future_access::take_at_the_end(detail_submit<context>(*scheduler_, std::forward<F>(f)));
    } else {
      return detail::rejected{};
    }
  }
  /// As executor::run.
  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) const {
    return graph.start_run(*scheduler_, std::size_t{1}, std::forward<Options>(options)...);
  }
  template <class Graph, class... Options>
  auto run_n(Graph& graph, std::size_t n, Options&&... options) const {
    return graph.start_run(*scheduler_, n, std::forward<Options>(options)...);
  }
  /// As executor::wait_idle.
  void wait_idle() const {
    scheduler_->wait_idle();
    if (std::exception_ptr e = scheduler_->unobserved().take()) std::rethrow_exception(std::move(e));
  }

  friend bool operator==(executor_ref, executor_ref) noexcept = default;

 private:
  friend struct detail::executor_access;
  detail::core* scheduler_;
};

}  // namespace heist
