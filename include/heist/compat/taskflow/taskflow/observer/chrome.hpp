// An observer that writes what chrome://tracing and Perfetto show.
#pragma once

#include <chrono>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "heist/compat/taskflow/taskflow/observer/interface.hpp"

namespace tf {

class ChromeObserver : public ObserverInterface {
 public:
  void set_up(std::size_t num_workers) override {
    workers_.assign(num_workers, {});
    start_ = std::chrono::steady_clock::now();
  }
  void on_entry(WorkerView worker, TaskView) override {
    workers_[worker.id()].open.push_back(std::chrono::steady_clock::now());
  }
  /// A task that has waited may end on another worker than it began on. It is then left out.
  void on_exit(WorkerView worker, TaskView task) override {
    seen& s = workers_[worker.id()];
    if (s.open.empty()) return;
    s.done.push_back({task.name(), s.open.back(), std::chrono::steady_clock::now()});
    s.open.pop_back();
  }

  void clear() {
    for (seen& s : workers_) s = {};
  }
  std::size_t num_tasks() const {
    std::size_t n = 0;
    for (seen const& s : workers_) n += s.done.size();
    return n;
  }
  void dump(std::ostream& out) const {
    char const* comma = "";
    out << '[';
    for (std::size_t w = 0; w != workers_.size(); ++w) {
      for (event const& e : workers_[w].done) {
        out << comma << R"({"cat":"ChromeObserver","name":")" << e.name << R"(","ph":"X","pid":1,"tid":)" << w
            << ",\"ts\":" << us(e.begin - start_) << ",\"dur\":" << us(e.end - e.begin) << '}';
        comma = ",\n";
      }
    }
    out << "]\n";
  }
  std::string dump() const {
    std::ostringstream out;
    dump(out);
    return out.str();
  }

 private:
  struct event {
    std::string name;
    observer_stamp_t begin, end;
  };
  struct alignas(64) seen {
    std::vector<observer_stamp_t> open;
    std::vector<event> done;
  };
  static long long us(std::chrono::steady_clock::duration d) {
    return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  }
  observer_stamp_t start_{};
  std::vector<seen> workers_;
};

}  // namespace tf
