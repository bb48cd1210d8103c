// parallel_for_each, and the feeder that adds items while it runs.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // invoke
#include <iterator>    // begin, end, iterator_traits
#include <memory>      // make_shared
#include <type_traits>
#include <utility>  // forward, move
#include <vector>

#include "heist/compat/tbb/oneapi/tbb/detail/division.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/group_task.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/work_count.hpp"

namespace tbb {

/// Adds items to the loop that runs.
template <class Item>
class feeder {
 public:
  feeder(feeder const&) = delete;
  feeder& operator=(feeder const&) = delete;
  void add(Item const& item) { put(Item(item)); }
  void add(Item&& item) { put(std::move(item)); }

 protected:
  feeder() = default;
  ~feeder() = default;

 private:
  virtual void put(Item&& item) = 0;
};

namespace detail {

template <class Body, class Item>
class for_each_run final : public feeder<Item> {
 public:
  for_each_run(Body const& body, task_group_context& group) : body_{body}, group_{group} {}

  /// `Reference`: what the iterators give.
  template <class Reference>
  void call(Reference&& item) {
    if constexpr (std::is_invocable_v<Body const&, Reference&&, feeder<Item>&>) {
      std::invoke(body_, std::forward<Reference>(item), static_cast<feeder<Item>&>(*this));
    } else {
      std::invoke(body_, std::forward<Reference>(item));
    }
  }
  /// Of an item that belongs to the loop: as an rvalue, if the body takes one.
  void call_owned(Item& item) {
    if constexpr (std::is_invocable_v<Body const&, Item&&> || std::is_invocable_v<Body const&, Item&&, feeder<Item>&>) {
      call(std::move(item));
    } else {
      call(item);
    }
  }
  template <class Iterator>
  void run(Iterator first, Iterator last) {
    using category = typename std::iterator_traits<Iterator>::iterator_category;
    if constexpr (std::is_base_of_v<std::random_access_iterator_tag, category>) {
      each(static_cast<std::size_t>(last - first), [&](std::size_t i) {
        call(*(first + static_cast<typename std::iterator_traits<Iterator>::difference_type>(i)));
      });
    } else if constexpr (std::is_base_of_v<std::forward_iterator_tag, category>) {
      std::vector<Iterator> all;
      for (; first != last; ++first) all.push_back(first);
      each(all.size(), [&](std::size_t i) { call(*all[i]); });
    } else {
      while (first != last && !group_.is_group_execution_cancelled()) read_block(first, last);
    }
  }
  void wait() { fed_.wait(current_arena()); }

 private:
  static constexpr std::size_t block = 16;

  template <class F>
  void each(std::size_t n, F const& f) {
    if (n == 0) return;
    blocked_range<std::size_t> indices(0, n);
    divide(group_, indices, divide_fully{0}, [&](blocked_range<std::size_t>& r) {
      for (std::size_t i = r.begin(); i != r.end(); ++i) f(i);
    });
  }
  /// The iterator gives each item once: they are read here, and run beside.
  template <class Iterator>
  void read_block(Iterator& first, Iterator const& last) {
    auto const items = std::make_shared<std::vector<Item>>();
    items->reserve(block);
    for (; items->size() != block && first != last; ++first) items->emplace_back(*first);
    spawn([this, items] { each(items->size(), [&](std::size_t i) { call_owned((*items)[i]); }); });
  }
  void put(Item&& item) override {
    spawn([this, kept = std::move(item)]() mutable { call_owned(kept); });
  }
  template <class F>
  void spawn(F f) {
    current_arena().spawn(&group_, group_task<F>{group_, fed_, std::move(f)});
  }

  Body const& body_;
  task_group_context& group_;
  work_count fed_;
};

template <class Iterator, class Body>
void for_each_in(Iterator first, Iterator last, Body const& body, task_group_context& group) {
  using item = typename std::iterator_traits<Iterator>::value_type;
  if (first == last) return;
  for_each_run<Body, item> run{body, group};
  run_group(group, [&] {
    run_in(group, [&] { run.run(first, last); });
    run.wait();
  });
}

}  // namespace detail

/// Calls body(item), or body(item, feeder), for each item.
template <class Iterator, class Body>
requires(requires {
  typename std::iterator_traits<Iterator>::iterator_category;
}) void parallel_for_each(Iterator first, Iterator last, Body const& body) {
  task_group_context group;
  detail::for_each_in(first, last, body, group);
}
template <class Iterator, class Body>
requires(requires {
  typename std::iterator_traits<Iterator>::iterator_category;
}) void parallel_for_each(Iterator first, Iterator last, Body const& body, task_group_context& group) {
  detail::for_each_in(first, last, body, group);
}
template <class Range, class Body>
requires(requires(Range& r) { std::begin(r); }) void parallel_for_each(Range&& range, Body const& body) {
  task_group_context group;
  detail::for_each_in(std::begin(range), std::end(range), body, group);
}
template <class Range, class Body>
requires(requires(Range& r) { std::begin(r); }) void parallel_for_each(Range&& range, Body const& body,
                                                                       task_group_context& group) {
  detail::for_each_in(std::begin(range), std::end(range), body, group);
}

}  // namespace tbb
