// Scopes of frames in the tiers. In the inter-squad tier children are dealt to the squads in groups of neighbours
// (locality/policy/README.md, "Flat scopes"). The children of a profiled frame are measured.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/fork/scope_base.hpp"
#include "heist/locality/squads/inter_task.hpp"
#include "heist/locality/squads/profile_frame.hpp"

namespace heist::detail {

/// Neighbouring children as one inter-squad task.
class child_group : public inter_task {
 public:
  child_group(inter_frame const& parent, interrupt_state const* outer, inter_join& joined, scope_child* oldest,
              std::uint32_t children) noexcept;
  void run_children(fiber& self, bool in_place) noexcept;

  child_group* older = nullptr;  ///< of the scope

 private:
  static runnable* run(runnable& task, fiber& self);

  inter_join* join_;
  scope_child* first_;
  std::uint32_t count_;
};

/// Children in the order in which they were forked.
struct scope_children {
  scope_child* first = nullptr;
  scope_child* last = nullptr;
  std::size_t count = 0;

  void add(scope_child& child) noexcept {
    (last == nullptr ? first : last->next) = &child;
    last = &child;
    ++count;
  }
  /// Those of `newer`, too, behind its own.
  void append(scope_children newer) noexcept {
    if (newer.count == 0) return;
    (last == nullptr ? first : last->next) = newer.first;
    last = newer.last;
    count += newer.count;
  }
  /// The first of them goes.
  scope_child* take() noexcept {
    scope_child* const taken = std::exchange(first, first->next);
    if (--count == 0) last = nullptr;
    return taken;
  }
};

/// The children that a scope has forked, and the groups that they have been dealt in. A head without work may deal the
/// collected children while the scope's frame goes on.
class squad_scope final : public extension_scope, pending_children, undistributed_children {
 public:
  explicit squad_scope(scope_base& of) noexcept;
  squad_scope(squad_scope const&) = delete;
  squad_scope& operator=(squad_scope const&) = delete;
  HEIST_BODY ~squad_scope() override;

  bool calls_at_once() noexcept override { return false; }
  void call_at_once(erased_child&) noexcept override {}
  HEIST_BODY void fork(scope_child& child) override;
  HEIST_BODY void wait() override;

 private:
  /// So many ticks after its last fork a frame is taken to do something else: some 25 us, hundreds of forks.
  static constexpr std::uint64_t patience = std::uint64_t{1} << 16;

  static void start_all(pending_children& self) noexcept { static_cast<squad_scope&>(self).start(); }
  /// Deals the collected children to the squads. Runs them here if memory is short.
  void start() noexcept;
  bool has_collected() noexcept;
  scope_children take_collected() noexcept;
  /// Into how many groups `children` are dealt.
  std::size_t groups(std::size_t children) const noexcept;
  /// A group of the first `size` of them, for `own` first. False without memory; then they stay.
  bool start_group(scope_children& of, std::uint32_t size, squad& own) noexcept;
  /// Returns when all dealt groups have ended.
  void wait_for_groups();

  HEIST_BODY bool claim() noexcept override;
  HEIST_BODY void distribute_claimed() noexcept override;

  scope_base& of_;
  inter_frame& parent_;
  squad_extension& extension_;
  inter_join join_{1};  ///< one for the scope itself, until it waits, and one for the head that has claimed children
  spin_lock<> lock_;    // guards the rest
  scope_children collected_, claimed_;
  squad* own_ = nullptr;  ///< where the youngest of them was forked
  squad* claimed_in_ = nullptr;
  std::uint64_t forked_at_ = 0;
  bool may_claim_ = true;  ///< none has, and there was memory
  child_group* groups_ = nullptr;
};

/// Of a frame that is profiled: parent-first, each child measured.
class profiled_scope final : public extension_scope {
 public:
  explicit profiled_scope(scope_base& of) noexcept;

  HEIST_BODY bool calls_at_once() noexcept override;
  HEIST_BODY void call_at_once(erased_child& child) noexcept override;
  HEIST_BODY void fork(scope_child& child) override;
  HEIST_BODY void wait() override;

 private:
  static runnable* run_child(runnable& task, fiber& self);

  scope_base& of_;
  profile_frame& frame_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/squads/squad_scope.ipp"
#endif
