// parallel_pipeline: filters that are joined by &, and a run of them.
#pragma once

#include <cstddef>  // size_t
#include <memory>   // make_shared, shared_ptr
#include <type_traits>
#include <utility>  // forward
#include <vector>

#include "heist/compat/tbb/oneapi/tbb/detail/pipeline_run.hpp"

namespace tbb {

/// A part of a pipeline; two are joined by &.
template <class I, class O>
class filter {
 public:
  filter() = default;
  template <class F>
  filter(filter_mode mode, F const& f) : stages_{std::make_shared<detail::filter_stage<I, O, F> const>(mode, f)} {}

  filter& operator&=(filter<O, O> const& next) {
    stages_.insert(stages_.end(), next.stages_.begin(), next.stages_.end());
    return *this;
  }
  void clear() { stages_.clear(); }

 private:
  template <class, class>
  friend class filter;
  template <class A, class B, class C>
  friend filter<A, C> operator&(filter<A, B> const& first, filter<B, C> const& next);
  friend void parallel_pipeline(std::size_t tokens, filter<void, void> const& all, task_group_context& group);

  std::vector<std::shared_ptr<detail::pipeline_stage const>> stages_;
};

template <class A, class B, class C>
filter<A, C> operator&(filter<A, B> const& first, filter<B, C> const& next) {
  filter<A, C> both;
  both.stages_ = first.stages_;
  both.stages_.insert(both.stages_.end(), next.stages_.begin(), next.stages_.end());
  return both;
}

template <class F>
filter(filter_mode, F) -> filter<typename detail::filter_signature<F>::in, typename detail::filter_signature<F>::out>;

template <class I, class O, class F>
filter<I, O> make_filter(filter_mode mode, F const& f) {
  return filter<I, O>{mode, f};
}
template <class F>
auto make_filter(filter_mode mode, F const& f) {
  return filter{mode, f};
}

/// Runs tokens through the filters until the first one stops; at most so many at a time.
inline void parallel_pipeline(std::size_t tokens, filter<void, void> const& all, task_group_context& group) {
  if (all.stages_.empty() || tokens == 0) return;
  detail::run_group(group, [&] { detail::pipeline_run{all.stages_, tokens, group}.run(); });
}
inline void parallel_pipeline(std::size_t tokens, filter<void, void> const& all) {
  task_group_context group;
  parallel_pipeline(tokens, all, group);
}
template <class First, class Second, class... More>
requires(!std::is_same_v<std::remove_cvref_t<Second>, task_group_context>) void parallel_pipeline(std::size_t tokens,
                                                                                                  First const& first,
                                                                                                  Second const& second,
                                                                                                  More&&... more) {
  parallel_pipeline(tokens, first & second, std::forward<More>(more)...);
}

}  // namespace tbb
