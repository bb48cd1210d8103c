// Bodies of parked_cycle.hpp.
#pragma once

#include "heist/core/observe/parked_cycle.hpp"

#include <utility>  // exchange

#include "heist/core/base/format.hpp"
#include "heist/core/base/number_map.hpp"
#include "heist/core/base/vector.hpp"

namespace heist::detail {

HEIST_COLD_BODY parked_note const* owner_of(std::uintptr_t owner, vector<parked_place> const& all) noexcept {
  for (parked_place const& p : all) {
    if (p.note != nullptr && p.note->waits() && owner - p.stack_bottom < p.stack_bytes) return p.note;
  }
  return nullptr;
}

/// The waits, and the resources that they hold. Each holds the end of its task, its permits, and itself, which stands for
/// its locks.
class wait_graph {
 public:
  explicit wait_graph(vector<parked_place> const& all) {
    for (parked_place const& p : all) {
      wait_look const seen = look(p);
      if (seen.number % 2 == 0) continue;
      void const* const to = seen.owner == 0 ? seen.to : owner_of(seen.owner, all);
      if (to == nullptr) continue;
      resource& awaited = resources_[resource_of(to)];
      std::size_t const me = waits_.size();
      waits_.push_back({&p, seen, resource_of(to), std::exchange(awaited.first_waiter, me)});
      if (p.note != nullptr) hold(me, p.note, 1);
      if (seen.from != nullptr) hold(me, seen.from, 1);
      for (unsigned i = 0; i != seen.held; ++i) hold(me, seen.holds[i].of, seen.holds[i].count);
    }
    drop_those_that_may_end();
  }

  /// The places of one circle, with every place that its waits depend on; or none.
  vector<parked_place const*> cycle() {
    for (std::size_t first = 0; first != waits_.size(); ++first) {
      std::size_t at = first;
      while (waits_[at].is == kind::never_ends) {
        waits_[at].is = kind::passed;
        at = edges_[next_hold(resources_[waits_[at].to].first_hold)].by;
      }
      if (waits_[at].is != kind::passed) continue;  // it may end, or leads to a circle that was not confirmed
      vector<parked_place const*> found = depends_on(at);
      if (!found.empty()) return found;
    }
    return {};
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  enum class kind : unsigned char { never_ends, passed, named, may_end };
  struct resource {
    std::uint64_t held = 0;  ///< by waits that never end
    std::size_t first_waiter = none;
    std::size_t first_hold = none;
  };
  struct wait {
    parked_place const* place;
    wait_look seen;
    std::size_t to;           ///< a resource
    std::size_t next_waiter;  ///< for the same
    std::size_t last_hold = none;
    kind is = kind::never_ends;
  };
  struct edge {
    std::size_t by, of;
    std::uint32_t count;
    std::size_t next;    ///< the next edge of the same resource
    std::size_t before;  ///< the one before by the same wait
  };

  static wait_look look(parked_place const& p) noexcept {
    if (p.note != nullptr) return p.note->look();
    wait_look seen;
    p.queued->look(*p.queued, false, seen);
    return seen;
  }
  std::size_t resource_of(void const* what) {
    auto const [number, is_new] = known_.try_emplace(as_key(what), resources_.size());
    if (is_new) resources_.emplace_back();
    return number;
  }
  void hold(std::size_t by, void const* what, std::uint32_t count) {
    std::size_t const of = resource_of(what), me = edges_.size();
    resources_[of].held += count;
    edges_.push_back(
        {by, of, count, std::exchange(resources_[of].first_hold, me), std::exchange(waits_[by].last_hold, me)});
  }

  /// Each wait that stays needs a resource that other waits of the set hold. So none of them ends.
  void drop_those_that_may_end() {
    vector<std::size_t> released;
    auto const look_at = [&](std::size_t of) {
      for (std::size_t w = resources_[of].first_waiter; w != none; w = waits_[w].next_waiter) {
        if (waits_[w].is == kind::may_end || resources_[of].held > waits_[w].seen.spare) continue;
        waits_[w].is = kind::may_end;
        released.push_back(w);
      }
    };
    for (std::size_t i = 0; i != resources_.size(); ++i) look_at(i);
    while (!released.empty()) {
      std::size_t const w = released.back();
      released.pop_back();
      for (std::size_t h = waits_[w].last_hold; h != none; h = edges_[h].before) {
        resources_[edges_[h].of].held -= edges_[h].count;
        look_at(edges_[h].of);
      }
    }
  }
  /// The first one from `h` on that belongs to a wait that never ends.
  std::size_t next_hold(std::size_t h) const {
    while (h != none && waits_[edges_[h].by].is == kind::may_end) h = edges_[h].next;
    return h;
  }
  /// `first`, the waits that hold the resource it needs, the waits that hold the resources these need, and so on. Empty if
  /// one of them has ended meanwhile.
  vector<parked_place const*> depends_on(std::size_t first) {
    vector<std::size_t> all{first};
    waits_[first].is = kind::named;
    for (std::size_t n = 0; n != all.size(); ++n) {
      for (std::size_t h = next_hold(resources_[waits_[all[n]].to].first_hold); h != none;
           h = next_hold(edges_[h].next)) {
        if (std::exchange(waits_[edges_[h].by].is, kind::named) != kind::named) all.push_back(edges_[h].by);
      }
    }
    vector<parked_place const*> found;
    for (std::size_t const w : all) {
      wait_look const now = look(*waits_[w].place);
      if (now.number != waits_[w].seen.number || now.to != waits_[w].seen.to || now.owner != waits_[w].seen.owner)
        return {};
      of_semaphore = of_semaphore || now.of_semaphore;
      found.push_back(waits_[w].place);
    }
    return found;
  }

  number_map known_;
  vector<resource> resources_;
  vector<wait> waits_;
  vector<edge> edges_;

 public:
  bool of_semaphore = false;  ///< one of the waits of the circle
};

HEIST_COLD_BODY std::string text_of_cycle(vector<parked_place> const& all) {
  constexpr std::size_t most = 20;
  wait_graph waits{all};
  vector<parked_place const*> const found = waits.cycle();
  if (found.empty()) return {};
  std::string text = format_text("{} tasks wait for each other in a circle, and none of them will ever end{}: ",
                                 {found.size(), waits.of_semaphore ? " unless other code releases the semaphore" : ""});
  for (std::size_t i = 0; i != found.size() && i != most; ++i) {
    outside_note const* const queued = found[i]->queued;
    text += (i == 0 ? "" : "; ") + (queued != nullptr ? queued->text(*queued) : found[i]->note->text());
  }
  return text + (found.size() > most ? "; and so on" : "");
}

}  // namespace heist::detail
