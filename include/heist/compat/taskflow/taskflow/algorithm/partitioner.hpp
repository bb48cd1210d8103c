// Partitioners: how the parts of a loop are cut and handed out.
#pragma once

#include <algorithm>  // max, min
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>  // forward, pair

#include "heist/compat/taskflow/taskflow/algorithm/boxes.hpp"

namespace tf {

enum class PartitionerType : int { STATIC, DYNAMIC };

class DefaultClosureWrapper {};

/// The base of all partitioners: a chunk size (0: chosen), and a wrapper that is called around each task of a loop.
template <class C = DefaultClosureWrapper>
class PartitionerBase {
 public:
  using closure_wrapper_type = C;
  static constexpr bool is_default_wrapper_v = std::is_same_v<C, DefaultClosureWrapper>;

  PartitionerBase() = default;
  explicit PartitionerBase(std::size_t chunk) : chunk_{chunk} {}
  PartitionerBase(std::size_t chunk, C wrapper) : chunk_{chunk}, wrapper_(std::move(wrapper)) {}

  std::size_t chunk_size() const noexcept { return chunk_; }
  void chunk_size(std::size_t to) noexcept { chunk_ = to; }
  C const& closure_wrapper() const noexcept { return wrapper_; }
  C& closure_wrapper() noexcept { return wrapper_; }
  template <class F>
  void closure_wrapper(F&& to) {
    wrapper_ = std::forward<F>(to);
  }

  /// The function that a task runs for `f`.
  template <class F>
  decltype(auto) operator()(F&& f) {
    if constexpr (is_default_wrapper_v) {
      return std::forward<F>(f);
    } else {
      return [wrap = wrapper_, inner = std::forward<F>(f)]() mutable { wrap(inner); };
    }
  }

 protected:
  std::size_t least() const noexcept { return chunk_ == 0 ? 1 : chunk_; }

 private:
  std::size_t chunk_ = 0;
  [[no_unique_address]] C wrapper_;
};

namespace detail {
/// Calls `f` with a part; true if it wants no more.
template <class F, class... Part>
bool visit_part(F& f, Part const&... part) {
  if constexpr (std::is_same_v<std::invoke_result_t<F&, Part const&...>, bool>) {
    return f(part...);
  } else {
    return f(part...), false;
  }
}

/// Takes parts of [0, n) that `size_of(begin)` sizes, until there are none.
template <class Size, class F>
void take_parts(std::size_t n, std::atomic<std::size_t>& next, Size size_of, F&& f) {
  std::size_t at = next.load(std::memory_order_relaxed);  // relaxed, as below: each part has one taker
  while (at < n) {
    std::size_t const end = std::min(n, at + size_of(at));
    if (!next.compare_exchange_weak(at, end, std::memory_order_relaxed)) continue;  // relaxed: as above
    if (visit_part(f, at, end)) return;
    at = next.load(std::memory_order_relaxed);  // relaxed: as above
  }
}
/// The same of a range in several dimensions: `f` gets boxes.
template <class R, class F>
auto of_boxes(R const& range, F& f) {
  return [cut = IndexRangesPartitioner(range), &f](std::size_t b, std::size_t e) mutable {
    return cut.for_each_box(b, e, f);
  };
}
}  // namespace detail

/// Each worker gets an equal part, or chunks of the given size in turn.
template <class C = DefaultClosureWrapper>
class StaticPartitioner : public PartitionerBase<C> {
 public:
  using PartitionerBase<C>::PartitionerBase;
  static constexpr PartitionerType type() { return PartitionerType::STATIC; }

  std::size_t adjusted_chunk_size(std::size_t n, std::size_t workers, std::size_t which) const {
    return this->chunk_size() != 0 ? this->chunk_size() : n / workers + (which < n % workers ? 1 : 0);
  }
  template <class F>
  void loop(std::size_t n, std::size_t workers, std::size_t at, std::size_t chunk, F&& f) const {
    for (; at < n; at += workers * chunk) {
      if (detail::visit_part(f, at, std::min(n, at + chunk))) return;
    }
  }
  template <IndexRangesLike R, class F>
  void loop(R const& range, std::size_t n, std::size_t workers, std::size_t at, std::size_t chunk, F&& f) const {
    loop(n, workers, at, chunk, detail::of_boxes(range, f));
  }
};
template <class C>
StaticPartitioner(std::size_t, C) -> StaticPartitioner<C>;
StaticPartitioner(std::size_t)->StaticPartitioner<>;

/// Large parts first, then smaller ones.
template <class C = DefaultClosureWrapper>
class GuidedPartitioner : public PartitionerBase<C> {
 public:
  using PartitionerBase<C>::PartitionerBase;
  static constexpr PartitionerType type() { return PartitionerType::DYNAMIC; }

