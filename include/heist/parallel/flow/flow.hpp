// Data flow: tasks declare the data that they read and write. Their results are those of the program's order
// (README.md, "Flows").
#pragma once

#include <algorithm>  // sort
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>   // exception_ptr
#include <functional>  // less
#include <tuple>
#include <type_traits>
#include <utility>  // exchange, forward, move, swap

#include "heist/core/base/unique_function.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/executor/executor.hpp"
#include "heist/graph/input.hpp"
#include "heist/parallel/async/after.hpp"
#include "heist/parallel/flow/flow_data.hpp"
#include "heist/parallel/flow/flow_recorder.hpp"

namespace heist {

/// How a flow behaves.
struct flow_options {
  /// The largest number of tasks that have not ended. At this number task() waits until half of them have ended. 1 to
  /// 2^20; rounded up to a power of two.
  std::size_t window = 2048;
};

/// Tasks in the order of the program. They run in parallel where the data that they read and write allows it.
///
/// Threads  one at a time, inside a task or outside.
/// Promises each task sees the values of a serial run; tasks with commute() have some order among each other. If a
///          task fails, no task that depends on it by data runs. After the flow has noticed the failure, it runs no
///          task that is added. wait() rethrows the first exception in the order of the program. The destructors of
///          the flow and of each datum wait for all tasks.
/// Cost     task(): one block of memory. A datum that tasks use in the order of the program costs nothing.
class flow {
 public:
  /// Runs on any executor. Throws executor_error for a window of 0, or of more than 2^20.
  template <class Executor>
  requires(!std::is_same_v<Executor, task_graph>) explicit flow(Executor& ex, flow_options const& wanted = {})
      : flow{&detail::executor_access::core_of(ex), wanted} {}
  /// Records the tasks into a graph and runs nothing. The graph can run again and again; each run begins with the
  /// values of the run before. The data must outlive the graph's runs. Each write waits for the reads before it.
  /// There is no window. value() returns the value after the last run.
  template <class Graph>
  requires std::is_same_v<Graph, task_graph>
  explicit flow(Graph& to) : flow{nullptr, {.window = 1}} {
    into_ = detail::make_unique<detail::graph_recorder<Graph, limiter>>(to);
  }
  flow(flow const&) = delete;
  flow& operator=(flow const&) = delete;
  ~flow();

  /// Adds a task: f(values...) or f(context, values...), with a reference to the value of each datum in this order,
  /// const for read(). Throws executor_error for a datum of another flow, and for a datum that is named twice and not
  /// only read. Throws bad_alloc, and the exceptions of making a new object (datum::renew_with, or T's default
  /// constructor). After an exception the task is not added, and the data are unchanged.
  template <class F, class... Access>
  void task(F&& f, Access const&... access);

  /// Waits until all tasks have ended, then rethrows their first exception. A calling task parks. Throws
  /// executor_error in a task of this flow. The flow can be used again.
  ///
  /// A flow that was made in a task of a run shares the run's stop while a task of that run waits for the flow or for
  /// room in its window. The flow's tasks see the stop, tasks that have not started are skipped, and wait() throws
  /// stopped_error.
  void wait();

  /// The number of tasks that have not ended, as far as the flow knows. Of a flow that records: of all tasks.
  std::size_t size() const noexcept { return static_cast<std::size_t>(next_ - oldest_); }

 private:
  template <class>
  friend class datum;
  flow(detail::core* scheduler, flow_options const& wanted);

