// enumerable_thread_specific: an element for each that works, and a look at all of them.
#pragma once

#include <compare>
#include <cstddef>  // ptrdiff_t, size_t
#include <functional>
#include <iterator>  // random_access_iterator_tag
#include <memory>    // make_unique, unique_ptr
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>  // exchange, forward, move
#include <vector>

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"
#include "heist/compat/tbb/oneapi/tbb/cache_aligned_allocator.h"
#include "heist/compat/tbb/oneapi/tbb/detail/element_table.hpp"

namespace tbb {

enum ets_key_usage_type { ets_key_per_instance, ets_no_key, ets_suspend_aware };

namespace detail {

/// Its iterators: a position in the list of elements.
template <class Owner, class T>
class element_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  element_iterator() = default;
  element_iterator(Owner& of, std::ptrdiff_t at) noexcept : of_{&of}, at_{at} {}
  operator element_iterator<Owner const, T const>() const noexcept requires(!std::is_const_v<T>) { return {*of_, at_}; }

  reference operator*() const { return of_->at(static_cast<std::size_t>(at_)); }
  pointer operator->() const { return &**this; }
  reference operator[](difference_type n) const { return *(*this + n); }
  element_iterator& operator++() {
    ++at_;
    return *this;
  }
  element_iterator operator++(int) { return {*of_, at_++}; }
  element_iterator& operator--() {
    --at_;
    return *this;
  }
  element_iterator operator--(int) { return {*of_, at_--}; }
  element_iterator& operator+=(difference_type n) {
    at_ += n;
    return *this;
  }
  element_iterator& operator-=(difference_type n) { return *this += -n; }
  friend element_iterator operator+(element_iterator i, difference_type n) { return i += n; }
  friend element_iterator operator+(difference_type n, element_iterator i) { return i += n; }
  friend element_iterator operator-(element_iterator i, difference_type n) { return i -= n; }

  difference_type position() const noexcept { return at_; }

 private:
  Owner* of_ = nullptr;
  std::ptrdiff_t at_ = 0;
};

template <class O, class T, class P, class U>
std::ptrdiff_t operator-(element_iterator<O, T> const& a, element_iterator<P, U> const& b) {
  return a.position() - b.position();
}
template <class O, class T, class P, class U>
bool operator==(element_iterator<O, T> const& a, element_iterator<P, U> const& b) {
  return a.position() == b.position();
}
template <class O, class T, class P, class U>
auto operator<=>(element_iterator<O, T> const& a, element_iterator<P, U> const& b) {
  return a.position() <=> b.position();
}

template <class Iterator>
class element_range : public blocked_range<Iterator> {
 public:
  using value_type = typename std::iterator_traits<Iterator>::value_type;
  using reference = typename std::iterator_traits<Iterator>::reference;
  using const_reference = value_type const&;
  using iterator = Iterator;
  using difference_type = std::ptrdiff_t;
  using blocked_range<Iterator>::blocked_range;
  template <class Other>
  requires(std::is_convertible_v<Other, Iterator>) element_range(element_range<Other> const& r)
      : blocked_range<Iterator>(r.begin(), r.end(), r.grainsize()) {}
};

}  // namespace detail

/// Each task that runs has an element of its own. It keeps it over its waits, where a thread's would be another task's. A
/// later task finds the element of an earlier one. A thread outside of arenas has its own.
///
/// Threads  local(): any; the others not at the same time as a first local().
template <class T, class Allocator = cache_aligned_allocator<T>, ets_key_usage_type Keys = ets_no_key>
class enumerable_thread_specific {
 public:
  using allocator_type = Allocator;
  using value_type = T;
  using reference = T&;
  using const_reference = T const&;
  using pointer = T*;
  using const_pointer = T const*;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using iterator = detail::element_iterator<enumerable_thread_specific, T>;
  using const_iterator = detail::element_iterator<enumerable_thread_specific const, T const>;
  using range_type = detail::element_range<iterator>;
  using const_range_type = detail::element_range<const_iterator>;

