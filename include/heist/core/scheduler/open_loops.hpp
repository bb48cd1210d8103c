// Lists of the loops that idle workers may help with.
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/scheduler/loop_costs.hpp"
#include "heist/core/sync/open_list.hpp"

namespace heist::detail {

struct open_loop;
struct runnable;

/// The loops that one worker, or the threads outside, share. Their memory stays as long as the executor, so a worker may look
/// at them at any time.
///
/// Threads  any.
class open_loops : public open_list<open_loop> {
 public:
  ~open_loops();

  /// One that the calling worker has entered and is to run; null: there is none.
  runnable* enter() noexcept { return is_empty() ? nullptr : enter_one(); }
  /// Would enter() find one? A hint.
  bool may_enter() const noexcept { return !is_empty() && may_enter_one(); }

  alignas(cache_line_size) loop_costs costs;

 private:
  runnable* enter_one() noexcept;
  bool may_enter_one() const noexcept;
};

}  // namespace heist::detail
