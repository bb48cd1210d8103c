// Changes to a task that exists: its limits.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/limiter.hpp"

namespace heist::detail {

[[noreturn]] HEIST_RARE void reject_moved_from();
[[noreturn]] HEIST_RARE void reject_result(std::string const& task);
[[noreturn]] HEIST_RARE void reject_other_work(std::string const& task);

void add_acquire(graph_data& g, std::uint32_t index, limiter& l, std::size_t count);

void add_release(graph_data& g, std::uint32_t index, limiter& l, std::size_t count);

/// Both or neither.
void add_limit(graph_data& g, std::uint32_t index, limiter& l, std::size_t count);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/edit.ipp"
#endif
