// The memory: the values that C++20 allows a load to return. Every atomic keeps all its stores; every thread has views
// that say which of these stores it can still read. The model is the operational form of the release/acquire fragment
// with sc fences, as in the "promising" and ORC11 models. It has no promises: there is no load buffering, and stores
// append to the modification order.
#pragma once

#include <array>
#include <atomic>  // memory_order
#include <cstdint>
#include <vector>

#include "scheduler.hpp"
#include "view.hpp"

namespace model {

using order = std::memory_order;

class memory {
 public:
  using word = std::uint64_t;
  using address = model::address;

  /// Forgets everything: a new execution begins with thread 0 alone.
  void reset() noexcept {
    for (int i = 0; i < view::used; ++i) locations_[i].history.clear();
    view::used = 0;
    for (known_state& k : threads_) k = {};
    sc_ = {};
    odd_failures_ = stale_ = 0;
    cells_.clear();
    threads_[0].cur.clock[0] = 1;
  }
  /// A new thread starts with its creator's view.
  void fork(int child) noexcept {
    threads_[child] = me();
    threads_[child].cur.clock[child] = 1;
    ++me().cur.clock[sched.current()];
  }
  /// The running thread learns all that `ended` did.
  void join(int ended) noexcept { me().cur.join(threads_[ended].cur); }

  /// A new atomic at `where`; returns its number.
  [[gnu::noinline]] int create(address where, word value) noexcept {
    if (view::used == max_locations) sched.fail("more atomics than model::max_locations");
    int const id = view::used++;
    location& at = locations_[id];
    at.where = where;
    at.maker = sched.current();
    at.made = now();
    at.used = {};
    at.history.push_back({value, {}});
    return id;
  }
  /// The end of an atomic's life: all other accesses must happen before.
  [[gnu::noinline]] void destroy(int id, address where) noexcept {
    location& at = find(id, where);
    for (int i = 0; i < sched.thread_count(); ++i) {
      if (at.used[i] > me().cur.clock[i]) sched.fail("a%d is destroyed while T%d may still use it", id, i);
    }
    at.where = 0;
  }

  [[gnu::noinline]] word load(int id, address where, order o) noexcept {
    allow(o);
    meanwhile const others = sched.point(touch::load, where, id, find(id, where).newest());
    location& at = access(id, where);
    int const newest = at.newest();
    int oldest = oldest_readable(id, at);
    // A store that could be read before a pre-emption is read in an execution without it (scheduler::point).
    if (others == meanwhile::wrote && oldest <= sched.newest_before()) oldest = sched.newest_before() + 1;
    int const range = stale_ == sched.rule.stale ? 0 : newest - oldest;
    int const index = newest - decisions.choose(range + 1, about::value);
    if (index < newest && sched.rule.stale >= 0) ++stale_;
    word const value = read(id, index, o);
    sched.trace("a%d load  %-8s -> %lld%s", id, name(o), visible(value), index < newest ? " (stale)" : "");
    tick();
    return value;
  }

  [[gnu::noinline]] void store(int id, address where, word value, order o) noexcept {
    allow(o);
    sched.point(touch::store, where);
    access(id, where);
    write(id, value, o, nullptr);
    sched.trace("a%d store %-8s <- %lld", id, name(o), visible(value));
    tick();
  }

  /// Reads the newest store and puts `change(old)` right after it.
  template <class Change>
  [[gnu::noinline]] word modify(int id, address where, order o, Change change) noexcept {
    allow(o);
    sched.point(touch::store, where);
    location& at = access(id, where);
    word const old = swap(id, at, o, change(at.history.back().value));
    sched.trace("a%d rmw   %-8s %lld -> %lld", id, name(o), visible(old), visible(at.history.back().value));
    tick();
    return old;
  }

  /// A failure may read any store that is still readable; a weak one also one that holds the expected value. How often
  /// in an execution that is not simply the newest one, the rules say.
  [[gnu::noinline]] bool compare_exchange(int id, address where, word& expected, word desired, order success,
                                          order failure, bool weak) noexcept {
    allow(success);
    allow(failure);
    sched.point(touch::store, where);
    location& at = access(id, where);
    int const newest = at.newest();
    std::array<int, 32> can_read{};
    int failures = 0;
    for (int i = newest; i >= oldest_readable(id, at) && failures < 32; --i) {
      bool const same = at.history[static_cast<std::size_t>(i)].value == expected;
      bool const odd = same || i < newest;
      if ((weak || !same) && (!odd || odd_failures_ < sched.rule.odd_failures)) can_read[failures++] = i;
    }
    int const succeeds = at.history.back().value == expected ? 1 : 0;
    int const taken = decisions.choose(succeeds + failures, about::value);
    if (taken < succeeds) {
      swap(id, at, success, desired);
      sched.trace("a%d cas   %-8s %lld -> %lld", id, name(success), visible(expected), visible(desired));
      tick();
      return true;
    }
    int const index = can_read[taken - succeeds];
    word const seen = read(id, index, failure);
    if (seen == expected || index < newest) ++odd_failures_;
    sched.trace("a%d cas   %-8s fails: %lld, wanted %lld", id, name(failure), visible(seen), visible(expected));
    expected = seen;
    tick();
    return false;
  }