  template <class F, class... Access>
  void record(F&& f, Access const&... access);
  void check(detail::flow_datum const& d) const {
    if (d.in != this) reject_foreign();
  }
  // Of one datum, or of heist::each(range).
  template <class T, access_mode Mode, class Do>
  static void visit(detail::flow_access<T, Mode> const& a, Do&& each) {
    each(a.of->data_);
  }
  template <class T, access_mode Mode, class Do>
  static void visit(detail::flow_access_each<T, Mode> const& a, Do&& each) {
    for (datum<T>* const d : a.of) each(d->data_);
  }
  template <class T, access_mode Mode>
  static T* use(detail::flow_access<T, Mode> const& a) {
    return &a.of->use(Mode);
  }
  template <class T, access_mode Mode>
  static detail::vector<T*> use(detail::flow_access_each<T, Mode> const& a) {
    detail::vector<T*> all;
    all.reserve(a.of.size());
    for (datum<T>* const d : a.of) all.push_back(&d->use(Mode));
    return all;
  }
  template <class T, access_mode Mode>
  static constexpr std::size_t count_of(detail::flow_access<T, Mode> const&) noexcept {
    return 1;
  }
  template <class T, access_mode Mode>
  static std::size_t count_of(detail::flow_access_each<T, Mode> const& a) noexcept {
    return a.of.size();
  }
  /// A written datum must be named once.
  template <class... Access>
  static void check_once(Access const&... access) {
    if constexpr ((detail::names_one_datum<Access> && ...)) {
      std::array<detail::flow_datum const*, sizeof...(Access)> const data{&access.of->data_...};
      constexpr std::array<bool, sizeof...(Access)> reads{(Access::mode == access_mode::read)...};
      for (std::size_t i = 0; i != data.size(); ++i) {
        for (std::size_t j = i + 1; j != data.size(); ++j) {
          if (data[i] == data[j] && !(reads[i] && reads[j])) reject_twice();
        }
      }
    } else {
      detail::vector<named_datum> named;
      (visit(access,
             [&](detail::flow_datum const& d) {
               named.push_back({&d, Access::mode == access_mode::read});
             }),
       ...);
      check_named(named);
    }
  }
  struct named_datum {
    detail::flow_datum const* datum;
    bool reads;
  };
  template <class Named>
  static void check_named(detail::vector<Named>& named) {
    std::sort(named.begin(), named.end(),
              [](Named const& a, Named const& b) { return std::less<>{}(a.datum, b.datum); });
    for (std::size_t i = 1; i < named.size(); ++i) {
      if (named[i - 1].datum == named[i].datum && !(named[i - 1].reads && named[i].reads)) reject_twice();
    }
  }
  [[noreturn]] static void reject_foreign();
  [[noreturn]] static void reject_twice();
  [[noreturn]] static void reject_moved();
  /// Notes in awaited_ what a task comes after that uses `v` so.
  void collect(detail::flow_version& v, access_mode mode);
  void collect(detail::vector<detail::flow_user> const& from);
  /// Room for enter(), of a task that names `v` up to `times` times. Throws bad_alloc.
  void make_room(detail::flow_version& v, access_mode mode, std::size_t times);
  void make_room(detail::vector<detail::flow_user>& in, std::size_t times);
  /// The task is the youngest user of `v`. After make_room().
  static void enter(detail::flow_version& v, access_mode mode, detail::flow_user me) noexcept;
  bool is_in_use(detail::flow_version const& v) const noexcept;
  /// Throws executor_error in a task of this flow, and in what that has forked: it would wait for itself. Any thread.
  void reject_own_task() const;
  void wait_for_room();
  void drop_oldest();
  void drain();
  void drain_to_destroy() noexcept;
  /// Puts `unused` in the place of the version of `d`, and keeps that version until all tasks that use it have ended.
  /// Throws bad_alloc; then nothing has changed.
  void renew(detail::flow_datum& d, detail::unique_ptr<detail::flow_version> unused);
  void forget_retired() noexcept;

  struct retired {
    detail::unique_ptr<detail::flow_version> version;
    std::uint64_t until;
    detail::flow_datum* of;  ///< while a task is being added
  };
  /// While a task is being added: if it is not, data have the versions again that they had before.
  struct renewals {
    explicit renewals(flow& in) noexcept : of{in}, before{in.retired_.size()} {}
    renewals(renewals const&) = delete;
    renewals& operator=(renewals const&) = delete;
    ~renewals() {
      if (!added) of.undo_renewals(before);
    }
    flow& of;
    std::size_t const before;
    bool added = false;
  };
  void undo_renewals(std::size_t before) noexcept;
  template <class Task, class... Access>
  void add(Task& made, renewals& renewed, Access const&... access) noexcept;
  /// Notes what a task comes after that uses these so, and makes room for it.
  template <class... Access>
  void collect_all(Access const&... access) {
    (visit(access, [&](detail::flow_datum& d) { collect(*d.now, Access::mode); }), ...);
  }
  template <class... Access>
  void make_room_for(Access const&... access) {
    [[maybe_unused]] std::size_t const times = (count_of(access) + ... + 0);  // unused without accesses, as `me` below
    (visit(access, [&](detail::flow_datum& d) { make_room(*d.now, Access::mode, times); }), ...);
  }
  template <class... Access>
  static void enter_all([[maybe_unused]] detail::flow_user me, Access const&... access) noexcept {
    (visit(access, [&](detail::flow_datum& d) { enter(*d.now, Access::mode, me); }), ...);
  }

