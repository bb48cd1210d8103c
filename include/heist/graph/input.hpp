// Inputs that a task may be given besides tasks: heist::take, heist::each, heist::on, heist::prefer.
#pragma once

#include <cstddef>   // size_t
#include <iterator>  // begin
#include <tuple>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/result.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/values.hpp"
#include "heist/core/base/vector.hpp"

namespace heist {

template <class T>
class task;

namespace detail {

template <class Handle>
struct take_of {
  Handle from;
};
template <class Handle>
struct each_of {
  vector<Handle> from;
};
/// Where a task is to run, of the processes that share a graph.
struct on_rank {
  int rank;
  bool fixed = true;
};

}  // namespace detail

/// As an argument of emplace(): the task gets `x`'s value as T&& and may keep it. It runs after all other tasks that
/// read the value, which is gone afterwards. One task takes a value at most, and none in a graph with conditions.
template <class Handle>
[[nodiscard]] detail::take_of<Handle> take(Handle const& x) {
  return {x};
}

/// As an argument of emplace(): the task gets the values of all tasks of `range`, as one heist::values<T>. Of tasks
/// without values it gets nothing, but comes after them. In heist::read(), write() and update() of a flow's task: all data
/// of `range`, which has datums or pointers to datums.
template <class Range>
[[nodiscard]] auto each(Range&& range) {
  using handle = std::remove_cvref_t<decltype(*std::begin(range))>;
  if constexpr (std::is_copy_constructible_v<handle>) {
    detail::each_of<handle> all;
    for (auto&& x : range) all.from.push_back(x);
    return all;
  } else {
    detail::each_of<handle*> all;
    for (handle& x : range) all.from.push_back(&x);
    return all;
  }
}

/// As the first argument of emplace(): the process that runs the task. A task_graph, which has one process, ignores it.
[[nodiscard]] constexpr detail::on_rank on(int rank) noexcept {
  return {rank};
}
/// The same, unless a placement that was measured (heist::place::measured) knows a better one: for tasks that could run
/// in any process, because they use nothing but their inputs.
[[nodiscard]] constexpr detail::on_rank prefer(int rank) noexcept {
  return {rank, false};
}

namespace detail {

template <class T>
std::true_type test_task(task<T> const*);
std::false_type test_task(void const*);
template <class T>
T task_value(task<T> const*);

/// Is it, or refers it to, a task of a graph?
template <class A>
inline constexpr bool is_task = decltype(test_task(static_cast<A*>(nullptr)))::value;
template <class A>
inline constexpr bool is_input = is_task<A>;
template <class Handle>
inline constexpr bool is_input<take_of<Handle>> = is_task<Handle>;
template <class Handle>
inline constexpr bool is_input<each_of<Handle>> = is_task<Handle>;

template <class A>
inline constexpr bool is_take = false;
template <class Handle>
inline constexpr bool is_take<take_of<Handle>> = true;

/// Inputs as a task keeps them: each says whether its value is there (full), and gives it (get). The value of one task
/// is a pointer to its slot.
template <class T>
class taken_value {
 public:
  explicit taken_value(result_slot<T>& from) noexcept : from_{&from} {}
  taken_value const* operator->() const noexcept { return this; }
  bool full() const noexcept { return from_->full(); }
  T&& get() const noexcept { return const_cast<T&&>(from_->get()); }
  void forget() const noexcept { from_->reset(); }

 private:
  result_slot<T>* from_;
};

template <class T>
class each_value {
 public:
  explicit each_value(std::size_t count) : all_{make_unique<result_slot<T> const*[]>(count)}, count_{count} {}
  result_slot<T> const*& operator[](std::size_t i) noexcept { return all_[i]; }
  each_value const* operator->() const noexcept { return this; }
  bool full() const noexcept {
    for (std::size_t i = 0; i != count_; ++i) {
      if (!all_[i]->full()) return false;
    }
    return true;
  }
  values<T> get() const noexcept {
    return values_access::make<values<T>>({reinterpret_cast<char const*>(all_.get()), sizeof(all_[0]), 0}, count_);
  }

 private:
  unique_ptr<result_slot<T> const*[]> all_;
  std::size_t count_;
};

template <class Input>
inline constexpr bool is_taken = requires(Input const& in) {
  in.forget();
};

/// When a task has run: what it has taken is gone.
template <class Inputs>
class forget_taken {
 public:
  explicit forget_taken(Inputs& all) noexcept : all_{all} {}
  forget_taken(forget_taken const&) = delete;
  forget_taken& operator=(forget_taken const&) = delete;
  ~forget_taken() {
    std::apply([](auto&... in) { (forget(in), ...); }, all_);
  }

 private:
  template <class Input>
  static void forget(Input& in) noexcept {
    if constexpr (is_taken<Input>) in.forget();
  }
  Inputs& all_;
};

}  // namespace detail
}  // namespace heist
