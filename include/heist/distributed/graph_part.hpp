// A rank's part of a distributed graph: its tasks, and the points where values come in and leave.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>  // move
#include <vector>

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/distributed/crossing.hpp"
#include "heist/distributed/memory.hpp"
#include "heist/distributed/ways.hpp"
#include "heist/distributed/world.hpp"
#include "heist/distributed/world_access.hpp"
#include "heist/graph/access.hpp"
#include "heist/graph/task_graph.hpp"

namespace heist::distributed {

class graph_part {
 public:
  using task_access = heist::detail::task_access;
  using local_access = heist::detail::task_graph_access;

  explicit graph_part(world& w) noexcept : world_{&w} {}
  graph_part(graph_part const&) = delete;
  graph_part& operator=(graph_part const&) = delete;

  world& of() const noexcept { return *world_; }
  int rank() const { return world_->rank(); }
  task_graph& local() noexcept { return local_; }

  /// The next task, of which all ranks must say the same.
  std::uint32_t add(int on, std::uint64_t type, task_place how) {
    if (on < 0 || on >= world_->size()) reject_rank(on);
    agreed_ = false;
    edges_.add_task();
    mix(static_cast<std::uint64_t>(on) ^ type);
    if (memory_ != nullptr) {
      memory_->shape.add(on, how);
      memory_->mix(type);
    }
    return ++tasks_;
  }
  /// An input of the last one.
  void add_input(std::uint32_t from, bool is_taken) {
    edges_.add_input(from);
    std::uint64_t const edge = std::uint64_t{from} << 1 | std::uint64_t{is_taken};
    mix(edge);
    if (memory_ != nullptr) {
      memory_->shape.add_input(from);
      memory_->mix(edge);
    }
  }
  /// An edge, of which all ranks must say the same.
  void changed(std::uint32_t from, std::uint32_t to) {
    agreed_ = false;
    edges_.add_order(from, to);
    mix(std::uint64_t{from} << 32 | to);
    if (memory_ != nullptr) {
      memory_->shape.orders.emplace_back(from, to);
      memory_->mix(std::uint64_t{from} << 32 | to);
    }
  }
  /// A task of this rank is here in the local graph.
  template <class T>
  void add_here(std::uint32_t task, heist::task<T> const& here) {
    here_.emplace_back(task, task_access::index_of(here));
  }
  /// Where the next task is put whose place is preferred only.
  int preferred(int rank) const noexcept {
    bool const known = memory_ != nullptr && memory_->ranks.size() > tasks_ + std::size_t{1};
    return known ? memory_->ranks[tasks_ + std::size_t{1}] : rank;
  }
  /// In a graph that is restarted.
  saved_state state_of(std::uint32_t task) const noexcept {
    return memory_ == nullptr ? saved_state::runs : memory_->state_of(task);
  }
  /// Where what a task of this rank takes is noted; null: nowhere.
  own_task* note_of(std::uint32_t task) {
    if (memory_ == nullptr) return nullptr;
    memory_->own.push_back({.id = task});
    return &memory_->own.back();
  }
  template <class T>
  void noted(own_task* own, task<T> const& here) const {
    if (own == nullptr) return;
    own->index = task_access::index_of(here);
    if constexpr (std::is_void_v<T>) {
      own->save = &add_saver<T>;
    } else if constexpr (serializable<T>) {
      own->save = &add_saver<T>;
    }
  }
  /// The saved value of a task that is not run again.
  template <class T>
  T saved_value(std::uint32_t id) const {
    if constexpr (!std::is_void_v<T>) {
      if constexpr (serializable<T>) {
        bytes const data = memory_->restart_from->read(id, memory_->restart->edition);
        try {
          return detail::unpacked<T>(data);
        } catch (wire_error const&) {
        }
        memory_->restart_from->damaged_task(id, "has another size than values of this program's type");
      } else {
        memory_->restart_from->reject("there is no value of " + name_of(id) + ", which cannot be saved");
      }
    }
  }
  void mix(std::uint64_t x) noexcept { hash_ = (hash_ ^ x) * 0x9e3779b97f4a7c15u ^ (hash_ >> 29); }
  std::uint32_t tasks() const noexcept { return tasks_; }

  /// Throws graph_error if the value would be taken twice.
  void take_once(std::uint32_t task) {
    if (taken_.size() <= task) taken_.resize(task + 1);
    if (taken_[task]) {
      throw graph_error{"the value of " + name_of(task) +
                        " would be taken twice; fix it by letting one of the tasks read it without heist::take."};
    }
    taken_[task] = true;
  }

