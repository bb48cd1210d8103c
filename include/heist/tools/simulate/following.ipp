// Bodies of following.hpp.
#pragma once

#include "heist/tools/simulate/following.hpp"

#include "heist/tools/simulate/fail.hpp"

namespace heist::sim {

HEIST_BODY following::following(options const& wanted, std::uint32_t workers, std::size_t tasks)
    : source_{wanted.follow},
      mode_{wanted.mode},
      workers_{workers},
      folded_{active() && mode_ == replay_mode::strict_ordered && source_->worker_count() > workers},
      frames_(active() ? tasks : 0),
      waiting_(active() ? tasks : 0),
      own_(active() ? workers : 0),
      mailbox_(active() ? workers : 0) {
  if (active() && source_->empty())
    detail::fail("options::follow is the tree of no run; fix it by one of report::trees or region::tree()");
}

HEIST_BODY item following::take(std::uint32_t w) noexcept {
  if (!active()) return {};
  if (!own_[w].empty()) return own_[w].pop_front();
  return take_mail(w);
}

HEIST_BODY item following::take_any_mail() noexcept {
  for (std::uint32_t w = 0; has_mail() && w != workers_; ++w) {
    if (item const i = take_mail(w); i) return i;
  }
  return {};
}

HEIST_BODY item following::take_mail(std::uint32_t w) noexcept {
  if (mailbox_[w].empty()) return {};
  --mail_count_;
  return mailbox_[w].pop_front();
}

}  // namespace heist::sim
