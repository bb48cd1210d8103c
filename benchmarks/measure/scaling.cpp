// From one worker to all: fork/join programs, task graphs, loops that compute, and sorts.
#include <heist/algorithm.hpp>
#include <heist/heist.hpp>

#include <algorithm>  // is_sorted, sort, stable_sort
#include <cmath>      // sqrt
#include <cstdint>
#include <memory>  // make_shared
#include <numeric>
#include <utility>  // pair

#include "../../examples/kernels/fib.hpp"
#include "../../examples/kernels/matmul.hpp"
#include "../../examples/kernels/nqueens.hpp"
#include "../../examples/kernels/uts.hpp"
#include "executors.hpp"
#include "graphs.hpp"
#include "measuring.hpp"
#include "problem.hpp"

namespace measure {
namespace {

/// A kernel of examples/kernels.
template <class K>
row kernel_row(std::size_t size) {
  return {"scaling", "fork/join", std::string{K::about.name}, std::string{K::about.problem}, [size](request const& o) {
            std::size_t const n = o.tiny ? K::about.test : size;
            K k{n};
            executors<> all{o.workers, {.stack_size = K::about.stack}};
            auto const timed = [&k](auto run) {
              return [&k, run] {
                k.prepare();
                return seconds_of(run);
              };
            };
            auto const check = [&k] { return k.check(); };
            std::vector<variant> variants{{"serial", 1, timed([&k] { k.serial(); }), check}};
            all.for_each([&](auto& ex, std::size_t workers) {
              variants.push_back(
                  {"heist", workers, timed([&k, &ex] { ex.invoke([&k](auto ctx) { k.parallel(ctx); }); }), check});
            });
            return nlohmann::json{{"figures", alternate(variants, o)},
                                  {"size", fmt::format("{} {}", K::about.size_means, n)}};
          }};
}

row graph_row(std::string name, std::string what, std::string shape, std::size_t nodes, std::size_t steps) {
  return problem_row_of("graphs", std::move(name), std::move(what), [=](bool is_tiny) {
    return hashed_graph{bench::make_shape(shape, is_tiny ? 500 : nodes), steps};
  });
}

/// Each iteration costs the same.
class even_loop {
 public:
  explicit even_loop(bool tiny) : out_(tiny ? 2'000 : 200'000) {}
  std::string size() const { return fmt::format("{} iterations of some tens of ns", out_.size()); }
  void prepare() {}
  void serial() {
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = value(i);
  }
  template <class Executor>
  void parallel(Executor& ex) {
    heist::for_each_index(ex, std::size_t{0}, out_.size(), [this](std::size_t i) { out_[i] = value(i); });
  }
  std::string check() {
    for (std::size_t i = 0; i < out_.size(); i += 97) {
      if (out_[i] != value(i)) return fmt::format("iteration {} has not run", i);
    }
    std::fill(out_.begin(), out_.end(), 0.0);
    return {};
  }

 private:
  static double value(std::size_t i) {
    double x = 1 + static_cast<double>(i);
    for (int step = 0; step < 8; ++step) x = std::sqrt(x + step);
    return x;
  }
  std::vector<double> out_;
};

/// Iteration i costs in proportion to i.
class uneven_loop {
 public:
  explicit uneven_loop(bool tiny) : out_(tiny ? 300 : 6'000) {}
  std::string size() const { return fmt::format("{0} iterations, of 1 to {0} multiplications", out_.size()); }
  void prepare() {}
  void serial() {
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = multiply(i, i);
  }
  template <class Executor>
  void parallel(Executor& ex) {
    heist::for_each_index(ex, std::size_t{0}, out_.size(), [this](std::size_t i) { out_[i] = multiply(i, i); });
  }
  std::string check() {
    for (std::size_t i = 1; i < out_.size(); i += 13) {
      if (out_[i] != multiply(i, i)) return fmt::format("iteration {} has not run", i);
    }
    std::fill(out_.begin(), out_.end(), 0u);
    return {};
  }

 private:
  std::vector<std::uint64_t> out_;
};

/// std::sort and heist::sort, or the stable ones, of keys with numbers.
template <bool Stable>
class sorting {
 public:
  using element = std::pair<std::uint32_t, std::uint32_t>;

  explicit sorting(bool tiny) : input_(tiny ? 10'000 : 1'000'000) {
    kernels::random_numbers random{1};
    for (std::uint32_t i = 0; auto& [key, number] : input_) {
      key = static_cast<std::uint32_t>(random.below(input_.size()));
      number = i++;
    }
    expected_ = input_;
    std::sort(expected_.begin(), expected_.end());
  }
  std::string size() const { return fmt::format("{} pairs of a random key and a number", input_.size()); }
  void prepare() { values_ = input_; }
  void serial() {
    if constexpr (Stable) {
      std::stable_sort(values_.begin(), values_.end(), by_key);
    } else {
      std::sort(values_.begin(), values_.end());
    }
  }
  template <class Executor>
  void parallel(Executor& ex) {
    if constexpr (Stable) {
      heist::stable_sort(ex, values_, by_key);
    } else {
      heist::sort(ex, values_);
    }
  }
  std::string check() { return values_ == expected_ ? std::string{} : "the pairs are not in order"; }

 private:
  static bool by_key(element const& a, element const& b) { return a.first < b.first; }
  std::vector<element> input_, expected_, values_;
};

}  // namespace

std::vector<row> scaling_rows() {
  return {kernel_row<kernels::fib>(35),
          kernel_row<kernels::nqueens>(11),
          kernel_row<kernels::matmul>(512),
          kernel_row<kernels::uts_t1>(8),
          graph_row("random graph", "a random graph of tasks of half a microsecond, 1 to 4 predecessors each", "dag",
                    30'000, 500),
          graph_row("wavefront", "a grid of tasks of half a microsecond that wait for the task above and the task left",
                    "wavefront", 30'000, 500),
          graph_row("small tasks", "a random graph whose tasks take some nanoseconds: the cost of a task", "dag",
                    200'000, 1),
          problem_row<even_loop>("loops", "even loop", "for_each_index, all iterations cost the same"),
          problem_row<uneven_loop>("loops", "uneven loop", "for_each_index, iteration i costs in proportion to i"),
          problem_row<sorting<false>>("sorts", "sort", "heist::sort, and std::sort as the serial program"),
          problem_row<sorting<true>>("sorts", "stable sort",
                                     "heist::stable_sort, and std::stable_sort as the serial program")};
}

}  // namespace measure
