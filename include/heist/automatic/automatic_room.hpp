// The room of policy::automatic: regions and graphs are run here, by random stealing, or by another executor that it has
// (README.md).
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <span>
#include <string>
#include <vector>

#include "heist/automatic/others.hpp"
#include "heist/base/config.hpp"
#include "heist/fork/fork_room.hpp"
#include "heist/sync/interrupt.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist::detail {

/// Its own frames are parent-first, and belong to no room: what is asked of those is answered as without one.
class automatic_room final : public fork_room {
 public:
  HEIST_BODY automatic_room(core& home, others::make_function make);
  HEIST_BODY ~automatic_room() override;

  HEIST_BODY bool may_leave_worker(fiber const& f) const noexcept override;
  HEIST_BODY place_to_fork way_of_fork(fiber& of, fork_slot* position, bool apart) noexcept override;
  HEIST_BODY void fork(fiber& self, fork_slot* position, std::span<erased_child* const> children) override;
  HEIST_BODY fork_way way_of_scope(fiber& self, fork_slot* position) noexcept override;
  HEIST_BODY std::unique_ptr<room_scope> make_scope(scope_base& of, bool elsewhere) override;
  HEIST_BODY bool may_queue(fiber const& here, fork_way way) const noexcept override;
  HEIST_BODY std::unique_ptr<region_visit> enter(region& r, fiber& self, fork_slot* position) override;
  HEIST_BODY bool remembers(fork_slot* position) const noexcept override;

  HEIST_BODY graph_chooser* chooser_of(graph_data& g) override;
  HEIST_BODY others* other_executors() noexcept override;
  HEIST_BODY std::size_t workers_elsewhere() const noexcept override;
  HEIST_BODY std::size_t number_elsewhere(worker const& w) const noexcept override;
  HEIST_BODY bool wait_elsewhere(std::uint64_t& seen) override;
  HEIST_BODY std::string state_text() const override;

  // --- runs of regions here ---

  /// What is a part of it enters no other region. Throws bad_alloc.
  void begins(interrupt_state const& run);
  void ends(interrupt_state const& run) noexcept;

  others all;

 private:
  bool is_in_run(fiber const& f) const noexcept;

  core& home_;
  mutable spin_lock<> lock_;  ///< guards the next one
  std::vector<interrupt_state const*> runs_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/automatic/automatic_room.ipp"
#endif
