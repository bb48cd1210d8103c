// How nodes run as coroutines: part of walk.hpp.
#pragma once

#include "heist/core/base/config.hpp"

#if HEIST_COROUTINES

#include <algorithm>  // all_of, min
#include <cstdint>
#include <utility>  // move
#include <vector>

#include <heist/async.hpp>
#include <heist/coroutine.hpp>

#include "fuzz/differential/walks.hpp"

namespace heist_fuzz {

/// Walk: walk<Context>. `c` is the context of the task that waits for the coroutine.
template <class Walk, class Context>
struct walk_coroutine {
  /// The sum of the children's values. A group of one is awaited itself, a larger group by when_all().
  static heist::coroutine<std::uint64_t> children(program_memory& m, Context c, std::uint32_t n, bool told,
                                                  typename Walk::entry& here) {
    heist_test::program_node const& is = m.program->nodes[n];
    auto const count = static_cast<std::uint32_t>(is.children.size());
    std::uint32_t const size = is.group_size();
    std::uint64_t sum = 0;
    for (std::uint32_t first = 0; first < count; first += size) {
      std::uint32_t const last = std::min(first + size, count);
      try {
        if (last - first == 1)
          sum += co_await one(m, c, n, first, told, here);
        else
          sum += co_await group(m, c, n, first, last, told, here);
      } catch (heist_test::program_failure const& e) {
        if (!is.is(heist_test::catches)) throw;
        sum += Walk::caught(m, n, first / size, e);
      }
    }
    co_return sum;
  }

 private:
  /// A visit of a node that is a coroutine itself. `end` lives as long as its frame.
  static heist::coroutine<std::uint64_t> visit(program_memory& m, Context c, std::uint32_t n, bool told,
                                               [[maybe_unused]] heist_test::waiting_end end) {
    typename Walk::entry here{m, n};
    std::uint64_t sum = Walk::begin(m, c, n, told, here);
    if (m.program->nodes[n].is(heist_test::loops) && !run_loop<heist::context>(c)) here.see(heist_test::other_value);
    sum += co_await children(m, c, n, told, here);
    co_return here.leave(sum);
  }

  static bool may_be_coroutine(program_memory& m, std::uint32_t child) {
    heist_test::way const how = m.program->nodes[child].how;
    return how == heist_test::way::coroutine || (how == heist_test::way::leaf && child % 2 == 0);
  }
  static bool all_are_coroutines(program_memory& m, std::uint32_t n, std::uint32_t first, std::uint32_t last) {
    auto const& children = m.program->nodes[n].children;
    return std::all_of(children.begin() + first, children.begin() + last,
                       [&m](std::uint32_t child) { return may_be_coroutine(m, child); });
  }

  /// Awaits a child: a coroutine, or a leaf as a coroutine, or the future of a task.
  static heist::coroutine<std::uint64_t> one(program_memory& m, Context c, std::uint32_t n, std::uint32_t place,
                                             bool told, typename Walk::entry& here) {
    std::uint32_t const child = m.program->nodes[n].children[place];
    std::uint64_t got = heist_test::value_of_skipped;
    if (may_be_coroutine(m, child)) {
      got = co_await visit(m, c, child, told, m.end_of(child));
      if (got != m.cells[child].value) here.see(heist_test::other_value);
    } else {
      std::vector<heist::future<std::uint64_t>> task = Walk::submit_each(m, c, n, place, place + 1);
      try {
        got = co_await std::move(task[0]);
        if (got != m.cells[child].value) here.see(heist_test::other_value);
      } catch (heist::stopped_error const&) {  // skipped
      }
    }
    co_return heist_test::weighed(got, place);
  }

  static heist::coroutine<std::uint64_t> group(program_memory& m, Context c, std::uint32_t n, std::uint32_t first,
                                               std::uint32_t last, bool told, typename Walk::entry& here) {
    heist_test::program_node const& is = m.program->nodes[n];
    try {
      std::vector<std::uint64_t> got;
      if (all_are_coroutines(m, n, first, last)) {
        std::vector<heist::coroutine<std::uint64_t>> members;
        for (std::uint32_t i = first; i != last; ++i)
          members.push_back(visit(m, c, is.children[i], told, m.end_of(is.children[i])));
        got = co_await heist::when_all(std::move(members));
      } else {
        got = co_await heist::when_all(Walk::submit_each(m, c, n, first, last));
      }
      std::uint64_t sum = 0;
      for (std::uint32_t i = first; i != last; ++i) {
        if (got[i - first] != m.cells[is.children[i]].value) here.see(heist_test::other_value);
        sum += heist_test::weighed(got[i - first], i);
      }
      co_return sum;
    } catch (heist::stopped_error const&) {  // one was skipped, or when_all() was
      m.cells[is.children[first]].group_cut = true;
    }
    co_return heist_test::value_of_skipped;
  }
};

}  // namespace heist_fuzz

#endif
