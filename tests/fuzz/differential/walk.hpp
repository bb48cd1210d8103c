// How an executor of heist runs a random program: each node as a task, its children as its way says. The bodies behind
// walks.hpp.
#pragma once

#include <array>
#include <cstddef>  // ptrdiff_t, size_t
#include <cstdint>
#include <memory>
#include <numeric>  // iota
#include <optional>
#include <thread>
#include <tuple>
#include <utility>  // move
#include <vector>

#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include "fuzz/differential/walk_coroutine.hpp"
#include "fuzz/differential/walks.hpp"

namespace heist_fuzz {

using heist_test::program_cell;
using heist_test::program_node;
using heist_test::sabotage;
using heist_test::way;
using heist_test::weighed;

/// All of it for tasks that get a Context. No state: a task's knowledge is in the memory and its number.
template <class Context>
struct walk {
  /// A result that does not fit into a slot.
  struct large {
    std::uint64_t value;
    std::array<std::uint64_t, 7> more;
  };
  struct call {
    program_memory* m;
    std::uint32_t n;
    bool told;  ///< is it told of the program's stop?
    std::uint64_t operator()(Context c) const { return visit(*m, c, n, told); }
  };
  struct call_void : call {
    void operator()(Context c) const { static_cast<void>(visit(*this->m, c, this->n, this->told)); }
  };
  /// An object that it holds waits when it is destroyed.
  struct call_waiting : call_void {
    heist_test::waiting_end end;
  };
  struct call_large : call {
    large operator()(Context c) const { return {visit(*this->m, c, this->n, this->told), {}}; }
  };
  /// A visit of a node, from its begin to its end.
  class entry {
   public:
    entry(program_memory& m, std::uint32_t n) : m_{m}, n_{n}, me_{m.cells[n]}, is_{m.program->nodes[n]} {
      ++me_.start_time;
      if (!in_order()) see(heist_test::early);
    }
    entry(entry const&) = delete;
    entry& operator=(entry const&) = delete;
    ~entry() {
      if (!left_) ++me_.failed;
    }

    /// The actions that need no context. Returns the value before them.
    std::uint64_t begin() {
      if (is_.is(heist_test::stops) && m_.armed) stopped_it_ = m_.stop.request_stop();
      if (is_.is(heist_test::yields)) std::this_thread::yield();
      if (is_.is(heist_test::allocates)) scratch_ = std::make_unique<std::uint64_t>(n_);
      if (is_.is(heist_test::spins)) {
        for (int i = 0; i != 200; ++i) heist::os_env::relax();
      }
      std::uint64_t sum = 0;
      for (std::uint32_t const place : is_.after) sum += weighed(m_.cells[sibling(place)].value, place);
      fail_if(heist_test::throws_before);
      return sum;
    }
    /// Its value.
    std::uint64_t leave(std::uint64_t sum) {
      fail_if(heist_test::throws_after);
      me_.value = heist_test::node_value(n_, sum);
      if (m_.broken == sabotage::spoils && is_.children.size() > 2) me_.value ^= 1;
      ++me_.ended;
      left_ = true;
      return me_.value;
    }
    void fail_if(std::uint32_t trait) {
      if (!m_.armed || !is_.is(trait)) return;
      ++me_.threw;
      if (m_.broken == sabotage::swallows && is_.parent != heist_test::no_node) return;
      if (is_.is(heist_test::ends_waiting)) throw_waiting();
      throw heist_test::program_failure{n_};
    }
    /// Was it the first? Then all have been told when its request has returned.
    bool stopped_it() const noexcept { return stopped_it_; }
    void see(std::uint32_t sight) noexcept { me_.sights |= sight; }

   private:
    std::uint32_t sibling(std::uint32_t place) const { return m_.program->nodes[is_.parent].children[place]; }

    /// The exception may be kept until the executor is gone.
    [[noreturn]] void throw_waiting() {
      throw heist_test::program_failure{n_, std::make_shared<heist_test::waits_at_end>(nullptr)};
    }

    /// Has all ended that comes before it, and its parent not?
    bool in_order() const {
      if (is_.parent == heist_test::no_node) return true;
      program_node const& parent = m_.program->nodes[is_.parent];
      auto const over = [&](std::uint32_t n) { return m_.cells[n].ended + m_.cells[n].failed == me_.start_time; };
      if (is_.parent != 0 || !m_.program->is_graph()) {
        program_cell const& above = m_.cells[is_.parent];
        if (above.start_time != me_.start_time || over(is_.parent)) return false;
      }
      for (std::uint32_t const place : is_.after) {
        if (m_.cells[sibling(place)].ended != me_.start_time) return false;
      }
      std::uint32_t const size = parent.group_size(), first = is_.place / size * size;
      // After an async that a stop has skipped, a coroutine may await a child that is no async.
      bool const may_skip = m_.armed && parent.how == way::coroutine;
      for (std::uint32_t i = first < size ? first : first - size; i != first; ++i) {
        std::uint32_t const before = parent.children[i];
        if (!over(before) && !(may_skip && m_.cells[before].start_time == 0)) return false;
      }
      return true;
    }

