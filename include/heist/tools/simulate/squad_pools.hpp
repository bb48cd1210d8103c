// The squads of a simulated machine: locality/squads/squad_set.hpp, where every step takes effect at one moment.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/tools/simulate/pool.hpp"
#include "heist/tools/simulate/worker.hpp"

namespace heist::sim {

/// `Gates` as gates; there is one for each squad.
template <class Gates>
class squad_pools {
 public:
  squad_pools(std::size_t count, Gates& gates) : squads_(count), gates_{gates} {}

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(squads_.size()); }
  bool busy(std::uint32_t s) const noexcept { return squads_[s].busy; }

  /// A new inter-squad task: for `to` first, but any squad may take it.
  void add(std::uint32_t to, item i) {
    squads_[to].open.push(i);
    wake_free_heads();
  }
  /// One that belongs to `to`.
  void add_pinned(std::uint32_t to, item i) {
    squads_[to].pinned.push(i);
    wake_for_pinned(to);
  }
  /// A frame of the subtree that keeps `s` busy can resume.
  void add_ready(std::uint32_t s, item i) {
    squads_[s].ready.push(i);
    gates_.submitted_here(s);
  }
  item take_ready(std::uint32_t s) noexcept { return squads_[s].ready.empty() ? item{} : squads_[s].ready.pop_front(); }

  /// The task that kept `s` busy has ended, or waits for inter-squad children. `by_head`: the caller is a head, which
  /// searches next.
  void release(std::uint32_t s, bool by_head) {
    squads_[s].busy = false;
    if (by_head || !anything()) return;
    wake_head(s);
    if (!squads_[s].pinned.empty()) wake_for_pinned(s);
  }

  /// Steps 2, 4 and 5 of CAB's Algorithm I; `victim` is a squad at random.
  item head_take(std::uint32_t own, std::uint32_t victim) noexcept {
    squad& s = squads_[own];
    if (s.busy) return {};
    item i = take_own(s);
    if (!i && victim != own && !squads_[victim].open.empty()) i = squads_[victim].open.pop_front();
    if (i) s.busy = true;
    return i;
  }
  /// After a long search: also what belongs to another squad.
  item head_take_any(std::uint32_t own) noexcept {
    squad& s = squads_[own];
    if (s.busy) return {};
    item i = take_own(s);
    for (std::size_t k = 0; !i && k != squads_.size(); ++k)
      if (!squads_[k].open.empty()) i = squads_[k].open.pop_front();
    for (std::size_t k = 0; !i && k != squads_.size(); ++k)
      if (!squads_[k].pinned.empty()) i = squads_[k].pinned.pop_front();
    if (i) s.busy = true;
    return i;
  }

  void head_falls_asleep(std::uint32_t s) noexcept { squads_[s].head_asleep = true; }
  void head_is_awake(std::uint32_t s) noexcept { squads_[s].head_asleep = false; }
  void head_leaves(std::uint32_t s) {
    if (squads_[s].head_absent) return;
    squads_[s].head_absent = true;
    if (!squads_[s].pinned.empty()) wake_free_heads();
  }
  void head_returns(std::uint32_t s) noexcept { squads_[s].head_absent = false; }

  /// Is there an item that a member of `s` may take?
  bool may_take(std::uint32_t s, bool head) const noexcept {
    return !squads_[s].ready.empty() || (head && !squads_[s].busy && anything());
  }
  /// True if a worker has put an item where only this squad's members look.
  bool called(std::uint32_t s, bool head) const noexcept {
    squad const& q = squads_[s];
    return !q.ready.empty() || (head && (!q.open.empty() || !q.pinned.empty()) && !q.busy);
  }

 private:
  struct squad {
    pool<item> open, pinned, ready;
    bool busy = false;
    bool head_asleep = false, head_absent = false;
  };

  static item take_own(squad& s) noexcept {
    if (!s.pinned.empty()) return s.pinned.pop_front();
    return s.open.empty() ? item{} : s.open.pop_back();
  }
  bool anything() const noexcept {
    for (squad const& s : squads_)
      if (!s.open.empty() || !s.pinned.empty()) return true;
    return false;
  }
  void wake_head(std::uint32_t s) {
    if (squads_[s].head_asleep) gates_.wake_here(s);
  }
  void wake_free_heads() {
    for (std::uint32_t s = 0; s != squads_.size(); ++s)
      if (!squads_[s].busy) wake_head(s);
  }
  void wake_for_pinned(std::uint32_t to) {
    if (squads_[to].busy || squads_[to].head_absent) {
      wake_free_heads();
    } else {
      wake_head(to);
    }
  }

  std::vector<squad> squads_;
  Gates& gates_;
};

}  // namespace heist::sim
