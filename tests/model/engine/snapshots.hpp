// The moments of the running execution at which a thread went on. The search returns to the last moment before the
// decision that it changes, and need not begin again from the start.
#pragma once

#include <cstddef>
#include <vector>

#include "malloc_allocator.hpp"
#include "memory.hpp"
#include "scheduler.hpp"
#include "tape.hpp"

namespace model {

class snapshots {
 public:
  void clear() noexcept {
    kept_.clear();
    tape_.go_to(0);
  }
  bool empty() const noexcept { return kept_.empty(); }

  /// Memory of a harness that no execution allocates: it is compared and restored with the rest.
  void add_outside(void* where, std::size_t size) noexcept { outside_.push_back({where, size}); }
  std::uint64_t image_outside() const noexcept {
    std::uint64_t all = 0;
    for (part const& p : outside_) all = mix_bytes(all, p.where, p.size);
    return all;
  }

  void take() noexcept {
    kept_.push_back({decisions.taken(), tape_.position()});
    heap.save(tape_);
    sched.save(tape_);
    mem.save(tape_);
    for (part const& p : outside_) tape_.put(p.where, p.size);
  }
  /// Forgets those that come after the first `count` decisions but one.
  void leave(std::size_t count) noexcept {
    while (!kept_.empty() && kept_.back().decisions >= count) {
      tape_.go_to(kept_.back().begin);
      kept_.pop_back();
    }
  }
  /// All is again as it was at the last one.
  void restore() noexcept {
    tape_.go_to(kept_.back().begin);
    heap.restore(tape_);
    sched.restore(tape_);
    mem.restore(tape_);
    for (part const& p : outside_) tape_.get(p.where, p.size);
    decisions.go_back(kept_.back().decisions);
  }

 private:
  struct moment {
    std::size_t decisions;
    std::size_t begin;
  };
  struct part {
    void* where;
    std::size_t size;
  };
  std::vector<part, malloc_allocator<part>> outside_;
  std::vector<moment, malloc_allocator<moment>> kept_;
  tape tape_;
};

inline snapshots kept;

}  // namespace model
