// An executor for each number of workers that is measured. Those that wait for their turn sleep.
#pragma once

#include <heist/heist.hpp>

#include <cstddef>  // size_t
#include <memory>
#include <utility>  // pair
#include <vector>

namespace measure {

template <class Policy = heist::policy::random>
class executors {
 public:
  explicit executors(std::vector<std::size_t> const& workers, heist::options wanted = {}) {
    for (std::size_t const n : workers) {
      wanted.workers = n;
      all_.emplace_back(n, std::make_unique<heist::executor<Policy>>(wanted));
    }
  }

  /// Calls f(executor, number of workers) for each.
  template <class F>
  void for_each(F&& f) {
    for (auto& [n, ex] : all_) f(*ex, n);
  }

 private:
  std::vector<std::pair<std::size_t, std::unique_ptr<heist::executor<Policy>>>> all_;
};

}  // namespace measure
