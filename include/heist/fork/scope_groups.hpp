// A scope's children in the inter-squad tier: dealt to the squads in groups of neighbours (policy/README.md, "Flat
// scopes").
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <memory>   // make_unique, unique_ptr
#include <utility>  // exchange
#include <vector>

#include "heist/fork/tier_fork.hpp"
#include "heist/policy/boundary_level.hpp"

namespace heist {

template <class Context = context>
class scope;

namespace detail {

/// As many children of scopes wait in a worker's deque when the next one is called in place; or in one scope when they
/// are dealt to the squads.
inline constexpr std::size_t enough_waiting = 4096;

/// A child of a scope that has not started; `in` says whose it is.
template <class Context>
struct scope_child : runnable {
  scope<Context>* in;
  std::uint32_t index;  ///< among the children of the task
  /// Runs it in the inter-squad task whose context is `c`. `of`: the scope of its group, which it then is a child of
  /// and starts in; its own if it is alone, which calls it.
  void (*begin)(scope_child& self, scope<Context>& of, Context c);
  scope_child* next;
};

/// Neighbouring children as one inter-squad task.
template <class Context>
struct child_group : inter_task {
  using child = scope_child<Context>;

  child_group(inter_frame const& parent, interrupt_state const* outer, inter_join& joined, child* oldest,
              std::uint32_t children) noexcept
      : inter_task{&run, parent, oldest->index, outer}, join{&joined}, first{oldest}, count{children} {
    if (count > 1) this->become_leaf();
  }

  static runnable* run(runnable& self, fiber& on) {
    auto& group = static_cast<child_group&>(self);
    group.run_children(on, false);
    group.join->child_ended();
    return nullptr;
  }
  void run_children(fiber& on, bool in_place) noexcept {
    scope<Context>& of_all = *first->in;
    this->template run_on<Context>(on, in_place, [&](Context c) {
      if (count == 1) {
        first->begin(*first, of_all, c);
      } else {
        auto all = [this](Context inner) { run_all(inner); };
        of_all.call_in(all, c);
      }
    });
  }
  void run_all(Context c) {
    scope<Context> of_group{c};
    child* at = first;
    for (std::uint32_t i = 0; i < count; ++i) {
      child* const following = at->next;  // `at` is gone when it has run
      at->begin(*at, of_group, c);
      at = following;
    }
    of_group.join();
  }

  inter_join* join;
  child* first;
  std::uint32_t count;
};

/// The children that a scope has forked, and the groups that they have been dealt in.
///
/// Threads  of the task that made the scope.
template <class Context>
class dealt_children : unstarted_children {
  using child = scope_child<Context>;
  using group = child_group<Context>;

 public:
  dealt_children(fiber& on, inter_frame& parent, interrupt_state const* outer) noexcept
      : unstarted_children{&start_all, on.unstarted}, on_{&on}, parent_{&parent}, outer_{outer} {
    on.unstarted = this;
  }
  dealt_children(dealt_children const&) = delete;
  dealt_children& operator=(dealt_children const&) = delete;
  ~dealt_children() { on_->unstarted = older; }

  void add(child& c) noexcept {
    (last_ == nullptr ? first_ : last_->next) = &c;
    last_ = &c;
    if (++count_ == enough_waiting) start();
  }

  /// Deals what is there to the squads. Without memory it runs here.
  void start() noexcept {
    if (count_ == 0) return;
    std::size_t const n = std::exchange(count_, 0);
    child* at = std::exchange(first_, nullptr);
    last_ = nullptr;
    // A profile knows each child by itself.
    std::size_t const many = parent_->run->how() == division::by_level ? parent_->run->groups(n) : n;
    for (std::size_t i = 0; i < many; ++i) {
      auto const size =
          static_cast<std::uint32_t>(tier::flat_group_begin(n, many, i + 1) - tier::flat_group_begin(n, many, i));
      child* const begin = at;
      for (std::uint32_t k = 0; k < size; ++k) at = at->next;
      if (!may_suspend(*on_->on) || !start_group(begin, size))
        group{*parent_, outer_, join_, begin, size}.run_children(*on_, true);
    }
  }

  /// Until all that have been dealt have ended.
  void wait() {
    while (count_ != 0) start();  // what runs here may fork more
    join_.child_ended();
    join_.wait(*on_, *parent_);
    groups_.clear();
    join_.outstanding.store(1, std::memory_order_relaxed);  // relaxed: nobody else has it now
    join_.all_ended.reset();
  }

 private:
  static void start_all(unstarted_children& self) noexcept { static_cast<dealt_children&>(self).start(); }

  bool start_group(child* first, std::uint32_t size) noexcept {
    try {
      groups_.push_back(std::make_unique<group>(*parent_, outer_, join_, first, size));
    } catch (...) {
      return false;
    }
    join_.outstanding.fetch_add(1, std::memory_order_relaxed);  // relaxed: child_ended() decides
    groups_.back()->start(*on_->on->in);
    return true;
  }

  fiber* on_;
  inter_frame* parent_;
  interrupt_state const* outer_;
  child* first_ = nullptr;
  child* last_ = nullptr;
  std::size_t count_ = 0;
  std::vector<std::unique_ptr<group>> groups_;
  inter_join join_{1};  ///< one for the scope itself, until it waits
};

}  // namespace detail
}  // namespace heist
