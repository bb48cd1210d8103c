// How loops divide their range.
#pragma once

#include <memory>  // make_unique, unique_ptr

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"
#include "heist/region.hpp"

namespace tbb {

/// Down to ranges that are not divisible.
class simple_partitioner {};
/// Into some tasks for each worker, and into more where tasks are stolen.
class auto_partitioner {};
/// Into one task for each worker.
class static_partitioner {};
/// As auto_partitioner. Under a policy with memory, the loops of one object are runs of one heist::region: they place
/// their tasks as the earlier ones did.
class affinity_partitioner {
 public:
  affinity_partitioner() = default;
  affinity_partitioner(affinity_partitioner const&) = delete;
  affinity_partitioner& operator=(affinity_partitioner const&) = delete;

  heist::region& region() {
    if (!region_) region_ = std::make_unique<heist::region>();
    return *region_;
  }

 private:
  std::unique_ptr<heist::region> region_;
};

}  // namespace tbb