  enumerable_thread_specific() : make_{[] { return std::make_unique<element>(); }} {}
  explicit enumerable_thread_specific(T const& example)
      : make_{[example] { return std::make_unique<element>(example); }} {}
  explicit enumerable_thread_specific(T&& example)
      : make_{[kept = std::make_shared<T>(std::move(example))] { return std::make_unique<element>(*kept); }} {}
  /// Elements are made of what `init` returns.
  template <class Init>
  requires(std::is_invocable_v<Init&> && !std::is_same_v<std::decay_t<Init>, enumerable_thread_specific> &&
           !std::is_same_v<std::decay_t<Init>, T>) explicit enumerable_thread_specific(Init init)
      : make_{[f = std::make_shared<Init>(std::move(init))] { return std::make_unique<element>(made_by{}, *f); }} {}
  /// Elements are made of these arguments.
  template <class First, class... More>
  requires(!std::is_invocable_v<First&> && !std::is_base_of_v<enumerable_thread_specific, std::decay_t<First>> &&
           !std::is_same_v<std::decay_t<First>, T> &&
           std::is_constructible_v<T, First const&, More const&...>) explicit enumerable_thread_specific(First&& first,
                                                                                                         More&&... more)
      : make_{[kept = std::make_shared<std::tuple<std::decay_t<First>, std::decay_t<More>...>>(
                   std::forward<First>(first), std::forward<More>(more)...)] {
          return std::apply([](auto const&... args) { return std::make_unique<element>(args...); }, *kept);
        }} {}

  enumerable_thread_specific(enumerable_thread_specific const& other) : make_{other.make_} { copy_of(other); }
  enumerable_thread_specific(enumerable_thread_specific&& other) : make_{other.make_} { take(other); }
  template <class A, ets_key_usage_type K>
  enumerable_thread_specific(enumerable_thread_specific<T, A, K> const& other) : make_{convert(other.make_)} {
    copy_of(other);
  }
  template <class A, ets_key_usage_type K>
  enumerable_thread_specific(enumerable_thread_specific<T, A, K>&& other) : make_{convert(other.make_)} {
    copy_of<true>(other);
    other.clear();
  }
  enumerable_thread_specific& operator=(enumerable_thread_specific const& other) {
    if (this == &other) return *this;
    clear();
    make_ = other.make_;
    copy_of(other);
    return *this;
  }
  enumerable_thread_specific& operator=(enumerable_thread_specific&& other) {
    if (this == &other) return *this;
    clear();
    make_ = other.make_;
    take(other);
    return *this;
  }
  template <class A, ets_key_usage_type K>
  enumerable_thread_specific& operator=(enumerable_thread_specific<T, A, K> const& other) {
    clear();
    make_ = convert(other.make_);
    copy_of(other);
    return *this;
  }
  template <class A, ets_key_usage_type K>
  enumerable_thread_specific& operator=(enumerable_thread_specific<T, A, K>&& other) {
    clear();
    make_ = convert(other.make_);
    copy_of<true>(other);
    other.clear();
    return *this;
  }

  /// The caller's; made at the first call.
  reference local() {
    bool exists = false;
    return local(exists);
  }
  reference local(bool& exists) {
    void const* const key = detail::element_key();
    element* e = by_key_.find(key);
    exists = e != nullptr;
    if (!exists) {
      std::unique_ptr<element> made = make_();
      made->key = key;
      e = made.get();
      {
        std::lock_guard const guard{lock_};
        all_.push_back(std::move(made));
      }
      by_key_.insert(key, e);
    }
    return e->value;
  }

  size_type size() const { return all_.size(); }
  bool empty() const { return all_.empty(); }
  void clear() {
    by_key_.clear();
    all_.clear();
  }
  iterator begin() { return {*this, 0}; }
  iterator end() { return {*this, static_cast<std::ptrdiff_t>(all_.size())}; }
  const_iterator begin() const { return {*this, 0}; }
  const_iterator end() const { return {*this, static_cast<std::ptrdiff_t>(all_.size())}; }
  range_type range(std::size_t grainsize = 1) { return range_type(begin(), end(), grainsize); }
  const_range_type range(std::size_t grainsize = 1) const { return const_range_type(begin(), end(), grainsize); }

  /// f(f(a, b), c) ... of all elements; of none: a new one.
  template <class F>
  T combine(F f) {
    if (all_.empty()) return std::move(make_()->value);
    T sum(all_[0]->value);
    for (std::size_t i = 1; i != all_.size(); ++i) sum = f(sum, all_[i]->value);
    return sum;
  }
  template <class F>
  void combine_each(F f) {
    for (auto& e : all_) f(e->value);
  }