  /// The value of a task of another rank, here.
  template <class T>
  task<T> receive(std::uint32_t id, int from) {
    if (auto const found = incoming_.find(id); found != incoming_.end())
      return local_access::handle<T>(local_, found->second.index);
    task<T> const made = local_access::add_node<incoming_node<T>, T>(local_, *this, id, from);
    local_access::data_of(local_).may_have_events = true;
    auto& node = static_cast<incoming_node<T>&>(*local_access::data_of(local_).nodes[task_access::index_of(made)]);
    incoming_.emplace(id, arrival{&node, task_access::index_of(made)});
    add_here(id, made);
    return made;
  }

  /// The value of a task here goes to that rank, too.
  template <class T>
  void send_to(int to, std::uint32_t id, task<T> const& here) {
    auto& ranks = sends_[id];
    if (ranks == nullptr) {
      ranks = std::make_unique<std::vector<int>>();
      task<> sender;
      if constexpr (detail::may_be_lent<T>()) {
        sender = local_access::add_node<sending_node, void>(local_, &send_in_place<T>, *this, id,
                                                            task_access::index_of(here), *ranks);
        local_access::data_of(local_).may_have_events = true;
        sending_.push_back(
            static_cast<sending_node*>(local_access::data_of(local_).nodes[task_access::index_of(sender)]));
      } else {
        sender = local_.emplace_always(
            [this, id, here, list = ranks.get()](heist::context c) { send<T>(id, here, *list, c.stop_requested()); });
      }
      add_here(no_task, sender);
      local_access::data_of(local_).add_edge(task_access::index_of(here), task_access::index_of(sender),
                                             !std::is_void_v<T>);
    }
    for (int const r : *ranks) {
      if (r == to) return;
    }
    ranks->push_back(to);
    ++crossings_;
  }
  std::size_t incoming_count() const noexcept { return incoming_.size(); }
  std::size_t crossing_count() const noexcept { return crossings_; }

  void name(std::uint32_t task, std::string text) { names_[task] = std::move(text); }
  std::string name_of(std::uint32_t task) const {
    auto const found = names_.find(task);
    std::string const number = "task #" + std::to_string(task);
    return found == names_.end() ? number : number + " '" + found->second + "'";
  }

 protected:
  /// Of a task here that has no number, and is urgent: other ranks wait for its effect.
  static constexpr std::uint32_t no_task = 0;

  /// Tells the local graph the ways of its tasks in the whole graph (README.md, "Order"), when it does not run.
  void find_ways() {
    if (!ways_are_old_) return;
    auto& local = local_access::data_of(local_);
    std::vector<std::uint32_t> ways = edges_.ways();
    ways[no_task] = std::numeric_limits<std::uint32_t>::max();
    auto known = heist::detail::make_unique<heist::detail::vector<std::uint32_t>>();
    for (auto const& [task, index] : here_) {
      if (known->size() <= index) known->resize(index + std::size_t{1}, 0);
      (*known)[index] = ways[task];
    }
    heist::detail::spin_guard const guard{local.lock};
    if (local.current != nullptr) return;
    local.known_ways = std::move(known);
    local.layout_valid = false;
    ways_are_old_ = false;
  }

  /// Lent values that other ranks, or one, have not received: a line each, with this end.
  std::string unsent(int by, std::string const& end) const {
    std::string text;
    for (sending_node const* const s : sending_) {
      for (int const rank : *s->to) {
        if (!s->word.is_claimed() || (by >= 0 && by != rank)) continue;
        text += "  for rank " + std::to_string(rank) + " to receive the value of " + name_of(s->id) + end;
      }
    }
    return text;
  }

  /// Difference of the graphs that the ranks have built; empty: they are equal.
  static bytes difference_of(std::vector<bytes> const& all) {
    using offer = std::tuple<std::uint64_t, std::uint32_t, std::string>;
    auto const first = detail::unpacked<offer>(all[0]);
    std::string text = std::get<2>(first);
    for (std::size_t r = 1; r < all.size() && text.empty(); ++r) {
      auto const other = detail::unpacked<offer>(all[r]);
      if (other == first) continue;
      text = "rank " + std::to_string(r) + " has built another graph than rank 0 (" +
             std::to_string(std::get<1>(other)) + " and " + std::to_string(std::get<1>(first)) +
             " tasks, or other places, values or edges); fix it by building the same graph on all ranks, from "
             "nothing that differs between them.";
    }
    return detail::packed(text);
  }

  struct arrival {
    incoming_part* part;
    std::uint32_t index;
  };