  /// Decides whether a futex wait sleeps: the kernel compares the newest value.
  [[gnu::noinline]] bool newest_is(int id, address where, word expected) noexcept {
    location& at = access(id, where);
    bool const same = at.history.back().value == expected;
    if (!same) read(id, at.newest(), order::relaxed);
    tick();
    return same;
  }

  [[gnu::noinline]] void fence(order o) noexcept {
    if (o == order::seq_cst) {
      sched.point(touch::sc_fence, 0);
      sc_fence();
    } else {
      allow(o);
      if (acquires(o)) me().cur.join(me().acq);
      if (releases(o)) me().rel = me().cur;
    }
    sched.trace("fence %s", name(o));
    tick();
  }

  /// Ordered with heavy fences only. For any other purpose it is no acquire or release fence.
  [[gnu::noinline]] void light_fence() noexcept {
    sched.point(touch::light_fence, 0);
    known_state& k = me();
    k.light.join_seen(k.cur);
    k.cur.join_seen(k.heavy);
    k.acq.join_seen(k.heavy);
    sched.trace("light fence");
    tick();
  }

  /// An sc fence that is also ordered with the light fences of every thread.
  [[gnu::noinline]] void heavy_fence() noexcept {
    sched.point(touch::heavy_fence, 0);
    sc_fence();
    view const before = me().cur;
    sched.trace("heavy fence");
    for (int i = 0; i < sched.thread_count(); ++i) {
      if (sched.rule.stepwise) sched.point(touch::heavy_fence, 0);
      threads_[i].heavy.join_seen(before);
      me().cur.join_seen(threads_[i].light);
    }
    if (sched.rule.stepwise) sched.point(touch::heavy_fence, 0);
    sc_fence();
    tick();
  }

  /// Time passes in a retry loop: values that were read stale before are not read again. Returns true if there were
  /// such values.
  [[gnu::noinline]] bool forget_stale() noexcept {
    known_state& k = me();
    bool any = false;
    for (int i = 0; i < view::used; ++i) {
      any = any || k.stale[i] > k.floor[i];
      if (k.stale[i] > k.floor[i]) k.floor[i] = k.stale[i];
      k.stale[i] = 0;
    }
    return any;
  }

  /// The accesses to a plain field: the last writer, and the readers.
  struct accesses {
    std::array<stamp, max_threads> read{};
    stamp written = 0;
    int writer = 0;
    bool alive = true;
  };
  int create_cell() noexcept {
    cells_.push_back({});
    return static_cast<int>(cells_.size()) - 1;
  }
  void destroy_cell(int id) noexcept { cell(id).alive = false; }
  accesses& cell(int id) noexcept { return cells_[static_cast<std::size_t>(id)]; }

  /// A number for the state of the memory, as far as the future can depend on it (image.hpp).
  std::uint64_t image() noexcept;

  void save(tape& to) const noexcept {
    to.put(view::used);
    to.put(odd_failures_);
    to.put(stale_);
    to.put(sc_);
    to.put(threads_.data(), static_cast<std::size_t>(sched.thread_count()) * sizeof(known_state));
    for (int i = 0; i < view::used; ++i) {
      to.put(static_cast<location_state const&>(locations_[i]));
      to.put(locations_[i].history.size());
    }
    to.put(cells_.size());
    to.put(cells_.data(), cells_.size() * sizeof(accesses));
  }
  /// In an execution that has gone on from there: its stores have only become more.
  void restore(tape& from) noexcept {
    for (int i = 0, now = view::used, then = (from.get(view::used), view::used); i < now; ++i) {
      if (i >= then) locations_[i].history.clear();
    }
    from.get(odd_failures_);
    from.get(stale_);
    from.get(sc_);
    from.get(threads_.data(), static_cast<std::size_t>(sched.thread_count()) * sizeof(known_state));
    std::size_t size = 0;
    for (int i = 0; i < view::used; ++i) {
      from.get(static_cast<location_state&>(locations_[i]));
      from.get(size);
      locations_[i].history.resize(size);
    }
    from.get(size);
    cells_.resize(size);
    from.get(cells_.data(), size * sizeof(accesses));
  }

