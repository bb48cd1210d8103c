// Bodies of task_names.hpp.
#pragma once

#include "heist/graph/task_names.hpp"

#include <cstddef>  // ptrdiff_t, size_t
#include <utility>  // move

#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

HEIST_COLD_BODY void task_names::set(std::uint32_t index, std::string text) {
  std::size_t const at = place_of(index);
  if (at != all_.size() && all_[at]->index == index) {
    all_[at]->text = std::move(text);
  } else {
    all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(at), make_unique<entry>(entry{index, std::move(text)}));
  }
}

HEIST_COLD_BODY std::string const* task_names::find(std::uint32_t index) const noexcept {
  std::size_t const at = place_of(index);
  return at != all_.size() && all_[at]->index == index ? &all_[at]->text : nullptr;
}

HEIST_COLD_BODY void task_names::erase(std::uint32_t index) noexcept {
  std::size_t const at = place_of(index);
  if (at != all_.size() && all_[at]->index == index) all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(at));
}

HEIST_COLD_BODY std::size_t task_names::place_of(std::uint32_t index) const noexcept {
  if (all_.empty() || all_.back()->index < index) return all_.size();  // named in the order in which they are added
  std::size_t first = 0, last = all_.size();
  while (first != last) {
    std::size_t const middle = first + (last - first) / 2;
    if (all_[middle]->index < index) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

}  // namespace heist::detail