    program_memory& m_;
    std::uint32_t const n_;
    program_cell& me_;
    program_node const& is_;
    bool left_ = false, stopped_it_ = false;
    std::unique_ptr<std::uint64_t> scratch_;
  };

  static std::uint64_t visit(program_memory& m, Context c, std::uint32_t n, bool told) {
    if (m.broken != sabotage::none) break_before(m, c, n, told);
    if (m.broken == sabotage::loses && is_third_of_scope(m, n)) return 0;
    if (m.broken == sabotage::swaps && m.cells[n].start_time != 0) return m.cells[n].value;
    return visit_node(m, c, n, told);
  }

  static std::uint64_t visit_node(program_memory& m, Context c, std::uint32_t n, bool told) {
    program_node const& is = m.program->nodes[n];
    program_cell& me = m.cells[n];
    entry here{m, n};
    std::uint64_t sum = begin(m, c, n, told, here);
    std::size_t const worker = me.worker;
    if (is.is(heist_test::spins)) c.footprint(4096);
    {
      std::optional<heist::no_migrate> stay;
      if (is.is(heist_test::stays)) stay.emplace();
      if (is.is(heist_test::loops) && !run_loop<heist::context>(c)) here.see(heist_test::other_value);
      sum += below(m, c, n, told, here);
      if (is.is(heist_test::stays) && c.worker_id() != worker) here.see(heist_test::moved);
    }
    return here.leave(sum);
  }

  /// Returns the value before the node.
  static std::uint64_t begin(program_memory& m, Context c, std::uint32_t n, bool told, entry& here) {
    std::size_t const worker = c.worker_id();
    m.cells[n].worker = static_cast<std::uint32_t>(worker);
    if (worker >= m.workers || (m.program->nodes[n].is(heist_test::allocates) && c.squad_id() >= m.squads))
      here.see(heist_test::no_worker);
    std::uint64_t const sum = here.begin();
    if (here.stopped_it() && told && !c.stop_requested()) here.see(heist_test::untold);
    return sum;
  }

  /// The sum of the children's values.
  static std::uint64_t below(program_memory& m, Context c, std::uint32_t n, bool told, entry& here) {
    program_node const& is = m.program->nodes[n];
    auto const count = static_cast<std::uint32_t>(is.children.size());
    if (is.how == way::run) {
      std::uint64_t sum = 0;
      guarded(m, n, 0, sum, [&] { return run_graph(m, c, n); });
      return sum;
    }
    if (count == 0) return 0;
    if (is.is(heist_test::coarsens) && is.how != way::free_fork && !m.program->has(heist_test::all_throws) &&
        !c.may_be_stolen()) {
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i != count; ++i) sum += weighed(visit(m, c, is.children[i], told), i);
      return sum;
    }
    if (is.how == way::scope) return scope(m, c, n, told, here);
#if HEIST_COROUTINES
    if (is.how == way::coroutine) return heist::sync_wait(walk_coroutine<walk, Context>::children(m, c, n, told, here));
#endif
    std::uint64_t sum = 0;
    std::uint32_t const size = is.group_size();
    for (std::uint32_t first = 0; first < count; first += size) {
      std::uint32_t const last = first + size < count ? first + size : count;
      guarded(m, n, first / size, sum, [&] { return group(m, c, n, first, last, told, here); });
    }
    return sum;
  }

  /// Adds the result of `f`; for a node that catches, notes the exception of `f`.
  template <class F>
  static void guarded(program_memory& m, std::uint32_t n, std::uint32_t group, std::uint64_t& sum, F f) {
    if (!m.program->nodes[n].is(heist_test::catches)) {
      sum += f();
      return;
    }
    try {
      sum += f();
    } catch (heist_test::program_failure const& e) {
      sum += caught(m, n, group, e);
    }
  }
  /// Returns the value that counts instead of that group.
  static std::uint64_t caught(program_memory& m, std::uint32_t n, std::uint32_t group,
                              heist_test::program_failure const& e) {
    if (group < heist_test::most_noted) m.cells[n].caught[group] = e.node + 1;
    return heist_test::value_of_caught;
  }

