// A flow of control with a stack of its own, and the switch from one to another. The only file that includes
// Boost.Context.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>  // move

#include "heist/base/config.hpp"
#include "heist/fiber/exception_state.hpp"
#include "heist/fiber/sanitizer.hpp"
#include "heist/memory/stack.hpp"

namespace heist::detail {

/// Something to do on the new side right after a switch, when the old side has been left completely: only then may the
/// old flow be published, resumed elsewhere or freed. Its argument may live on the old stack, and must not be touched
/// once the old flow is published.
struct after_switch {
  void (*act)(void*) noexcept;
  void* argument;
};

/// One flow: a fiber, or the stack that a thread was born with (default constructed).
class flow {
 public:
  using entry = void (*)(void* argument);

  /// A thread's own stack; to be made on the thread that it stands for.
  flow() noexcept { sanitizer_adopt_thread(sanitizer_); }

  /// A fiber that will call `start(argument)` when it is switched to for the first time; `start` never returns.
  /// `colour` moves the first frame, so that the hot ends of many stacks do not fall into the same cache sets.
  flow(stack&& memory, entry start, void* argument, unsigned colour)
      : memory_{std::move(memory)}, start_{start}, argument_{argument} {
    char* const top = memory_.top() - (colour % colours) * std::size_t{2} * cache_line_size;
    auto const size = static_cast<std::size_t>(top - memory_.bottom());
    sanitizer_create(sanitizer_, memory_.bottom(), memory_.usable());
    context_ = boost::context::detail::make_fcontext(top, size, &begin);
  }

  flow(flow const&) = delete;
  flow& operator=(flow const&) = delete;
  ~flow() { sanitizer_destroy(sanitizer_); }

  /// Leaves `from`, which the caller runs on, and goes on in `to`, where `then` is done first. Returns when somebody
  /// switches back to `from`, perhaps on another thread. `from_ends`: nobody ever will.
  HEIST_NO_TSAN HEIST_NOINLINE static void switch_to(flow& from, flow& to, after_switch then, bool from_ends = false) {
    from.crossing_ = {&from, &to, then};
    from.exceptions_ = exchange_exception_state(to.exceptions_);
    sanitizer_leave(from.sanitizer_, to.sanitizer_, from_ends);
    arrive(boost::context::detail::jump_fcontext(to.context_, &from.crossing_));
  }

  stack const& memory() const noexcept { return memory_; }

 private:
  static constexpr unsigned colours = 16;

  struct crossing {
    flow* from;
    flow* to;
    after_switch then;
  };

  HEIST_NO_TSAN static void arrive(boost::context::detail::transfer_t t) noexcept {
    crossing const c = *static_cast<crossing*>(t.data);  // a copy: `then` may let the old flow go on, and cross again
    c.from->context_ = t.fctx;
    sanitizer_arrive(c.from->sanitizer_, c.to->sanitizer_);
    c.then.act(c.then.argument);
  }

  HEIST_NO_TSAN static void begin(boost::context::detail::transfer_t t) {
    flow& self = *static_cast<crossing*>(t.data)->to;
    arrive(t);
    self.start_(self.argument_);
  }

  boost::context::detail::fcontext_t context_ = nullptr;
  crossing crossing_{};  // the last switch away; not a local, which would die with the stack it is on
  exception_state exceptions_;
  sanitizer_state sanitizer_;
  stack memory_;
  entry start_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace heist::detail
