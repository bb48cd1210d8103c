// Flows by Boost.Context: portable, and understood by the sanitizers. The only file that includes Boost.Context.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>  // size_t
#include <utility>  // move

#include "heist/core/fiber/fiber_context_parts.hpp"

namespace heist::detail {

/// As native_fiber_context, which documents the promises of each function.
class boost_fiber_context {
 public:
  static constexpr bool abandons = false;

  boost_fiber_context() noexcept { sanitizer_adopt_thread(sanitizer_); }
  boost_fiber_context(stack&& memory, unsigned color) : memory_{std::move(memory)} {
    char* const top = coloured_top(memory_, color);
    sanitizer_create(sanitizer_, memory_.bottom(), memory_.usable());
    context_ = boost::context::detail::make_fcontext(top, static_cast<std::size_t>(top - memory_.bottom()), &begin);
  }
  boost_fiber_context(boost_fiber_context const&) = delete;
  boost_fiber_context& operator=(boost_fiber_context const&) = delete;
  ~boost_fiber_context() { sanitizer_destroy(sanitizer_); }

  void start(flow_function function, void* a, void* b) noexcept { job_ = {function, a, b, nullptr, {}}; }

  HEIST_NO_TSAN HEIST_NOINLINE static void switch_to(boost_fiber_context& from, boost_fiber_context& to,
                                                     after_switch then, bool from_ends = false) {
    from.crossing_ = {&from, &to, then, call_continuation_stolen};
    from.exceptions_ = exchange_exception_state(to.exceptions_);
    to.exceptions_ = {};
    if constexpr (is_aarch64) from.control_ = control_words::now();  // there the jump does not keep them
    // From here on no local variables: ASan may have freed those of a context that ends.
    sanitizer_leave(from.sanitizer_, to.sanitizer_, from_ends);
    arrive(boost::context::detail::jump_fcontext(to.context_, &from.crossing_));
    if constexpr (is_aarch64) from.control_.install();
  }

  HEIST_NO_TSAN HEIST_NOINLINE static int call(boost_fiber_context& from, boost_fiber_context& child,
                                               flow_function function, void* a, void* b) noexcept {
    child.job_ = {function, a, b, &from, control_words::now()};
    from.crossing_ = {&from, &child, {nullptr, nullptr}, call_continuation_stolen};
    sanitizer_leave(from.sanitizer_, child.sanitizer_, false);
    return arrive(boost::context::detail::jump_fcontext(child.context_, &from.crossing_));
  }

  /// Returns when `child` is called again; the function that it was called for must then return at once.
  static void leave(boost_fiber_context& child, boost_fiber_context& to, after_switch then) noexcept {
    child.recalled_ = true;
    switch_to(child, to, then);
  }

  void keep_control() noexcept {}  // the jump does it

  stack const& memory() const noexcept { return memory_; }
  /// Of one that is fresh or stopped: nothing lies on its stack below this.
  char* unused_below() const noexcept { return static_cast<char*>(context_); }

 private:
  struct crossing {
    boost_fiber_context* from;
    boost_fiber_context* to;
    after_switch then;
    int status;
  };
  struct job {
    flow_function function;
    void* a;
    void* b;
    boost_fiber_context* caller;
    control_words control;  ///< the caller's: the jump installs those that this context stopped with
  };

  HEIST_NO_TSAN static int arrive(boost::context::detail::transfer_t t) noexcept {
    crossing const c =
        *static_cast<crossing*>(t.data);  // a copy: `then` may let the old context resume, and cross again
    c.from->context_ = t.fctx;
    sanitizer_arrive(c.from->sanitizer_, c.to->sanitizer_, t.fctx);
    if (c.then.act != nullptr) c.then.act(c.then.argument);
    return c.status;
  }

  /// Runs one job after the other: between two it waits in jump_fcontext to be called.
  HEIST_NO_TSAN static void begin(boost::context::detail::transfer_t t) {
    boost_fiber_context& self = *static_cast<crossing*>(t.data)->to;
    arrive(t);
    for (;;) {
      self.job_.control.install();
      int const status = self.job_.function(self.job_.a, self.job_.b);
      if (self.recalled_) {
        self.recalled_ = false;
        continue;
      }
      boost_fiber_context& caller = *self.job_.caller;
      self.crossing_ = {&self, &caller, {nullptr, nullptr}, status};
      sanitizer_leave(self.sanitizer_, caller.sanitizer_, false);
      arrive(boost::context::detail::jump_fcontext(caller.context_, &self.crossing_));
    }
  }

  boost::context::detail::fcontext_t context_ = nullptr;
  crossing crossing_{};  // the last switch away; not a local, which would die with the stack it is on
  job job_{};
  bool recalled_ = false;
  control_words control_;
  exception_state exceptions_;
  sanitizer_state sanitizer_;
  stack memory_;
};

}  // namespace heist::detail