  reference at(std::size_t i) { return all_[i]->value; }
  const_reference at(std::size_t i) const { return all_[i]->value; }

 private:
  template <class, class, ets_key_usage_type>
  friend class enumerable_thread_specific;

  struct made_by {};
  struct alignas(128) element {  // two cache lines, which processors fetch together
    template <class... Args>
    explicit element(Args const&... args) : value(args...) {}
    explicit element(T&& v) : value(std::move(v)) {}
    template <class F>
    element(made_by, F& f) : value(f()) {}
    T value;
    void const* key = nullptr;
  };

  template <bool Moves = false, class Other>
  void copy_of(Other& other) {
    for (auto& e : other.all_) {
      std::unique_ptr<element> made;
      if constexpr (Moves) {
        made = std::make_unique<element>(std::move(e->value));
      } else {
        made = std::make_unique<element>(std::as_const(e->value));
      }
      made->key = e->key;
      by_key_.insert(e->key, made.get());
      all_.push_back(std::move(made));
    }
  }
  void take(enumerable_thread_specific& other) {
    all_ = std::move(other.all_);
    other.clear();
    for (auto& e : all_) by_key_.insert(e->key, e.get());
  }
  template <class Make>
  static std::function<std::unique_ptr<element>()> convert(Make const& make) {
    return [make] { return std::make_unique<element>(std::move(make()->value)); };
  }

  std::function<std::unique_ptr<element>()> make_;
  detail::element_table<element> by_key_;
  std::mutex lock_;
  std::vector<std::unique_ptr<element>> all_;
};

/// A container of containers as one sequence.
template <class Container>
class flattened2d {
  using inner = typename Container::value_type;

 public:
  using size_type = typename inner::size_type;
  using difference_type = typename inner::difference_type;
  using value_type = typename inner::value_type;
  using reference = typename inner::reference;
  using const_reference = typename inner::const_reference;

  template <class Outer, class Inner, class Reference>
  class walk {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = typename flattened2d::value_type;
    using difference_type = typename flattened2d::difference_type;
    using pointer = std::remove_reference_t<Reference>*;
    using reference = Reference;

    walk() = default;
    walk(Outer at, Outer last) : at_{at}, last_{last} { find_first(); }
    template <class R>
    walk(walk<Outer, Inner, R> const& other) : at_{other.at_}, last_{other.last_}, in_{other.in_} {}
    reference operator*() const { return *in_; }
    pointer operator->() const { return &*in_; }
    walk& operator++() {
      if (++in_ == at_->end()) {
        ++at_;
        find_first();
      }
      return *this;
    }
    walk operator++(int) {
      walk const before = *this;
      ++*this;
      return before;
    }
    template <class R>
    bool operator==(walk<Outer, Inner, R> const& other) const {
      return at_ == other.at_ && (at_ == last_ || in_ == other.in_);
    }

   private:
    template <class, class, class>
    friend class walk;
    void find_first() {
      while (at_ != last_ && at_->begin() == at_->end()) ++at_;
      if (at_ != last_) in_ = at_->begin();
    }
    Outer at_{}, last_{};
    Inner in_{};
  };
  using iterator = walk<typename Container::iterator, typename inner::iterator, reference>;
  using const_iterator = walk<typename Container::iterator, typename inner::iterator, const_reference>;

  explicit flattened2d(Container const& c)
      : first_{const_cast<Container&>(c).begin()}, last_{const_cast<Container&>(c).end()} {}
  flattened2d(Container const&, typename Container::iterator first, typename Container::iterator last)
      : first_{first}, last_{last} {}
  iterator begin() { return {first_, last_}; }
  iterator end() { return {last_, last_}; }
  const_iterator begin() const { return {first_, last_}; }
  const_iterator end() const { return {last_, last_}; }
  size_type size() const {
    size_type n = 0;
    for (auto i = first_; i != last_; ++i) n += i->size();
    return n;
  }

 private:
  typename Container::iterator first_, last_;
};

template <class Container>
flattened2d<Container> flatten2d(Container const& c) {
  return flattened2d<Container>(c);
}
template <class Container>
flattened2d<Container> flatten2d(Container const& c, typename Container::iterator first,
                                 typename Container::iterator last) {
  return flattened2d<Container>(c, first, last);
}

}  // namespace tbb
