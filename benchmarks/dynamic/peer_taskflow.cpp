// Taskflow: dependent_async by a task, and tf::Pipeline with a buffer for each line.
#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/taskflow.hpp>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "workloads.hpp"

namespace {

using bench::row;
using bench::sizes;

template <bool Serial, std::size_t... I>
double pipe(tf::Executor& ex, sizes const& s, std::index_sequence<I...>) {
  std::uint64_t next = 0, sum = 0;
  struct alignas(64) buffer {
    std::uint64_t value;
  };
  std::array<buffer, sizes::lines> at{};
  constexpr tf::PipeType type = Serial ? tf::PipeType::SERIAL : tf::PipeType::PARALLEL;
  tf::Pipeline p{sizes::lines,
                 tf::Pipe{tf::PipeType::SERIAL,
                          [&](tf::Pipeflow& f) {
                            if (next == s.tokens) {
                              f.stop();
                            } else {
                              at[f.line()].value = next++;
                            }
                          }},
                 tf::Pipe{type,
                          [&at](tf::Pipeflow& f) {
                            static_cast<void>(I);
                            at[f.line()].value = bench::stage_work(at[f.line()].value);
                          }}...,
                 tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow& f) { sum += at[f.line()].value % 1024; }}};
  tf::Taskflow flow;
  flow.composed_of(p);
  ex.run(flow).wait();
  return static_cast<double>(sum);
}

struct taskflow_runner final : bench::runner {
  explicit taskflow_runner(std::size_t workers) : ex{workers} {}
  bool has(row which) const override { return which < row::coroutine_called; }

  double run(row which, sizes const& s) override {
    auto const pipeline = [&]<bool Serial>(auto stages) { return pipe<Serial>(ex, s, stages); };
    if (auto const sum = bench::pipeline_of(which, pipeline)) return *sum;
    ex.silent_async([this, which] { submit_all(which); });
    ex.wait_for_all();
    return all->result();
  }

  /// Keeps each handle as long as a later task may depend on it.
  void submit_all(row which) {
    std::size_t const reach =
        which == row::chain || which == row::random || which == row::empty ? 64 : all->tasks.size();
    std::vector<tf::AsyncTask> handles(reach);
    std::vector<tf::AsyncTask> before;
    for (std::size_t i = 0; i != all->tasks.size(); ++i) {
      before.clear();
      for (std::size_t k = 0; k != all->tasks.count(i); ++k) before.push_back(handles[all->tasks.first(i)[k] % reach]);
      handles[i % reach] = ex.silent_dependent_async([a = all.get(), i] { a->run(i); }, before.begin(), before.end());
    }
  }

  tf::Executor ex;
};

}  // namespace

std::unique_ptr<bench::runner> make_taskflow(std::size_t workers) {
  return std::make_unique<taskflow_runner>(workers);
}
