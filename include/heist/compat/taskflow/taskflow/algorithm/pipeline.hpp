// Pipelines, with pipes that are known when compiled, and with pipes of a range.
#pragma once

#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>  // index_sequence, move
#include <vector>

#include "heist/compat/taskflow/taskflow/algorithm/lines.hpp"

namespace tf {

/// Run it with composed_of(). It goes on with the next token when it runs again, unless reset() is called.
template <class... Ps>
class Pipeline : public detail::pipeline_base {
  static_assert(sizeof...(Ps) > 0, "heist: a tf::Pipeline has no pipes; fix it by one at least.");

 public:
  Pipeline(std::size_t lines, Ps... pipes) : Pipeline(lines, std::tuple<Ps...>(std::move(pipes)...)) {}
  Pipeline(std::size_t lines, std::tuple<Ps...> pipes) : pipes_(std::move(pipes)) {
    set_lines(lines);
    set_pipes(std::apply([](auto const&... p) { return std::vector<PipeType>{p.type()...}; }, pipes_));
    build();
  }
  constexpr std::size_t num_pipes() const noexcept { return sizeof...(Ps); }

 private:
  void call(Pipeflow& pf, NonpreemptiveRuntime& runtime) override {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      static_cast<void>(
          ((pf.pipe() == I && (detail::call_pipe(std::get<I>(pipes_).function(), pf, runtime), true)) || ...));
    }
    (std::index_sequence_for<Ps...>{});
  }
  std::tuple<Ps...> pipes_;
};

/// The pipes are what a range of iterators refers to; the range stays where it is.
template <class P>
class ScalablePipeline : public detail::pipeline_base {
 public:
  using pipe_t = typename std::iterator_traits<P>::value_type;

  ScalablePipeline() = default;
  explicit ScalablePipeline(std::size_t lines) {
    set_lines(lines);
    build();
  }
  ScalablePipeline(std::size_t lines, P first, P last) {
    set_lines(lines);
    reset(first, last);
    build();
  }
  ScalablePipeline(ScalablePipeline&& other) : pipes_{std::move(other.pipes_)} { take(other); }
  ScalablePipeline& operator=(ScalablePipeline&& other) {
    if (this == &other) return *this;
    pipes_ = std::exchange(other.pipes_, {});
    take(other);
    return *this;
  }

  std::size_t num_pipes() const noexcept { return pipes_.size(); }
  using pipeline_base::reset;
  void reset(P first, P last) {
    pipes_.clear();
    std::vector<PipeType> types;
    for (; first != last; ++first) {
      types.push_back(first->type());
      pipes_.push_back(first);
    }
    set_pipes(std::move(types));
  }
  void reset(std::size_t lines, P first, P last) {
    set_lines(lines);
    reset(first, last);
    build();
  }

 private:
  void call(Pipeflow& pf, NonpreemptiveRuntime& runtime) override {
    detail::call_pipe(pipes_[pf.pipe()]->function(), pf, runtime);
  }
  std::vector<P> pipes_;
};

}  // namespace tf
