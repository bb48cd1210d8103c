// What a node may be told about its body, and the message without a value.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tbb::flow {

/// How many calls of a body may run at once; any other number is possible too.
enum concurrency { unlimited = 0, serial = 1 };

struct queueing {};
struct rejecting {};
struct reserving {};
/// A body that throws nothing, and each one of a continue_node, runs in the caller of try_put if the concurrency allows.
struct lightweight {};
template <class... Policies>
struct Policy {};
using queueing_lightweight = Policy<queueing, lightweight>;
using rejecting_lightweight = Policy<rejecting, lightweight>;

/// Tasks of nodes with a greater one go first. Tasks of nodes without one come after all of them.
using node_priority_t = unsigned int;
inline constexpr node_priority_t no_priority = 0;

using tag_value = std::uint64_t;

/// Says that something has happened.
class continue_msg {};

namespace detail {

template <class P, class Wanted>
inline constexpr bool has_policy = std::is_same_v<P, Wanted>;
template <class... Ps, class Wanted>
inline constexpr bool has_policy<Policy<Ps...>, Wanted> = (std::is_same_v<Ps, Wanted> || ...);

}  // namespace detail
}  // namespace tbb::flow