  detail::core* const scheduler_;  ///< null: of none, but of a graph
  std::size_t const mask_;
  detail::vector<detail::async_base*> window_;  ///< by number modulo its size; owned
  std::uint64_t oldest_ = 0, next_ = 0;         ///< numbers of those in it
  detail::vector<detail::async_base*> awaited_;
  detail::unique_ptr<detail::flow_recorder> into_;
  detail::vector<std::uint64_t> awaited_numbers_;  ///< where it records
  detail::vector<retired> retired_;
  bool failed_ = false;
  std::exception_ptr first_;
  detail::unobserved_reference unobserved_;  ///< where first_ goes if wait() is not called
  bool first_is_stop_ = false;               ///< first_ says that a task was skipped
  detail::interrupt_state stop_;             ///< of its tasks
  detail::stop_origin const origin_;         ///< the stoppable task that made the flow, or none
  detail::stop_target stop_target() noexcept;
};

/// A value that tasks of a flow use. Its destructor waits for the flow. It can be moved, so a vector of datums can
/// grow.
template <class T>
class datum {
 public:
  /// A datum of the flow, with a first value. If the type is trivially copyable and default constructible, a pure write
  /// gets a new object. It does not wait for tasks that still use the old object. Otherwise it waits, and gets the same
  /// object.
  template <class... Args>
  explicit datum(flow& in, Args&&... args) {
    data_.in = &in;
    data_.now = detail::make_unique<detail::flow_value<T>>(std::forward<Args>(args)...);
  }
  /// The value stays where it is: tasks that use it go on. The other datum is of no flow from here on.
  datum(datum&& other) noexcept
      : data_{std::exchange(other.data_.in, nullptr), std::move(other.data_.now)}, make_(std::move(other.make_)) {}
  /// `other` gets what this datum had.
  datum& operator=(datum&& other) noexcept {
    std::swap(data_.in, other.data_.in);
    data_.now.swap(other.data_.now);
    std::swap(make_, other.make_);
    return *this;
  }
  datum(datum const&) = delete;
  datum& operator=(datum const&) = delete;
  ~datum() {
    if (data_.in != nullptr) data_.in->drain_to_destroy();
  }

  /// From now on a pure write gets a new object from `make()` if tasks still use the old one. `make()` returns an
  /// object of the shape that tasks expect.
  template <class Make>
  datum& renew_with(Make&& make) {
    static_assert(std::is_invocable_r_v<T, std::decay_t<Make>&>,
                  "heist: renew_with() takes a callable that returns a new value of the datum; fix its result.");
    make_ = std::forward<Make>(make);
    return *this;
  }

  /// Waits for all tasks of the flow, as wait() does, and returns the value at this place of the program. Throws as
  /// wait().
  T const& value() const {
    if (data_.in == nullptr) flow::reject_moved();
    data_.in->wait();
    return static_cast<detail::flow_value<T> const&>(*data_.now).value;
  }

 private:
  friend class flow;

  /// The object that a task uses so.
  T& use(access_mode mode) {
    if (mode == access_mode::write && data_.in->is_in_use(*data_.now)) {
      if (make_) {
        data_.in->renew(data_, detail::make_unique<detail::flow_value<T>>(make_()));
      } else if constexpr (std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>) {
        data_.in->renew(data_, detail::make_unique<detail::flow_value<T>>());
      }
    }
    return static_cast<detail::flow_value<T>&>(*data_.now).value;
  }

  detail::flow_datum data_;
  unique_function<T()> make_;
};

/// An argument of flow::task(): the task reads the datum.
template <class T>
auto read(datum<T>& d) noexcept {
  return detail::flow_access<T, access_mode::read>{&d};
}
/// The task writes it, and does not read the old value.
template <class T>
auto write(datum<T>& d) noexcept {
  return detail::flow_access<T, access_mode::write>{&d};
}
/// The task reads and writes it.
template <class T>
auto update(datum<T>& d) noexcept {
  return detail::flow_access<T, access_mode::update>{&d};
}
/// The task reads and writes it. Neighbouring tasks that commute run one at a time, in any order.
template <class T>
auto commute(datum<T>& d) noexcept {
  return detail::flow_access<T, access_mode::commute>{&d};
}

/// The same for all data of heist::each(range), of any length. The task gets a heist::values<T>. Its elements are T
/// const& for read(), and T& for write() and update(). commute() takes one datum.
template <class T>
auto read(detail::each_of<datum<T>*> all) noexcept {
  return detail::flow_access_each<T, access_mode::read>{std::move(all.from)};
}
template <class T>
auto write(detail::each_of<datum<T>*> all) noexcept {
  return detail::flow_access_each<T, access_mode::write>{std::move(all.from)};
}
template <class T>
auto update(detail::each_of<datum<T>*> all) noexcept {
  return detail::flow_access_each<T, access_mode::update>{std::move(all.from)};
}

namespace detail {

/// The callable of a flow's task, with the values that it uses.
template <class F, class... Access>
struct flow_call {
  F function;
  std::tuple<typename Access::kept...> values;

