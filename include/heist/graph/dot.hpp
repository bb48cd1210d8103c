// What pictures of graphs in the DOT language of Graphviz share.
#pragma once

#include <string>
#include <string_view>

#include "heist/core/base/config.hpp"
#include "heist/graph/task_graph.hpp"

namespace heist::detail {

/// `text` as a DOT string.
std::string dot_quoted(std::string_view text);
/// The attributes of a task's node; begin with a comma.
char const* dot_style(task_kind kind) noexcept;

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/dot.ipp"
#endif
