// Bodies of parked_circle.hpp.
#pragma once

#include "heist/observe/parked_circle.hpp"

#include <fmt/core.h>

#include <algorithm>  // find
#include <utility>    // exchange

#include "heist/base/number_map.hpp"

namespace heist::detail {

/// Waits as edges, found by what they go out from. Several tasks of one run go out from its end.
class parked_edges {
 public:
  explicit parked_edges(std::vector<parked_place> const& all) {
    for (parked_place const& p : all) {
      parked_note const* const n = p.note;
      auto e = n->edge();
      if (e.wait % 2 == 0) continue;
      std::uintptr_t const owner = n->owner();
      parked_note const* const by = owner == 0 ? nullptr : owner_of(owner, all);
      if (by != nullptr) e.to = start_of(*by, by->edge());
      e.from = start_of(*n, e);
      if (e.to == nullptr) continue;
      auto const [first, is_new] = first_from_.try_emplace(as_key(e.from), all_.size());
      all_.push_back({n, e, is_new ? none : std::exchange(first->second, all_.size())});
    }
  }

  /// The notes of one circle, or none.
  std::vector<parked_note const*> circle() {
    for (entry& root : all_) {
      if (root.where != untouched) continue;
      std::vector<std::size_t> way{static_cast<std::size_t>(&root - all_.data())};
      while (!way.empty()) {
        entry& at = all_[way.back()];
        if (at.where == untouched) {
          at.where = on_the_way;
          at.next = first_from(at.edge.to);
        }
        if (at.next == none) {
          at.where = done;
          way.pop_back();
          continue;
        }
        std::size_t const next = std::exchange(at.next, all_[at.next].after);
        if (all_[next].where == on_the_way) {
          std::vector<parked_note const*> found = notes_from(way, next);
          if (!found.empty()) return found;
        } else if (all_[next].where == untouched) {
          way.push_back(next);
        }
      }
    }
    return {};
  }

 private:
  /// Where its edge begins: the end of its task, or the note itself where that is not known. Only waits for locks lead to
  /// a note.
  static void const* start_of(parked_note const& n, parked_note::seen_edge const& e) noexcept {
    return e.from != nullptr ? e.from : &n;
  }
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  enum place : unsigned char { untouched, on_the_way, done };
  struct entry {
    parked_note const* note;
    parked_note::seen_edge edge;
    std::size_t after;  ///< another one that goes out from the same
    place where = untouched;
    std::size_t next = none;  ///< of those that go out from where this one ends, the one to be looked at next
  };

  std::size_t first_from(void const* what) const {
    auto const found = first_from_.find(as_key(what));
    return found == first_from_.end() ? none : found->second;
  }

  /// Those on the way from `begin` on, if all of them have waited since they were looked at first.
  std::vector<parked_note const*> notes_from(std::vector<std::size_t> const& way, std::size_t begin) const {
    std::vector<parked_note const*> found;
    for (auto at = std::find(way.begin(), way.end(), begin); at != way.end(); ++at) {
      entry const& e = all_[*at];
      if (e.note->edge().wait != e.edge.wait) return {};
      found.push_back(e.note);
    }
    return found;
  }

  std::vector<entry> all_;
  number_map first_from_;
};

HEIST_COLD_BODY std::string text_of_circle(std::vector<parked_place> const& all) {
  constexpr std::size_t most = 20;
  std::vector<parked_note const*> const found = parked_edges{all}.circle();
  if (found.empty()) return {};
  std::string text =
      fmt::format("{} tasks wait for each other in a circle, and none of them will ever end: ", found.size());
  for (std::size_t i = 0; i != found.size() && i != most; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : "; ", found[i]->text());
  return text + (found.size() > most ? "; and so on" : "");
}

}  // namespace heist::detail