  ~graph_part() = default;
  void dispatch(int to, message&& m) const { detail::world_access::send(*world_, to, std::move(m)); }
  /// A value, or the news that there is none, goes to these ranks; called in a run.
  virtual void post(std::uint32_t id, bytes* value, std::vector<int> const& to) = 0;

  /// The run in progress, counted from 1.
  virtual std::uint32_t current_run() = 0;

  world* const world_;
  std::unique_ptr<graph_memory> memory_;  ///< null: it remembers nothing
  task_graph local_;
  std::unordered_map<std::uint32_t, arrival> incoming_;                         ///< by task
  std::unordered_map<std::uint32_t, std::unique_ptr<std::vector<int>>> sends_;  ///< by task: ranks
  std::unordered_map<std::uint32_t, std::string> names_;
  std::vector<sending_node*> sending_;                         ///< of large values
  edge_list edges_;                                            ///< of all ranks' tasks
  std::vector<std::pair<std::uint32_t, std::uint32_t>> here_;  ///< task, or no_task, and index in the local graph
  std::vector<bool> taken_;
  std::uint32_t tasks_ = 0;
  std::uint64_t hash_ = 0;
  std::size_t crossings_ = 0;
  bool agreed_ = false;  ///< the ranks know that they have built the same
  bool ways_are_old_ = false;

 private:
  [[noreturn]] void reject_rank(int on) const {
    throw graph_error{"a task is placed on rank " + std::to_string(on) + " of a world of " +
                      std::to_string(world_->size()) + " ranks; fix it by a rank from 0 to world.size() - 1."};
  }

  /// Adds a task that writes what a task leaves. Nothing is written in a run that is interrupted.
  template <class T>
  static void add_saver(graph_part& graph, own_task const& of) {
    task<T> const here = local_access::handle<T>(graph.local_, of.index);
    auto const saver = graph.local_.emplace_always([me = &graph, here, id = of.id](heist::context c) {
      if (!c.stop_requested()) me->save_value<T>(id, here);
    });
    graph.add_here(of.id, saver);  // as urgent as the task
    local_access::data_of(graph.local_).add_edge(of.index, task_access::index_of(saver), !std::is_void_v<T>);
  }
  template <class T>
  void save_value(std::uint32_t id, task<T> const& here) {
    saved_values::head h = memory_->of_files;
    h.task = id;
    h.run += current_run();
    if constexpr (std::is_void_v<T>) {
      memory_->files->write(h, {});
    } else if (task_access::value_of(here).full()) {
      memory_->files->write(h, detail::packed<T>(task_access::value_of(here).get()));
    }
  }

  /// Sends a large value from where it stands. The memory stays as it is until then. Where silence may end a run, values
  /// are copied, because such a run could not take the memory back.
  template <class T>
  static bool send_in_place(sending_node& self, bool interrupted) {
    graph_part& graph = *self.graph;
    task<T> const here = local_access::handle<T>(graph.local_, self.here);
    if (!interrupted && task_access::value_of(here).full() &&
        !detail::world_access::options_of(*graph.world_).silence_ends) {
      if (auto const found = detail::plain_bytes(task_access::value_of(here).get()); found.size() > small_value) {
        std::shared_ptr<sending_node::loan> until_sent;
        try {
          until_sent = std::make_shared<sending_node::loan>(self);
        } catch (...) {
          graph.post(self.id, nullptr, *self.to);
          throw;
        }
        bytes data{until_sent, const_cast<char*>(found.data()), found.size(), true};  // which only read it
        until_sent.reset();
        graph.post(self.id, &data, *self.to);
        return true;
      }
    }
    graph.send<T>(self.id, here, *self.to, interrupted);
    return false;
  }

  /// The task that follows each whose value is taken elsewhere. It runs in an interrupted run, too.
  template <class T>
  void send(std::uint32_t id, task<T> const& here, std::vector<int> const& to, bool interrupted) {
    bytes data;
    bool there = false;
    std::exception_ptr failed;
    if (!interrupted) {
      if constexpr (std::is_void_v<T>) {
        there = true;
      } else if (task_access::value_of(here).full()) {
        try {
          data = detail::packed<T>(task_access::value_of(here).get());
          there = true;
        } catch (...) {
          failed = heist::detail::exception_of_task();
        }
      }
    }
    post(id, there ? &data : nullptr, to);
    if (failed) std::rethrow_exception(failed);
  }
};

inline void used_up(incoming_part& part, std::size_t size) {
  detail::world_access::used_up(part.graph->of(), part.from, part.come.head.graph, size);
}

}  // namespace heist::distributed
