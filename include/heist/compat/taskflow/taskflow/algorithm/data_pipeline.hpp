// Pipelines that carry a value from pipe to pipe.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, index_sequence, move
#include <variant>
#include <vector>

#include "heist/compat/taskflow/taskflow/algorithm/pipeline.hpp"

namespace tf {

/// A pipe from an Input to an Output. The first takes no value, the last may return none.
template <class Input, class Output, class C>
class DataPipe : public Pipe<C> {
 public:
  using input_t = Input;
  using output_t = Output;
  using Pipe<C>::Pipe;
};

template <class Input, class Output, class C>
auto make_data_pipe(PipeType type, C&& callable) {
  return DataPipe<Input, Output, std::decay_t<C>>(type, std::forward<C>(callable));
}

namespace detail {
/// A variant of the types, each once.
template <class Variant, class... More>
struct variant_of_each {
  using type = Variant;
};
template <class... Known, class T, class... More>
struct variant_of_each<std::variant<Known...>, T, More...>
    : variant_of_each<
          std::conditional_t<(std::is_same_v<Known, T> || ...), std::variant<Known...>, std::variant<Known..., T>>,
          More...> {};
template <class T>
using carried = std::conditional_t<std::is_void_v<T>, std::monostate, std::decay_t<T>>;
}  // namespace detail

template <class... Ps>
class DataPipeline : public detail::pipeline_base {
  static_assert(sizeof...(Ps) > 0, "heist: a tf::DataPipeline has no pipes; fix it by one at least.");

 public:
  using data_t = typename detail::variant_of_each<std::variant<>, detail::carried<typename Ps::output_t>...>::type;

  DataPipeline(std::size_t lines, Ps... pipes) : DataPipeline(lines, std::tuple<Ps...>(std::move(pipes)...)) {}
  DataPipeline(std::size_t lines, std::tuple<Ps...> pipes) : pipes_(std::move(pipes)), values_(lines) {
    set_lines(lines);
    set_pipes(std::apply([](auto const&... p) { return std::vector<PipeType>{p.type()...}; }, pipes_));
    build();
  }
  constexpr std::size_t num_pipes() const noexcept { return sizeof...(Ps); }

 private:
  struct alignas(64) place {
    data_t value;
  };

  void call(Pipeflow& pf, NonpreemptiveRuntime&) override {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      static_cast<void>(((pf.pipe() == I && (pass(std::get<I>(pipes_), pf), true)) || ...));
    }
    (std::index_sequence_for<Ps...>{});
  }
  template <class P>
  void pass(P& pipe, Pipeflow& pf) {
    using input = detail::carried<typename P::input_t>;
    using callable = typename P::callable_t;
    data_t& data = values_[pf.line()].value;
    auto& f = pipe.function();
    if constexpr (std::is_invocable_v<callable&, Pipeflow&>) {
      keep<P>(data, [&]() -> decltype(auto) { return f(pf); });
    } else if constexpr (std::is_invocable_v<callable&, input&>) {
      keep<P>(data, [&]() -> decltype(auto) { return f(std::get<input>(data)); });
    } else {
      static_assert(std::is_invocable_v<callable&, input&, Pipeflow&>,
                    "heist: a tf::DataPipe takes its input, a tf::Pipeflow&, or both; fix the callable.");
      keep<P>(data, [&]() -> decltype(auto) { return f(std::get<input>(data), pf); });
    }
  }
  template <class P, class F>
  static void keep(data_t& data, F&& f) {
    if constexpr (std::is_void_v<typename P::output_t>) {
      f();
    } else {
      data = detail::carried<typename P::output_t>(f());
    }
  }

  std::tuple<Ps...> pipes_;
  std::vector<place> values_;
};

}  // namespace tf
