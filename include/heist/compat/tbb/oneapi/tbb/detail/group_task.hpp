// A task that something waits for.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>  // exchange, forward, in_place, move

#include "heist/compat/tbb/oneapi/tbb/detail/division.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/work_count.hpp"

namespace tbb::detail {

/// A function that runs in a group, and is counted until it has been destroyed.
template <class F>
class group_task {
 public:
  template <class G>
  group_task(task_group_context& group, work_count& open, G&& f)
      : group_{&group}, f_(std::in_place, std::forward<G>(f)), counted_{open.add()}, open_{&open} {}
  group_task(group_task&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
      : group_{other.group_},
        f_(std::move(other.f_)),
        counted_{other.counted_},
        open_{std::exchange(other.open_, nullptr)} {}
  group_task& operator=(group_task&&) = delete;
  ~group_task() {
    if (open_ == nullptr) return;
    f_.reset();
    open_->remove(counted_);
  }
  void operator()() { run_in(*group_, *f_); }

 private:
  task_group_context* group_;
  std::optional<F> f_;
  work_count::part* counted_;  // after f_: a constructor that throws has counted nothing
  work_count* open_;
};

}  // namespace tbb::detail
