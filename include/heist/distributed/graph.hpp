// The graph that many processes build and run together.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <exception>  // throw_with_nested
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, move
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/core/executor/start_access.hpp"
#include "heist/core/executor/with.hpp"
#include "heist/distributed/graph_core.hpp"
#include "heist/distributed/measured.hpp"
#include "heist/distributed/placed.hpp"
#include "heist/graph/task_graph.hpp"

namespace heist {

/// A run of a distributed graph; may be dropped.
///
/// Threads  every member may be called by any thread. wait() and get() inside a task park it.
class distributed_run {
 public:
  /// Refers to nothing.
  distributed_run() noexcept = default;

  bool valid() const noexcept { return run_ != nullptr; }
  /// Has it ended on all ranks?
  bool is_ready() const { return checked().over.is_ready(); }
  /// Returns when it has ended on all ranks, for whatever reason.
  void wait() const {
    distributed::graph_core::wait(checked());
    if (checked().local.valid()) checked().local.wait();
  }
  /// Waits; then throws distributed_error on all ranks if a task has thrown on any, with that rank and what the
  /// exception says. Of several ranks it is the lowest. On that rank the exception itself is nested in it. Throws
  /// stopped_error on all ranks if none has thrown and the run was stopped.
  void get() const {
    wait();
    auto const& run = checked();
    std::exception_ptr cause;
    if (run.local.valid()) {
      try {
        run.local.get();
      } catch (...) {
        cause = std::current_exception();
      }
    }
    if (run.failed_on < 0) {
      if (run.stopped) {
        throw stopped_error{
            "the run of a distributed graph was stopped, so tasks of it may not have run; fix it by catching "
            "heist::stopped_error, or by wait() and stopped()."};
      }
      return;
    }
    distributed_error const told{run.failed_on, run.text};
    if (!cause || run.failed_on != core_->rank()) throw told;
    try {
      std::rethrow_exception(cause);
    } catch (...) {
      std::throw_with_nested(told);
    }
  }
  /// Tasks that have not started yet are skipped, on all ranks; the run ends soon.
  void request_stop() const { core_->request_stop(checked()); }
  /// True on all ranks if a stop was requested on any before the run ended there. After the run.
  bool stopped() const { return checked().stopped; }

 private:
  friend class distributed_graph;
  distributed_run(std::shared_ptr<distributed::graph_core> core, std::shared_ptr<distributed::run_record> run) noexcept
      : core_{std::move(core)}, run_{std::move(run)} {}
  distributed::run_record& checked() const {
    if (run_ == nullptr) {
      throw executor_error{
          "this distributed_run refers to no run: it was default made; fix it by keeping the handle that "
          "executor::run returned."};
    }
    return *run_;
  }