  /// Number of the running thread's next plain access, and whether an access happens before it.
  stamp now() noexcept { return me().cur.clock[sched.current()]; }
  bool happened(int thread, stamp when) noexcept { return me().cur.clock[thread] >= when; }

 private:
  struct message {
    word value;
    view carries;  // the view that an acquiring reader joins
  };
  struct location_state {
    address where = 0;
    int maker = 0;
    stamp made = 0;
    std::array<stamp, max_threads> used{};  // last access of each thread
  };
  struct location : location_state {
    std::vector<message, malloc_allocator<message>> history;
    int newest() const noexcept { return static_cast<int>(history.size()) - 1; }
  };
  struct known_state {
    view cur;                                  // the stores that the thread's next access must respect
    view acq;                                  // the view that an acquire fence would add
    view rel;                                  // the view that a relaxed store carries: that at the last release fence
    view light, heavy;                         // given to heavy fences of other threads, received from them
    std::array<stamp, max_locations> stale{};  // one past the stale store read since the last retry
    std::array<stamp, max_locations> floor{};  // too old since a retry
  };

  known_state& me() noexcept { return threads_[static_cast<std::size_t>(sched.current())]; }
  void tick() noexcept { ++me().cur.clock[sched.current()]; }

  static bool acquires(order o) noexcept { return o == order::acquire || o == order::acq_rel; }
  static bool releases(order o) noexcept { return o == order::release || o == order::acq_rel; }
  static void allow(order o) noexcept {
    if (o == order::seq_cst || o == order::consume) sched.fail("seq_cst and consume accesses are banned: use a fence");
  }
  static char const* name(order o) noexcept {
    constexpr std::array<char const*, 6> names{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
    return names[static_cast<std::size_t>(o)];
  }
  static long long visible(word value) noexcept { return static_cast<long long>(value); }

  location& find(int id, address where) noexcept {
    if (id < 0 || id >= view::used || locations_[id].where != where)
      sched.fail("an atomic is used after its destruction (or before its construction)");
    return locations_[id];
  }
  location& access(int id, address where) noexcept {
    location& at = find(id, where);
    if (!happened(at.maker, at.made)) sched.fail("data race: a%d is used, but its construction is not visible", id);
    at.used[sched.current()] = now();
    return at;
  }

  int oldest_readable(int id, location const& at) noexcept {
    known_state const& k = me();
    int const oldest = k.cur.seen[id] > k.floor[id] ? k.cur.seen[id] : k.floor[id];
    return oldest < at.newest() ? oldest : at.newest();
  }

  word read(int id, int index, order o) noexcept {
    known_state& k = me();
    message const& m = locations_[id].history[static_cast<std::size_t>(index)];
    auto const position = static_cast<stamp>(index);
    if (k.cur.seen[id] < position) k.cur.seen[id] = position;
    if (k.acq.seen[id] < position) k.acq.seen[id] = position;
    k.acq.join(m.carries);
    if (acquires(o)) k.cur.join(m.carries);
    if (index < locations_[id].newest()) k.stale[id] = static_cast<stamp>(index + 1);
    return m.value;
  }

  void write(int id, word value, order o, view const* sequence) noexcept {
    known_state& k = me();
    location& at = locations_[id];
    auto const position = static_cast<stamp>(at.history.size());
    k.cur.seen[id] = k.acq.seen[id] = position;
    sched.wrote();
    at.history.push_back({value, releases(o) ? k.cur : k.rel});
    view& carries = at.history.back().carries;
    carries.seen[id] = position;
    if (sequence != nullptr) carries.join(*sequence);  // a release sequence resumes through the RMW
  }

  word swap(int id, location& at, order o, word desired) noexcept {
    word const old = read(id, at.newest(), o);
    view const sequence = at.history.back().carries;
    write(id, desired, o, &sequence);
    return old;
  }

  void sc_fence() noexcept {
    known_state& k = me();
    k.cur.join(k.acq);
    k.cur.join_seen(sc_);
    sc_.join_seen(k.cur);
    k.acq.join(k.cur);
    k.rel = k.cur;
  }

  class normal_form;

  std::array<location, max_locations> locations_;
  std::vector<accesses, malloc_allocator<accesses>> cells_;
  std::array<known_state, max_threads> threads_;
  view sc_;
  int odd_failures_ = 0;
  int stale_ = 0;  // counted if there is a bound
};

inline memory mem;

}  // namespace model
