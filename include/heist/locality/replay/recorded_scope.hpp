// Scopes of frames whose steals are noted, or made as noted.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/fork/scope_base.hpp"
#include "heist/locality/replay/recorded_places.hpp"

namespace heist::detail {

class recorded_scope final : public extension_scope {
 public:
  /// `remote`: without a place in a run, so nothing may be stolen from it.
  recorded_scope(scope_base& of, bool remote) noexcept;

  HEIST_BODY bool calls_at_once() noexcept override;
  HEIST_BODY void call_at_once(erased_child& child) noexcept override;
  HEIST_BODY void fork(scope_child& child) override;
  HEIST_BODY void wait() override;

 private:
  frame_record& record() const noexcept { return *recorded_places::record_of(position_); }
  bool is_serial() const noexcept { return (record().forks & frame_record::serial) != 0; }
  void fork_followed(scope_child& child);
  void fork_recorded(scope_child& child);
  void wait_for_children();

  scope_base& of_;
  frame_record of_no_run_{nullptr, 0, 0};
  fork_slot* position_;
  bool const in_place_;
  bool unjoined_ = false;  ///< it has had children since the last wait
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/replay/recorded_scope.ipp"
#endif
