// Taskflow: each call makes a graph of one algorithm and runs it, as its documentation shows. Loops within loops use a
// graph that a worker runs itself.
#include <taskflow/taskflow.hpp>

#include <taskflow/algorithm/find.hpp>
#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/algorithm/reduce.hpp>
#include <taskflow/algorithm/scan.hpp>
#include <taskflow/algorithm/sort.hpp>

#include "workloads.hpp"

#include <functional>
#include <memory>

namespace {

struct taskflow_peer {
  explicit taskflow_peer(std::size_t workers) : executor{workers} {}
  template <class Make>
  void run(Make&& make) {
    tf::Taskflow flow;
    make(flow);
    if (executor.this_worker_id() >= 0) {
      executor.corun(flow);
    } else {
      executor.run(flow).wait();
    }
  }
  template <class F>
  void loop(std::size_t n, F f) {
    run([=](tf::Taskflow& flow) { flow.for_each_index(std::size_t{0}, n, std::size_t{1}, f); });
  }
  template <class F>
  void sweep(std::size_t n, std::size_t times, F f) {
    run([&](tf::Taskflow& flow) {
      tf::Task before;
      for (std::size_t k = 0; k != times; ++k) {
        tf::Task const one = flow.for_each_index(std::size_t{0}, n, std::size_t{1}, f, tf::StaticPartitioner{});
        if (k != 0) before.precede(one);
        before = one;
      }
    });
  }
  double sum(std::vector<double> const& v) {
    double result = 0;
    run([&](tf::Taskflow& flow) { flow.reduce(v.begin(), v.end(), result, std::plus<double>{}); });
    return result;
  }
  void scan(std::vector<double> const& v, std::vector<double>& out) {
    run([&](tf::Taskflow& flow) { flow.inclusive_scan(v.begin(), v.end(), out.begin(), std::plus<double>{}); });
  }
  template <class V>
  void sort(V& v) {
    run([&](tf::Taskflow& flow) { flow.sort(v.begin(), v.end()); });
  }
  std::size_t find(std::vector<std::int64_t> const& v, std::int64_t x) {
    auto at = v.end();
    run([&](tf::Taskflow& flow) { flow.find_if(v.begin(), v.end(), at, [x](std::int64_t y) { return x == y; }); });
    return static_cast<std::size_t>(at - v.begin());
  }
  void inside(void (*body)(void*), void* env) {
    executor.async([=] { body(env); }).wait();
  }
  tf::Executor executor;
};

}  // namespace

std::unique_ptr<bench::runner> make_taskflow(std::size_t workers) {
  return std::make_unique<bench::runner_of<taskflow_peer>>(workers);
}