  template <class F>
  void loop(std::size_t n, std::size_t workers, std::atomic<std::size_t>& next, F&& f) const {
    std::size_t const least = this->least();
    detail::take_parts(
        n, next, [=](std::size_t at) { return std::max(least, (n - at) / (2 * workers)); }, f);
  }
  template <IndexRangesLike R, class F>
  void loop(R const& range, std::size_t n, std::size_t workers, std::atomic<std::size_t>& next, F&& f) const {
    loop(n, workers, next, detail::of_boxes(range, f));
  }
};
template <class C>
GuidedPartitioner(std::size_t, C) -> GuidedPartitioner<C>;
GuidedPartitioner(std::size_t)->GuidedPartitioner<>;

/// Parts of one size.
template <class C = DefaultClosureWrapper>
class DynamicPartitioner : public PartitionerBase<C> {
 public:
  using PartitionerBase<C>::PartitionerBase;
  static constexpr PartitionerType type() { return PartitionerType::DYNAMIC; }

  template <class F>
  void loop(std::size_t n, std::size_t, std::atomic<std::size_t>& next, F&& f) const {
    detail::take_parts(
        n, next, [least = this->least()](std::size_t) { return least; }, f);
  }
  template <IndexRangesLike R, class F>
  void loop(R const& range, std::size_t n, std::size_t workers, std::atomic<std::size_t>& next, F&& f) const {
    loop(n, workers, next, detail::of_boxes(range, f));
  }
};
template <class C>
DynamicPartitioner(std::size_t, C) -> DynamicPartitioner<C>;
DynamicPartitioner(std::size_t)->DynamicPartitioner<>;

/// Parts of random sizes, between two shares of the whole.
template <class C = DefaultClosureWrapper>
class RandomPartitioner : public PartitionerBase<C> {
 public:
  using PartitionerBase<C>::PartitionerBase;
  RandomPartitioner() = default;
  RandomPartitioner(float alpha, float beta) : alpha_{alpha}, beta_{beta} {}
  RandomPartitioner(float alpha, float beta, C wrapper)
      : PartitionerBase<C>{0, std::move(wrapper)}, alpha_{alpha}, beta_{beta} {}
  static constexpr PartitionerType type() { return PartitionerType::DYNAMIC; }

  float alpha() const noexcept { return alpha_; }
  float beta() const noexcept { return beta_; }
  std::pair<std::size_t, std::size_t> chunk_size_range(std::size_t n, std::size_t workers) const {
    auto const share = [&](float of) {
      return static_cast<std::size_t>(of * static_cast<float>(n) * static_cast<float>(workers));
    };
    std::size_t const low = std::max<std::size_t>(1, share(std::min(alpha_, beta_)));
    return {low, std::max(low + 1, share(std::max(alpha_, beta_)))};
  }
  template <class F>
  void loop(std::size_t n, std::size_t workers, std::atomic<std::size_t>& next, F&& f) const {
    auto const [low, high] = chunk_size_range(n, workers);
    std::minstd_rand random{std::random_device{}()};
    std::uniform_int_distribution<std::size_t> size{low, high};
    detail::take_parts(
        n, next, [&](std::size_t) { return size(random); }, f);
  }
  template <IndexRangesLike R, class F>
  void loop(R const& range, std::size_t n, std::size_t workers, std::atomic<std::size_t>& next, F&& f) const {
    loop(n, workers, next, detail::of_boxes(range, f));
  }

 private:
  float alpha_ = 0.01f;
  float beta_ = 0.5f;
};
template <class C>
RandomPartitioner(std::size_t, C) -> RandomPartitioner<C>;
RandomPartitioner(std::size_t)->RandomPartitioner<>;

using DefaultPartitioner = GuidedPartitioner<>;

template <class P>
concept PartitionerLike = std::derived_from<P, PartitionerBase<typename P::closure_wrapper_type>>;
template <class P>
inline constexpr bool is_partitioner_v = PartitionerLike<P>;

}  // namespace tf