  static std::uint64_t group(program_memory& m, Context c, std::uint32_t n, std::uint32_t first, std::uint32_t last,
                             bool told, entry& here) {
    program_node const& is = m.program->nodes[n];
    switch (is.how) {
      case way::free_fork:
        fork_without_context<heist::context>(m, is.children.data() + first, last - first);
        return sum_of(m, n, first, last);
      case way::submit:
      case way::any:
      case way::coroutine:  // of a compiler without coroutines
        return submit(m, c, n, first, last, here);
      case way::region: {
        heist::region r{{.boundary_level = n % 4}};
        return weighed(c.invoke(r, call{&m, is.children[first], told}), first);
      }
      default:
        // A fork of one is a call: the designation would be its callable's.
        if (first == 0 && last > 1 && is.is(heist_test::designates)) {
          try {
            c.assign_continuation(n % m.workers);
            return fork(m, c, n, first, last, told, here);
          } catch (heist::region_error const&) {  // refused: nothing has been forked
          }
        }
        return fork(m, c, n, first, last, told, here);
    }
  }

  static std::uint64_t sum_of(program_memory const& m, std::uint32_t n, std::uint32_t first, std::uint32_t last) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = first; i != last; ++i) sum += weighed(m.cells[m.program->nodes[n].children[i]].value, i);
    return sum;
  }

  static std::uint64_t fork(program_memory& m, Context c, std::uint32_t n, std::uint32_t first, std::uint32_t last,
                            bool told, entry& here) {
    program_node const& is = m.program->nodes[n];
    std::uint32_t const* const child = is.children.data() + first;
    auto const left = [&](std::uint32_t i) { return m.cells[child[i]].value; };
    bool same = true;
    switch (last - first) {
      case 1:
        same = std::get<0>(c.fork_join(call{&m, child[0], told})) == left(0);
        break;
      case 2:
        if (is.how == way::inter) {
          c.inter_fork(call_void{{&m, child[0], told}}, call_void{{&m, child[1], told}});
        } else if (n % 2 == 0) {
          c.fork_join(call_void{{&m, child[0], told}}, call_void{{&m, child[1], told}});
        } else {
          auto const [a, b] = c.fork_join(call_large{{&m, child[0], told}}, call{&m, child[1], told});
          same = a.value == left(0) && b == left(1);
        }
        break;
      case 3: {
        auto const [a, b, d] =
            c.fork_join(call{&m, child[0], told}, call_void{{&m, child[1], told}}, call_large{{&m, child[2], told}});
        static_cast<void>(b);
        same = a == left(0) && d.value == left(2);
        break;
      }
      default:
        c.fork_join(call_void{{&m, child[0], told}}, call_void{{&m, child[1], told}}, call_void{{&m, child[2], told}},
                    call_void{{&m, child[3], told}});
    }
    if (!same) here.see(heist_test::other_value);
    return sum_of(m, n, first, last);
  }

  static std::uint64_t scope(program_memory& m, Context c, std::uint32_t n, bool told, entry& here) {
    program_node const& is = m.program->nodes[n];
    auto const count = static_cast<std::uint32_t>(is.children.size());
    std::uint32_t const size = is.group_size();
    std::uint64_t sum = 0;
    std::uint32_t joined = 0;
    bool const left_open = is.is(heist_test::by_destructor) && !is.is(heist_test::catches);
    {
      heist::scope<Context> s{c};
      for (std::uint32_t i = 0; i != count; ++i) {
        if (i == count / 2) here.fail_if(heist_test::throws_within);
        call_void const f{{&m, is.children[i], told}};
        if (heist_test::waiting_end end = m.end_of(is.children[i]))
          s.fork(call_waiting{f, std::move(end)});
        else
          s.fork(f);
        if ((i + 1) % size != 0 && i + 1 != count) continue;
        if (i + 1 == count && left_open) break;
        guarded(m, n, i / size, sum, [&] {
          s.join();
          return sum_of(m, n, joined, i + 1);
        });
        joined = i + 1;
      }
    }
    return sum + sum_of(m, n, joined, count);
  }

  static std::uint64_t submit(program_memory& m, Context c, std::uint32_t n, std::uint32_t first, std::uint32_t last,
                              entry& here) {
    program_node const& is = m.program->nodes[n];
    std::vector<heist::future<std::uint64_t>> all = submit_each(m, c, n, first, last);
    if (is.how == way::any) wait_for_any(m, n, first, all, here);
    for (auto& f : all) f.wait();  // all, since the first get() may throw
    std::uint64_t sum = 0;
    for (std::uint32_t i = first; i != last; ++i) {
      try {
        std::uint64_t const got = all[i - first].get();
        if (got != m.cells[is.children[i]].value) here.see(heist_test::other_value);
        sum += weighed(got, i);
      } catch (heist::stopped_error const&) {
        sum += weighed(heist_test::value_of_skipped, i);
      }
    }
    return sum;
  }

  static std::vector<heist::future<std::uint64_t>> submit_each(program_memory& m, Context c, std::uint32_t n,
                                                               std::uint32_t first, std::uint32_t last) {
    program_node const& is = m.program->nodes[n];
    bool const with_token = is.is(heist_test::stoppable);
    struct call_held : call {
      heist_test::waiting_end end;
    };
    std::vector<heist::future<std::uint64_t>> all;
    all.reserve(last - first);
    for (std::uint32_t i = first; i != last; ++i) {
      call const f{&m, is.children[i], with_token};
      if (heist_test::waiting_end end = m.end_of(is.children[i]))
        all.push_back(c.submit(heist::with{.stop = with_token ? m.stop.get_token() : std::stop_token{}},
                               call_held{f, std::move(end)}));
      else
        all.push_back(with_token ? c.submit(heist::with{.stop = m.stop.get_token()}, f) : c.submit(f));
    }
    return all;
  }

  /// Waits by when_any() for the first of `all`, then for the first of the rest, and so on.
  static void wait_for_any(program_memory& m, std::uint32_t n, std::uint32_t first,
                           std::vector<heist::future<std::uint64_t>>& all, entry& here) {
    std::vector<heist::future<std::uint64_t>> over(all.size());
    std::vector<std::uint32_t> number(all.size());
    std::iota(number.begin(), number.end(), 0u);
    while (!all.empty()) {
      heist::future<std::size_t> any =
          all.size() == 2 && n % 2 == 0 ? heist::when_any(all[0], all[1]) : heist::when_any(all);
      std::size_t which = any.get();
      if (which >= all.size() || !all[which].is_ready()) {
        here.see(heist_test::early);
        which = 0;
      }
      program_cell const& child = m.cells[m.program->nodes[n].children[first + number[which]]];
      if (child.ended + child.failed != child.start_time) here.see(heist_test::early);
      auto const at = static_cast<std::ptrdiff_t>(which);
      over[number[which]] = std::move(all[which]);
      all.erase(all.begin() + at);
      number.erase(number.begin() + at);
    }
    all = std::move(over);
  }

  static std::uint64_t run_graph(program_memory& m, Context c, std::uint32_t n) {
    bool const may_stop = m.program->nodes[n].is(heist_test::stoppable);
    auto const tasks = make_tasks<heist::context>(m, n, may_stop);
    heist::graph_run const run =
        may_stop ? c.run(tasks->graph, heist::with{.stop = m.stop.get_token()}) : c.run(tasks->graph);
    run.wait();
    if (run.stopped()) m.cells[n].cut = c.stop_requested() ? 2 : 1;
    try {
      run.get();
    } catch (heist::stopped_error const&) {  // below
    }
    if (run.stopped()) return heist_test::value_of_skipped;
    return sum_of(m, n, 0, static_cast<std::uint32_t>(m.program->nodes[n].children.size()));
  }

  // Planted faults.

  static bool is_third_of_scope(program_memory const& m, std::uint32_t n) {
    program_node const& is = m.program->nodes[n];
    return is.parent != heist_test::no_node && m.program->nodes[is.parent].how == way::scope && is.place == 2;
  }
  static void break_before(program_memory& m, Context c, std::uint32_t n, bool told) {
    program_node const& is = m.program->nodes[n];
    if (is.parent == heist_test::no_node) return;
    program_node const& parent = m.program->nodes[is.parent];
    if (m.broken == sabotage::doubles && is.how == way::leaf && parent.how == way::fork &&
        parent.parent != heist_test::no_node)
      visit_node(m, c, n, told);
    if (m.broken != sabotage::swaps || parent.how != way::run || m.cells[n].start_time != 0) return;
    for (std::uint32_t const other : parent.children) {
      std::vector<std::uint32_t> const& before = m.program->nodes[other].after;
      if (before.size() == 1 && before[0] == is.place && m.cells[other].start_time == 0) visit_node(m, c, other, told);
    }
  }
};

template <class Context>
std::uint64_t visit_root(program_memory& m, Context c) {
  return walk<Context>::visit(m, c, 0, true);
}

}  // namespace heist_fuzz
