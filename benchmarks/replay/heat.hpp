// Five-point heat on two plates, with the arithmetic of benchmarks/locality.
#pragma once

#include <cstddef>  // size_t
#include <string>

#include "../locality/heat.hpp"
#include "blocks.hpp"

namespace replay {

class heat : public locality::heat_plate {
 public:
  explicit heat(locality::settings const& s) : heat_plate{s.size}, leaf_{s.leaf} {}

  std::size_t bytes() const { return bytes_for(result(0).size()); }
  static constexpr std::size_t regions() { return 1; }  // locality
  block_size block() const { return {leaf_}; }

  template <class Run>
  void step(Run const& run, std::size_t i) {
    run(0, box{rows(i)}, block(), [this, i](box const& b) { compute(i, b.rows); });
  }

  // For blocks that are placed by hand.

  std::size_t leaf() const { return leaf_; }

 private:
  std::size_t leaf_;
};

}  // namespace replay