  void operator()() requires callable_plain<F, typename Access::argument...> {
    static_assert(result_of_task<decltype(function(std::declval<typename Access::argument>()...))>::is_result);
    std::apply([this](auto&... v) { static_cast<void>(function(Access::value(v)...)); }, values);
  }
  template <class Context>
  requires(!callable_plain<F, typename Access::argument...>) void operator()(Context c) {
    static_assert(callable_with_context<F, Context, typename Access::argument...>,
                  "heist: a task of a flow is called with a reference to each datum, in the order in which they are "
                  "named: T const& for read(), T& for write(), update() and commute(), and a heist::values for "
                  "heist::each(); fix its parameters.");
    static_assert(result_of_task<decltype(function(c, std::declval<typename Access::argument>()...))>::is_result);
    std::apply([&](auto&... v) { static_cast<void>(function(c, Access::value(v)...)); }, values);
  }
};

}  // namespace detail

template <class F, class... Access>
void flow::task(F&& f, Access const&... access) {
  static_assert(
      (detail::is_flow_access<Access> && ...),
      "heist: a task of a flow says how it uses each datum: heist::read(x), write(x), update(x) or commute(x), "
      "after the callable; fix it by one of them.");
  constexpr std::size_t commutes = ((Access::mode == access_mode::commute ? std::size_t{1} : 0) + ... + 0);
  using call = detail::flow_call<std::decay_t<F>, Access...>;
  (visit(access, [this](detail::flow_datum const& d) { check(d); }), ...);
  if constexpr (sizeof...(Access) > 1 || !(detail::names_one_datum<Access> && ...)) check_once(access...);
  if (into_ != nullptr) return record(std::forward<F>(f), access...);
  if (failed_) return;
  wait_for_room();
  awaited_.clear();
  renewals renewed{*this};
  // Renewed data come first: they are other objects then.
  std::tuple<typename Access::kept...> values{use(access)...};
  collect_all(access...);
  if (failed_) return;
  make_room_for(access...);
  std::tuple<detail::after_users> const before{detail::after_users{&awaited_}};
  if constexpr (commutes == 0) {
    add(*detail::make_after<context, detail::of_flow, false>(
            *scheduler_, nullptr, before, call{std::forward<F>(f), std::move(values)}, detail::of_flow{&stop_}),
        renewed, access...);
  } else {
    std::array<detail::commute_lock<detail::queued_runnable>*, commutes> locks{};
    std::size_t n = 0;
    auto const note = [&](detail::flow_datum& d, access_mode mode) {
      if (mode == access_mode::commute) locks[n++] = &d.now->lock;
    };
    (visit(access, [&](detail::flow_datum& d) { note(d, Access::mode); }), ...);
    std::sort(locks.begin(), locks.end(), std::less<>{});
    add(*detail::make_after<context, detail::commuting<commutes>, false>(
            *scheduler_, nullptr, before, call{std::forward<F>(f), std::move(values)}, &stop_, locks),
        renewed, access...);
  }
}

/// Throws nothing: later tasks of the flow must find this one. It starts when it stands in the window.
template <class Task, class... Access>
void flow::add(Task& made, renewals& renewed, Access const&... access) noexcept {
  renewed.added = true;
  [[maybe_unused]] detail::flow_user const me{&made, next_};
  window_[next_++ & mask_] = me.task;
  enter_all(me, access...);
  detail::start_after(*scheduler_, made, made.first_link());
}

template <class F, class... Access>
void flow::record(F&& f, Access const&... access) {
  using call = detail::flow_call<std::decay_t<F>, Access...>;
  awaited_numbers_.clear();
  std::tuple<typename Access::kept...> values{use(access)...};
  collect_all(access...);
  make_room_for(access...);
  detail::vector<void const*> locks;
  (visit(access,
         [&](detail::flow_datum& d) {
           if (Access::mode == access_mode::commute) locks.push_back(d.now.get());
         }),
   ...);
  into_->add(
      [work = call{std::forward<F>(f), std::move(values)}](context c) mutable {
        if constexpr (requires { work(); }) {
          static_cast<void>(c);
          work();
        } else {
          work(c);
        }
      },
      awaited_numbers_, locks);
  [[maybe_unused]] detail::flow_user const me{nullptr, next_++};  // none without accesses
  enter_all(me, access...);
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/flow/flow.ipp"
#endif
