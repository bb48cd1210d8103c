// One run of a pipeline: filters as stages, and the tokens that pass them.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // invoke
#include <memory>      // make_unique, shared_ptr, unique_ptr
#include <mutex>
#include <type_traits>
#include <utility>  // move
#include <vector>

#include "heist/compat/tbb/oneapi/tbb/detail/division.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/flow_control.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/group_task.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/work_count.hpp"

namespace tbb {

enum class filter_mode : unsigned { parallel, serial_in_order, serial_out_of_order };

namespace detail {

/// What one filter gives to the next one.
class passed_value {
 public:
  virtual ~passed_value() = default;
};

class pipeline_stage {
 public:
  explicit pipeline_stage(filter_mode m) noexcept : mode{m} {}
  virtual ~pipeline_stage() = default;
  /// Replaces the value by the filter's result.
  virtual void call(std::unique_ptr<passed_value>& value, flow_control& control) const = 0;
  filter_mode const mode;
};

template <class T>
class value_of_type final : public passed_value {
 public:
  template <class F>
  explicit value_of_type(F&& make) : value(make()) {}
  T value;
};

template <class I, class O, class F>
class filter_stage final : public pipeline_stage {
 public:
  filter_stage(filter_mode m, F f) : pipeline_stage{m}, f_(std::move(f)) {}
  void call(std::unique_ptr<passed_value>& value, flow_control& control) const override {
    auto const run = [&]() -> decltype(auto) {
      if constexpr (std::is_void_v<I>) {
        return std::invoke(f_, control);
      } else {
        return std::invoke(f_, std::move(static_cast<value_of_type<I>&>(*value).value));
      }
    };
    if constexpr (std::is_void_v<O>) {
      run();
      value.reset();
    } else {
      value = std::make_unique<value_of_type<O>>(run);
    }
  }

 private:
  F const f_;
};

/// From the signature of a filter's function: what it takes and gives.
template <class F>
struct filter_signature : filter_signature<decltype(&F::operator())> {};
template <class O, class I>
struct filter_signature<O (*)(I)> {
  using in = std::conditional_t<std::is_same_v<std::remove_cvref_t<I>, flow_control>, void, std::remove_cvref_t<I>>;
  using out = O;
};
template <class C, class O, class I>
struct filter_signature<O (C::*)(I)> : filter_signature<O (*)(I)> {};
template <class C, class O, class I>
struct filter_signature<O (C::*)(I) const> : filter_signature<O (*)(I)> {};

/// One run: tokens are tasks. A token that may not enter a serial filter yet waits there, without a task.
class pipeline_run {
 public:
  pipeline_run(std::vector<std::shared_ptr<pipeline_stage const>> const& stages, std::size_t tokens,
               task_group_context& group)
      : stages_{stages}, gates_(stages.size()), most_{tokens}, group_{group} {}

  void run() {
    try_begin();  // nothing runs yet
    spawn([this] { work(nullptr); });
    open_.wait(current_arena());
  }

 private:
  struct token {
    std::unique_ptr<passed_value> value;
    std::size_t stage = 1;
    std::size_t place = none;  // its number at filters in order
  };
  static constexpr std::size_t none = ~std::size_t{0};

  /// Of a serial filter.
  struct gate {
    bool is_taken = false;
    std::size_t next = 0;                         // the place that may enter
    std::vector<std::unique_ptr<token>> waiting;  // in order of arrival
  };

  /// Takes a token, or a new one, through the filters, and then others until there are none or the run is cancelled.
  void work(std::unique_ptr<token> t) {
    if (t == nullptr) t = read();
    while (t != nullptr && pass(t)) {
      t->value.reset();
      if (group_.is_group_execution_cancelled()) return;
      {
        std::lock_guard const guard{lock_};
        --active_;
        if (!try_begin()) return;
      }
      t = read();
    }
  }
  /// May another token be read? Under the lock. Then the caller reads it.
  bool try_begin() noexcept {
    if (is_at_end_ || active_ == most_ || (is_first_serial() && gates_[0].is_taken)) return false;
    ++active_;
    gates_[0].is_taken = true;
    return true;
  }
  bool is_first_serial() const noexcept { return stages_[0]->mode != filter_mode::parallel; }

  /// The next token, or null at the end.
  std::unique_ptr<token> read() {
    if (!is_first_serial()) start_helper();
    auto t = std::make_unique<token>();
    flow_control control;
    stages_[0]->call(t->value, control);
    {
      std::lock_guard const guard{lock_};
      if (flow_control_access::is_stopped(control)) {  // tokens that others have read still pass
        is_at_end_ = true;
        --active_;
        return nullptr;
      }
      gates_[0].is_taken = false;
      if (is_first_serial()) t->place = places_++;
    }
    if (is_first_serial()) start_helper();
    return t;
  }
  /// Another task that reads. One at a time waits to begin.
  void start_helper() {
    {
      std::lock_guard const guard{lock_};
      if (has_helper_ || !try_begin()) return;
      has_helper_ = true;
    }
    spawn([this] {
      {
        std::lock_guard const guard{lock_};
        has_helper_ = false;
      }
      work(nullptr);
    });
  }

  /// False: it waits at a filter. The token that leaves the filter lets it enter.
  bool pass(std::unique_ptr<token>& t) {
    for (; t->stage != stages_.size(); ++t->stage) {
      pipeline_stage const& stage = *stages_[t->stage];
      bool const is_serial = stage.mode != filter_mode::parallel;
      if (is_serial && !try_enter(t)) return false;
      std::size_t const number = t->stage;
      flow_control unused;
      stage.call(t->value, unused);
      if (is_serial) leave(number);
    }
    return true;
  }

  /// False: it waits there.
  bool try_enter(std::unique_ptr<token>& t) {
    std::lock_guard const guard{lock_};
    gate& g = gates_[t->stage];
    bool const is_ordered = stages_[t->stage]->mode == filter_mode::serial_in_order;
    if (is_ordered && t->place == none) t->place = places_++;  // the first filter in order gives the order
    if (!g.is_taken && (!is_ordered || t->place == g.next)) {
      g.is_taken = true;
      return true;
    }
    g.waiting.push_back(std::move(t));
    return false;
  }

  void leave(std::size_t stage) {
    std::unique_ptr<token> follows;
    {
      std::lock_guard const guard{lock_};
      gate& g = gates_[stage];
      bool const is_ordered = stages_[stage]->mode == filter_mode::serial_in_order;
      ++g.next;
      g.is_taken = false;
      for (auto at = g.waiting.begin(); at != g.waiting.end(); ++at) {
        if (is_ordered && (*at)->place != g.next) continue;
        follows = std::move(*at);
        g.waiting.erase(at);
        break;
      }
    }
    if (follows) {
      spawn([this, t = std::move(follows)]() mutable { work(std::move(t)); });
    }
  }

  template <class F>
  void spawn(F f) {
    current_arena().spawn(&group_, group_task<F>{group_, open_, std::move(f)});
  }

  std::vector<std::shared_ptr<pipeline_stage const>> const& stages_;
  spinning_lock lock_;
  std::vector<gate> gates_;
  std::size_t const most_;
  std::size_t active_ = 0, places_ = 0;
  bool is_at_end_ = false, has_helper_ = false;
  task_group_context& group_;
  work_count open_;
};

}  // namespace detail
}  // namespace tbb
