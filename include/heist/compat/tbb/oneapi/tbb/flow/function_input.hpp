// The receiving side of nodes that call a body with each message.
#pragma once

#include <cstddef>  // size_t
#include <deque>
#include <mutex>
#include <optional>
#include <utility>  // move

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/body.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/predecessors.hpp"

namespace tbb::flow::detail {

/// How a node takes messages.
struct input_options {
  std::size_t limit;  // of calls at once; 0: none
  bool queues;
  bool is_inline;  // calls in try_put() where the limit allows
  node_priority_t priority;
};

template <class Policy, class Body, class Stored>
constexpr input_options options_of(std::size_t limit, node_priority_t priority) {
  return {limit, !has_policy<Policy, rejecting>, has_policy<Policy, lightweight> && Stored::template is_safe<Body>,
          priority};
}

template <class Input>
class function_input : public receiver<Input> {
 public:
  function_input(graph& g, input_options const& options) : graph_{g}, options_{options} {}

  graph& graph_reference() const override { return graph_; }
  graph_task* try_put_task(Input const& t) override {
    if (options_.limit != 0) {
      std::lock_guard const guard{lock_};
      if (running_ >= options_.limit) {
        if (options_.queues) waiting_.push_back(t);
        return taken_if(options_.queues);
      }
      ++running_;
    }
    if (options_.is_inline) {
      run(t);
    } else {
      spawn(t);
    }
    return taken;
  }
  bool register_predecessor(sender<Input>& s) override {
    from_.add(s);
    if (!tasks().is_active() || !take_place()) return true;
    tasks().spawn([this](bool may_run) { may_run ? pass_on() : give_back(); }, options_.priority);
    return true;
  }
  bool remove_predecessor(sender<Input>& s) override { return from_.remove(s); }
  node_priority_t priority() const override { return options_.priority; }

 protected:
  input_options const& options() const noexcept { return options_; }
  /// Of one call: the right to make it. It is given back, or the next message gets it.
  class place {
   public:
    explicit place(function_input& in) noexcept : in_{in} {}
    place(place const&) = delete;
    place& operator=(place const&) = delete;
    ~place() {
      if (is_held_) in_.give_back();
    }
    void pass_on() {
      if (!is_held_) return;
      is_held_ = false;
      in_.pass_on();
    }

   private:
    function_input& in_;
    bool is_held_ = true;
  };
  /// Calls the body. If the result goes to successors afterwards, the place is passed on before: they may need it.
  virtual void apply(Input const& t, place& held) = 0;

  void reset_input(reset_flags flags) {
    {
      std::lock_guard const guard{lock_};
      waiting_.clear();
    }
    from_.reset(flags);
  }

 private:
  graph_tasks& tasks() const noexcept { return tasks_of(graph_); }
  void run(Input const& t) {
    place held{*this};
    if (tasks().is_cancelled()) return;
    apply(t, held);
    held.pass_on();
  }
  void spawn(Input t) {
    tasks().spawn([this, t = std::move(t)](bool may_run) { may_run ? run(t) : give_back(); }, options_.priority);
  }

  bool take_place() {
    if (options_.limit == 0) return true;
    std::lock_guard const guard{lock_};
    if (running_ >= options_.limit) return false;
    ++running_;
    return true;
  }
  void give_back() {
    if (options_.limit == 0) return;
    std::lock_guard const guard{lock_};
    --running_;
  }
  /// Gives the place to a message that waits here or at a predecessor.
  void pass_on() {
    if (options_.limit == 0) {
      while (pull()) {
      }
      return;
    }
    for (;;) {
      if (start_waiting() || pull()) return;
      {
        std::lock_guard const guard{lock_};
        if (!waiting_.empty()) continue;
        --running_;
      }
      if (from_.empty() || !take_place()) return;  // one that came meanwhile has seen no free place
    }
  }
  bool start_waiting() {
    std::optional<Input> next;
    {
      std::lock_guard const guard{lock_};
      if (waiting_.empty()) return false;
      next.emplace(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    spawn(std::move(*next));
    return true;
  }
  bool pull() {
    if (from_.empty()) return false;
    Input t{};
    if (!from_.get(t)) return false;
    spawn(std::move(t));
    return true;
  }

  graph& graph_;
  input_options const options_;
  tbb::detail::spinning_lock lock_;
  std::size_t running_ = 0;
  std::deque<Input> waiting_;
  predecessor_list<Input> from_{*this};
};

}  // namespace tbb::flow::detail
