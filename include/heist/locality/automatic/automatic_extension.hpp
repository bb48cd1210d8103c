// The extension of policy::automatic: regions and graphs are run here, by random stealing, or by another executor that it
// has (README.md).
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/locality/automatic/others.hpp"
#include "heist/locality/squads/squad_extension.hpp"

namespace heist::detail {

/// Its executor's workers are in squads, so that what a region does with them costs no way to another executor. Outside
/// of regions nothing knows of them.
class automatic_extension final : public squad_extension, public remote_extension {
 public:
  HEIST_BODY automatic_extension(core& scheduler, counter_operations const* counters, squad_hook hook,
                                 others::make_function make);
  HEIST_BODY ~automatic_extension() override;

  HEIST_BODY bool may_leave_worker(fiber const& f) const noexcept override;
  HEIST_BODY unique_ptr<region_visit> enter(region& r, fiber& self, fork_slot* position) override;

  HEIST_BODY graph_tuner* tuner_of(graph_data& g) override;
  HEIST_BODY std::size_t workers_remote() const noexcept override;
  HEIST_BODY std::size_t number_remote(worker const& w) const noexcept override;
  HEIST_BODY bool wait_remote(std::uint64_t& seen) override;
  HEIST_BODY std::string state_text() const override;

  // --- runs of regions here ---

  /// Tasks of the run enter no other region. Throws bad_alloc.
  void begins(interrupt_state const& run);
  void ends(interrupt_state const& run) noexcept;

  others all;

 private:
  bool is_in_run(fiber const& f) const noexcept;

  mutable spin_lock<> lock_;  ///< guards the next one
  std::vector<interrupt_state const*> runs_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/automatic/automatic_extension.ipp"
#endif
