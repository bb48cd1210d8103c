// The ways to fork and to join that the tests of forks go through.
#pragma once

#include <tuple>
#include <type_traits>

#include "support/slow.hpp"

#include "heist/core/fork/scope.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"

namespace heist_test {

template <class Order, class Join = heist::join::park>
using forking = heist::policy::with_join<heist::policy::with_order<heist::policy::random, Order>, Join>;

using parent_first = forking<heist::order::parent_first>;
using child_first = forking<heist::order::child_first>;

/// Both orders, frames park.
using both_orders = std::tuple<parent_first, child_first>;
/// Both orders, and parent-first with each join that does not always park. Sanitizer builds have both orders alone,
/// because compilers take minutes; stress/kernels_everywhere_test.cpp runs the other policies there, too. Builds that
/// ask for few policies also have both orders alone.
using every_policy =
    std::conditional_t<slow || few_policies, both_orders,
                       std::tuple<parent_first, forking<heist::order::parent_first, heist::join::leapfrog>,
                                  forking<heist::order::parent_first, heist::join::spin>, child_first>>;

template <class Policy>
inline constexpr bool is_child_first = Policy::order_type::value == heist::fork_order::child_first;

}  // namespace heist_test
