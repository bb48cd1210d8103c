// bulk of std::execution on an executor: a loop of the loop engine (README.md).
#pragma once

#include "heist/parallel/execution/names.hpp"

#if defined(__cpp_lib_senders) || __has_include(<stdexec/execution.hpp>)

#include <concepts>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/fork/remote.hpp"
#include "heist/parallel/algorithm/for_each.hpp"
#include "heist/parallel/execution/scheduler.hpp"

namespace heist::detail {

/// The policy of a bulk, which may be wrapped.
template <class Policy>
auto bare_policy(Policy const& p) {
  if constexpr (requires { p.__get(); }) {
    return p.__get();
  } else {
    return p;
  }
}
template <class Policy>
inline constexpr bool is_parallel = std::is_same_v<Policy, std::remove_cvref_t<decltype(execution::par)>> ||
                                    std::is_same_v<Policy, std::remove_cvref_t<decltype(execution::par_unseq)>>;

/// f(begin, end, values...), of one that is called for each index.
template <class F>
struct each_of_chunk {
  F f;
  template <class Shape, class... V>
  void operator()(Shape begin, Shape end, V&... values) {
    for (; begin != end; ++begin) f(begin, values...);
  }
};

/// Calls f for all of 0 to n: as a loop if the caller is a worker of an executor.
template <bool Parallel, class Shape, class F, class... V>
void run_bulk(Shape n, F& f, V&... values) {
  worker* const w = this_worker();  // kept: asked for its fiber, at once
  if (!Parallel || w == nullptr) return f(Shape{0}, n, values...);
  fiber& here = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
  context const c = context_access::make<context>(here, external_position<context>(here));
  for_each_block(c, Shape{0}, n, [&](Shape lo, Shape hi) { f(lo, hi, values...); });
}

template <bool Parallel, class Shape, class F, class Receiver>
struct bulk_receiver {
  using receiver_concept = execution::receiver_t;
  Receiver to;
  Shape n;
  F f;

  template <class... V>
  void set_value(V&&... values) && noexcept {
    try {
      run_bulk<Parallel>(n, f, values...);
    } catch (...) {
      return execution::set_error(std::move(to), exception_of_task());
    }
    execution::set_value(std::move(to), std::forward<V>(values)...);
  }
  template <class E>
  void set_error(E&& e) && noexcept {
    execution::set_error(std::move(to), std::forward<E>(e));
  }
  void set_stopped() && noexcept { execution::set_stopped(std::move(to)); }
  auto get_env() const noexcept { return execution::get_env(to); }
};

template <bool Parallel, class Shape, class F, class From>
struct bulk_sender {
  using sender_concept = execution::sender_t;
  From from;
  Shape n;
  F f;

  template <class Self, class... Env>
  requires execution::sender_in<From, Env...>
  static consteval auto get_completion_signatures() {
    return execution::transform_completion_signatures<
        execution::completion_signatures_of_t<From, Env...>,
        execution::completion_signatures<execution::set_error_t(std::exception_ptr)>>{};
  }
  template <class Receiver>
  auto connect(Receiver to) && {
    return execution::connect(std::move(from),
                              bulk_receiver<Parallel, Shape, F, Receiver>{std::move(to), n, std::move(f)});
  }
  template <class Receiver>
  requires(std::copy_constructible<From>&& std::copy_constructible<F>) auto connect(Receiver to) const& {
    return execution::connect(from, bulk_receiver<Parallel, Shape, F, Receiver>{std::move(to), n, f});
  }
  decltype(auto) get_env() const noexcept { return execution::get_env(from); }
};

/// A part of a sender that has been passed as Sender&&: moved out of if that may be, else copied.
template <class Sender, class Part>
decltype(auto) part_of(Part& part) noexcept {
  if constexpr (std::is_lvalue_reference_v<Sender>) {
    return static_cast<Part const&>(part);
  } else {
    return std::move(part);
  }
}

/// Transforms the bulk algorithms whose values come on one of the scheduler's workers.
struct bulk_domain : execution::default_domain {
  template <class Sender, class Env>
  requires(std::same_as<execution::tag_of_t<Sender>, execution::bulk_chunked_t> ||
           std::same_as<execution::tag_of_t<Sender>,
                        execution::bulk_unchunked_t>) auto transform_sender(execution::set_value_t, Sender&& s,
                                                                            Env const&) const {
    auto& [tag, data, from] = s;
    auto& [policy, n, f] = data;
    using shape = std::remove_cvref_t<decltype(n)>;
    using function = std::remove_cvref_t<decltype(f)>;
    using source = std::remove_cvref_t<decltype(from)>;
    constexpr bool parallel = is_parallel<std::remove_cvref_t<decltype(bare_policy(policy))>>;
    if constexpr (std::same_as<execution::tag_of_t<Sender>, execution::bulk_unchunked_t>) {
      return bulk_sender<parallel, shape, each_of_chunk<function>, source>{
          source(part_of<Sender>(from)), n, {function(part_of<Sender>(f))}};
    } else {
      return bulk_sender<parallel, shape, function, source>{source(part_of<Sender>(from)), n,
                                                            function(part_of<Sender>(f))};
    }
  }
};

}  // namespace heist::detail

template <class... Env>
heist::detail::bulk_domain heist::execution_scheduler::query(
    heist::detail::execution::get_completion_domain_t<heist::detail::execution::set_value_t>,
    Env const&...) const noexcept {
  return {};
}

#endif
