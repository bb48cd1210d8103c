// The computation: numbered tasks and their predecessors.
#pragma once

#include <heist/heist.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace graph_locality {

class problem {
 public:
  virtual ~problem() = default;
  virtual std::string name() const = 0;
  virtual void reset() = 0;
  virtual double sum() const = 0;
  /// Adds its tasks to a graph; they are numbered as for do_task() and owner().
  virtual std::vector<heist::task<>> build(heist::task_graph& g) = 0;
  virtual std::size_t tasks() const = 0;
  virtual void do_task(std::size_t i) = 0;
  /// Which of `n` threads has it by hand.
  virtual unsigned owner(std::size_t i, unsigned n) const = 0;
  /// The tasks right before task `i`.
  virtual std::vector<std::size_t> before(std::size_t i) const = 0;
  virtual double elements() const = 0;  ///< elements times steps in a run
  virtual double bytes() const = 0;

  /// The direct predecessors of each task.
  std::vector<std::vector<std::size_t>> edges() const {
    std::vector<std::vector<std::size_t>> all;
    for (std::size_t i = 0; i != tasks(); ++i) all.push_back(before(i));
    return all;
  }
  /// Runs task `i` of a graph on that worker.
  void do_task_on(std::size_t i, unsigned worker) {
    ran_on[i] = static_cast<unsigned char>(worker);
    do_task(i);
  }

  void run_serially() {
    for (std::size_t i = 0; i != tasks(); ++i) do_task(i);
  }

  std::vector<unsigned char> ran_on;  ///< by task: the worker, in the last run of a graph

 protected:
  std::vector<heist::task<>> build_by_lists(heist::task_graph& g) {
    ran_on.resize(tasks());
    std::vector<heist::task<>> all;
    for (std::size_t i = 0; i != tasks(); ++i) {
      all.push_back(g.emplace([this, i](auto ctx) { do_task_on(i, static_cast<unsigned>(ctx.worker_id())); }));
      for (std::size_t const b : before(i)) all[b].precede(all[i]);
    }
    return all;
  }
};

}  // namespace graph_locality