  std::shared_ptr<distributed::graph_core> core_;
  std::shared_ptr<distributed::run_record> run_;
};

/// Options of a graph. All ranks pass the same.
struct distributed_options {
  /// Keeps the places and edges of all tasks, of other ranks, too (some 20 bytes each). Measures this rank's tasks,
  /// with two looks at the clock each. For save() and place::measured.
  bool remember = false;
  /// A folder that an earlier program has given to save(): tasks that had finished then, and those that only they need,
  /// are not run again. Their values are read where they are taken. In each run of this graph.
  std::string restart = {};
  /// Where tasks run that are placed by heist::prefer. It is copied.
  place::measured const* placement = nullptr;
};

/// Tasks of many processes, and the values between them. All ranks build the same graph, in the same order, and run it
/// as often. Each rank runs the tasks that are placed on it, by an executor of its own. A value that a task of another
/// rank takes is sent there, once.
///
/// Threads  built, changed and run by one thread of each rank at a time.
/// Promises each task runs once in a run, on its rank. A run ends on all ranks: with an exception or a stop on any,
/// too, and can be repeated then. Graphs that differ between ranks are refused before anything runs.
/// Cost     a task of another rank: some nanoseconds, and a few bytes. More if this rank gives it a value or takes its.
class distributed_graph {
 public:
  /// Collective: all ranks make their graphs in the same order.
  explicit distributed_graph(world& w) : core_{distributed::graph_core::make(w)} {}
  /// The same. Throws graph_error if there is nothing to restart from.
  distributed_graph(world& w, distributed_options const& wanted) : distributed_graph{w} {
    bool const moves = wanted.placement != nullptr;
    if (wanted.remember || !wanted.restart.empty() || moves) {
      core_->remember(wanted.restart, moves ? wanted.placement->ranks_ : std::vector<std::int32_t>{},
                      moves ? wanted.placement->form_ : 0);
    }
  }
  distributed_graph(distributed_graph&&) noexcept = default;
  distributed_graph& operator=(distributed_graph&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  /// Waits for its runs.
  ~distributed_graph() {
    if (core_ != nullptr) core_->close();
  }

  /// Adds a task on a rank: f(values...) or f(context, values...), as task_graph::emplace. Values must be able to
  /// travel (heist::wire). Throws graph_error for a rank that there is not.
  template <class F, class... Inputs>
  auto emplace(detail::on_rank where, F&& f, Inputs const&... in) {
    using distributed::task_place;
    if (where.fixed) return add<std::decay_t<F>>(where.rank, task_place::fixed, std::forward<F>(f), in...);
    return add<std::decay_t<F>>(core_->preferred(where.rank), task_place::preferred, std::forward<F>(f), in...);
  }
  /// Adds a task where its first input is.
  template <class F, class First, class... More>
  requires(!std::is_same_v<std::decay_t<F>, detail::on_rank>) auto emplace(F&& f, First const& first,
                                                                           More const&... more) {
    return add<std::decay_t<F>>(rank_of(first), distributed::task_place::follows, std::forward<F>(f), first, more...);
  }
  template <class F>
  auto emplace(F&&) {
    static_assert(
        !std::is_same_v<F, F>,
        "heist: a task of a distributed graph runs where its first argument is, and this one has none; fix it "
        "by emplace(heist::on(rank), f).");
  }
  template <class F>
  auto emplace_condition(F&&) {
    static_assert(
        !std::is_same_v<F, F>,
        "heist: a distributed graph has no conditions: which tasks run must be known on all ranks; fix it by a "
        "loop around run(), or by conditions in a task_graph that a task runs.");
  }
  template <class Graph>
  auto compose(Graph&&) {
    static_assert(!std::is_same_v<Graph, Graph>,
                  "heist: a distributed graph is not composed of others; fix it by building both into one, or by "
                  "running a task_graph inside a task.");
  }

  /// Collective, once, after all tasks have been added. From now on runs write the values of their tasks into files of
  /// a folder that all ranks see, each value when it is there. With `cut`, tasks or ranges of them, only those are
  /// written. A program that is ended can then be started with distributed_options::restart. Values that cannot travel
  /// are not saved. Needs distributed_options::remember. Throws graph_error if the folder cannot be written; later, the
  /// run fails.
  template <class... Cut>
  void save(std::string const& folder, Cut const&... cut) {
    std::vector<std::uint32_t> numbers;
    (add_numbers(numbers, cut), ...);
    core_->save(folder, numbers);
  }

  /// Number of tasks, of all ranks.
  std::size_t size() const noexcept { return core_->tasks(); }
  /// How many values this rank gets from other ranks, and sends to other ranks, in a run.
  std::size_t values_in() const noexcept { return core_->incoming_count(); }
  std::size_t values_out() const noexcept { return core_->crossing_count(); }
  world& of() const noexcept { return core_->of(); }

 private:
  friend class place::measured;
  friend struct detail::start_access;
  template <class... Options>
  distributed_run start_run(detail::core& scheduler, std::size_t passes, Options&&... options) {
    static_assert(sizeof...(Options) <= 1 && (std::is_same_v<std::decay_t<Options>, with> && ...),
                  "heist: what follows a distributed graph in run() is heist::with{.stop = token}; fix the argument.");
    if (passes != 1) {
      throw graph_error{
          "run_n of a distributed graph; fix it by calling run() so often: a run may begin before the one "
          "before it has ended."};
    }
    with how;
    ((how = std::forward<Options>(options)), ...);
    heist::detail::reject_place("a run of a distributed graph", how);
    if (how.deadline) {
      throw graph_error{
          "heist::with{.deadline = ...} is given to a run of a distributed graph, and the clocks of ranks differ; fix "
          "it by request_stop() on one rank."};
    }
    return {core_, core_->start(scheduler, std::move(how.stop))};
  }
  template <class Predicate, class... Options>
  distributed_run start_run_until(detail::core&, Predicate&&, Options&&...) {
    static_assert(!std::is_same_v<Predicate, Predicate>,
                  "heist: run_until of a distributed graph would ask each rank, which may differ; fix it by a loop "
                  "around run() that all ranks end together.");
    return {};
  }

  template <class T>
  int rank_of(placed<T> const& p) const {
    return p.rank();
  }
  template <class T>
  int rank_of(detail::take_of<placed<T>> const& t) const {
    return t.from.rank();
  }
  template <class T>
  int rank_of(detail::each_of<placed<T>> const& all) const {
    if (all.from.empty()) {
      throw graph_error{"a task runs where its first argument is, which is an empty range; fix it by heist::on(rank)."};
    }
    return all.from.front().rank();
  }
  template <class Other>
  int rank_of(Other const&) const {
    reject_input<Other>();
    return 0;
  }
  template <class Input>
  static constexpr void reject_input() {
    static_assert(
        distributed::detail::is_placed_input<Input>,
        "heist: what follows the function in emplace() are tasks of the distributed graph, heist::take(task) or "
        "heist::each(range of tasks); fix the argument, and put heist::on(rank) first.");
  }

  template <class T>
  using each_type = values<std::conditional_t<std::is_void_v<T>, int, T>>;
  /// The arguments that f gets for an input, as a tuple.
  template <class T>
  static auto given(placed<T> const*)
      -> std::conditional_t<std::is_void_v<T>, std::tuple<>, std::tuple<std::add_lvalue_reference_t<T const>>>;
  template <class T>
  static auto given(detail::take_of<placed<T>> const*) -> std::tuple<T&&>;
  template <class T>
  static auto given(detail::each_of<placed<T>> const*)
      -> std::conditional_t<std::is_void_v<T>, std::tuple<>, std::tuple<each_type<T>>>;
  template <class F, class All>
  struct result_of;
  template <class F, class... Given>
  struct result_of<F, std::tuple<Given...>> {
    using type = std::remove_cv_t<detail::task_result<context, F, Given...>>;
  };

  template <class T>
  static constexpr bool may_serialize(placed<T> const*) noexcept {
    if constexpr (std::is_void_v<T>) {
      return true;
    } else {
      return serializable<T>;
    }
  }
  template <class T>
  static constexpr bool may_serialize(detail::take_of<placed<T>> const*) noexcept {
    return may_serialize(static_cast<placed<T> const*>(nullptr));
  }
  template <class T>
  static constexpr bool may_serialize(detail::each_of<placed<T>> const*) noexcept {
    return may_serialize(static_cast<placed<T> const*>(nullptr));
  }

  template <class T, class G>
  static void for_each_of(placed<T> const& p, G&& g) {
    g(p, false);
  }
  template <class T, class G>
  static void for_each_of(detail::take_of<placed<T>> const& t, G&& g) {
    g(t.from, true);
  }
  template <class T, class G>
  static void for_each_of(detail::each_of<placed<T>> const& all, G&& g) {
    for (auto const& p : all.from) g(p, false);
  }

  /// A task of this rank. If a task takes a value that the saved graph does not need, this is another graph. All ranks
  /// refuse it before it runs. Until then a task that fails stands in.
  template <class T>
  task<T> local_of(placed<T> const& p) {
    if (p.local_.valid()) return p.local_;
    return core_->local().emplace([core = core_.get()]() -> T { throw graph_error{core->remembered().difference()}; });
  }

  // The same input, here.
  template <class T>
  task<T> receive(placed<T> const& p) {
    return p.rank() == core_->rank() ? local_of(p) : core_->template receive<T>(p.id_, p.rank());
  }
  template <class T>
  auto receive(detail::take_of<placed<T>> const& t) {
    return heist::take(receive(t.from));
  }
  template <class T>
  auto receive(detail::each_of<placed<T>> const& all) {
    detail::each_of<task<T>> here;
    for (auto const& p : all.from) here.from.push_back(receive(p));
    return here;
  }

  template <class R>
  static consteval std::uint64_t type_number() {
    std::uint64_t n = 0xcbf29ce484222325u;
    for (char const c : std::string_view{__PRETTY_FUNCTION__}) n = (n ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return n;
  }

  template <class T>
  static void add_numbers(std::vector<std::uint32_t>& to, placed<T> const& p) {
    to.push_back(p.id_);
  }
  template <class Range>
  static void add_numbers(std::vector<std::uint32_t>& to, Range const& all) {
    for (auto const& p : all) add_numbers(to, p);
  }

  template <class F, class G, class... In>
  auto add(int rank, distributed::task_place how, G&& f, In const&... in) {
    (reject_input<In>(), ...);
    static_assert((may_serialize(static_cast<In const*>(nullptr)) && ...),
                  "heist: a value that a task of a distributed graph takes may have to be sent to another process, and "
                  "its type, or a part of it, cannot: it has an address in it, or nothing says how; fix it by a "
                  "specialisation of heist::wire<T>, or by a member serialize(Archive&, unsigned).");
    using result = typename result_of<F, decltype(std::tuple_cat(given(static_cast<In const*>(nullptr))...))>::type;
    static_assert(!std::is_reference_v<result>,
                  "heist: a task of a distributed graph cannot return a reference, which means nothing in another "
                  "process; fix it by returning a value.");
    distributed::graph_core& core = *core_;
    [[maybe_unused]] auto const check = [&](auto const& p, bool) {
      if (p.core_ != &core) reject_foreign();
    };
    (for_each_of(in, check), ...);
    if constexpr ((detail::is_take<In> || ...)) {
      auto const take = [&](auto const& p, bool is_taken) {
        if (is_taken) core.take_once(p.id_);
      };
      (for_each_of(in, take), ...);
    }
    std::uint32_t const id = core.add(rank, type_number<result>(), how);
    [[maybe_unused]] auto const mix = [&](auto const& p, bool is_taken) { core.add_input(p.id_, is_taken); };
    (for_each_of(in, mix), ...);
    placed<result> made{core, rank, id};
    place<F>(made, std::forward<G>(f), in...);
    return made;
  }

  /// Adds the task to the local graph, or sends it its inputs.
  template <class F, class R, class G, class... In>
  void place(placed<R>& made, G&& f, In const&... in) {
    distributed::graph_core& core = *core_;
    auto const state = core.state_of(made.id_);
    if (state == distributed::saved_state::skipped) return;
    bool const here = made.rank() == core.rank();
    if (state == distributed::saved_state::loaded) {
      if (!here) return;
      auto* const own = core.note_of(made.id_);
      made.local_ = core.local().emplace([from = &core, id = made.id_] { return from->template saved_value<R>(id); });
      core.add_here(made.id_, made.local_);
      core.noted(own, made.local_);
    } else if (here) {
      auto* const own = core.note_of(made.id_);
      made.local_ = core.local().emplace(distributed::measured_task<F>{std::forward<G>(f), own}, receive(in)...);
      core.add_here(made.id_, made.local_);
      core.noted(own, made.local_);
    } else {
      [[maybe_unused]] auto const send = [&](auto const& p, bool) {
        if (p.rank() == core.rank()) core.send_to(made.rank(), p.id_, local_of(p));
      };
      (for_each_of(in, send), ...);
    }
  }

  [[noreturn]] static void reject_foreign() {
    throw graph_error{
        "a task of another distributed graph, or none, where one of this graph is needed; fix it by using a handle "
        "that this graph's emplace() returned."};
  }

  std::shared_ptr<distributed::graph_core> core_;
};

}  // namespace heist
