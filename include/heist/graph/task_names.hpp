// The names of a graph's tasks: few have one.
#pragma once

#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"

namespace heist::detail {

/// By index. A name stays where it is until it is changed: observers keep a pointer to its text.
///
/// Cost  set() a search, and room for one more if the task is not the last; find() a search.
class task_names {
 public:
  void set(std::uint32_t index, std::string text);
  /// Null: it has none.
  std::string const* find(std::uint32_t index) const noexcept;
  void erase(std::uint32_t index) noexcept;
  void clear() noexcept { all_.clear(); }
  bool empty() const noexcept { return all_.empty(); }

 private:
  struct entry {
    std::uint32_t index;
    std::string text;
  };
  /// The place of the first entry that is not before `index`.
  std::size_t place_of(std::uint32_t index) const noexcept;

  vector<unique_ptr<entry>> all_;  // by index
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/task_names.ipp"
#endif
