// Values of tasks in files, so that a graph can be restarted by another program.
#pragma once

#include <algorithm>  // max
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>  // move, pair
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/distributed/bytes.hpp"
#include "heist/distributed/saved_file.hpp"
#include "heist/distributed/shape.hpp"
#include "heist/distributed/wire.hpp"

namespace heist::distributed {

/// A folder of files, which all ranks see. The file `graph` says which graph was saved. task-N has the value of task N.
/// written-R lists the tasks whose values rank R has written.
///
/// Threads  write() by any.
class saved_values {
 public:
  using head = saved_head;
  struct description {
    graph_shape shape;
    head of;
  };

  /// The folder keeps its meaning if the program changes its working directory. Throws graph_error for an empty name.
  explicit saved_values(std::string const& folder, int rank = 0) : folder_{folder}, rank_{rank} {
    if (folder.empty()) {
      throw graph_error{
          "the folder for the values of a distributed graph has no name; fix it by the name of a folder that all ranks "
          "can read and write."};
    }
    std::error_code error;
    auto const whole = std::filesystem::absolute(folder, error);
    if (!error) folder_ = whole.string();
  }
  std::string const& folder() const noexcept { return folder_; }
  /// True if both are one folder, under whatever names.
  bool is_same(saved_values const& other) const {
    std::error_code error;
    return folder_ == other.folder_ || std::filesystem::equivalent(folder_, other.folder_, error);
  }

  /// Throws graph_error if it cannot.
  void write(head const& h, bytes const& value) {
    if (auto const failed = saved_file::write(path(h.task), h, value); !failed.empty()) reject(failed);
    if (h.task != 0) list(h);
  }
  /// The tasks whose values were written in this edition, by number up to `most`.
  std::vector<bool> listed(std::uint64_t edition, std::uint32_t most) const {
    std::vector<bool> found(most + std::size_t{1});
    for_each_list([&](std::filesystem::path const& file) {
      saved_list::read(file, [&](std::uint64_t of, std::uint64_t task) {
        if (of == edition && task <= most) found[task] = true;
      });
    });
    return found;
  }
  /// Before the first value of an edition is written.
  void remove_lists() const {
    std::error_code error;
    for_each_list([&](std::filesystem::path const& file) { std::filesystem::remove(file, error); });
  }
  /// The head of a task's file; its value is not checked.
  saved_file look(std::uint32_t task) const { return saved_file::look(path(task), task); }
  /// The value of a task that this edition has saved. Throws graph_error if it cannot be read or differs from the saved
  /// value.
  bytes read(std::uint32_t task, std::uint64_t edition) const {
    bytes value;
    auto const found = saved_file::look(path(task), task, &value);
    if (!found.is_present) reject("cannot read " + path(task) + " (any more)");
    if (!found.damage.empty()) damaged_task(task, found.damage);
    if (found.head.edition != edition) damaged_task(task, foreign);
    return value;
  }

  /// Makes the folder, and says of which graph it is. Throws graph_error if it cannot.
  void to_text(graph_shape const& s, head const& h) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    std::vector<std::uint8_t> places;
    for (auto const p : s.places) places.push_back(static_cast<std::uint8_t>(p));
    write(h, detail::packed(std::tuple{s.ranks, places, s.first, s.inputs, s.orders}));
  }
  /// Throws graph_error if the folder does not say which graph was saved there.
  description described() const {
    bytes text;
    auto const file = saved_file::look(path(0), 0, &text);
    if (!file.is_present) {
      throw graph_error{"nothing in " + folder_ + " says which distributed graph was saved there: there is no file " +
                        path(0) + "; fix it by the folder that was given to save()."};
    }
    if (!file.damage.empty()) damaged_graph(file.damage);
    using parts = std::tuple<std::vector<std::int32_t>, std::vector<std::uint8_t>, std::vector<std::uint32_t>,
                             std::vector<std::uint32_t>, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;
    try {
      auto [ranks, places, first, inputs, orders] = detail::unpacked<parts>(text);
      description found{{std::move(ranks), {}, std::move(first), std::move(inputs), std::move(orders)}, file.head};
      for (auto const p : places) found.shape.places.push_back(static_cast<task_place>(p));
      if (found.shape.is_sound()) return found;
    } catch (wire_error const&) {
    }
    damaged_graph("describes no graph");
  }

  /// `count`: how many files there cannot be taken.
  [[noreturn]] void damaged_task(std::uint32_t task, std::string const& how, std::size_t count = 1) const {
    std::string const all = count == 1 ? "" : " (files there that cannot be taken: " + std::to_string(count) + ")";
    throw graph_error{"the saved value " + path(task) + " " + how + all +
                      "; fix it by removing the file, so that its task runs again, or by restoring a copy of it."};
  }
  [[noreturn]] void reject(std::string const& what) const {
    throw graph_error{what +
                      ", where the values of a distributed graph are kept; fix it by a folder that all ranks can "
                      "read and write, on a disk with room."};
  }
  static constexpr char const* foreign = "was saved by another program or in another folder";

  std::string path(std::uint32_t task) const {
    return (std::filesystem::path{folder_} / (task == 0 ? "graph" : "task-" + std::to_string(task))).string();
  }

 private:
  static constexpr char const* list_name = "written-";

  /// Once for each task, after its file is there. So a listed task without a file has lost it.
  void list(head const& h) {
    std::lock_guard const guard{lock_};
    if (listed_.size() <= h.task) listed_.resize(h.task + std::size_t{1});
    if (listed_[h.task]) return;
    listed_[h.task] = true;
    auto const file = std::filesystem::path{folder_} / (list_name + std::to_string(rank_));
    if (!saved_list::add(file, h.edition, h.task)) reject("cannot write " + file.string());
  }
  template <class F>
  void for_each_list(F f) const {
    std::error_code error;
    for (std::filesystem::directory_iterator at{folder_, error}, end; !error && at != end; at.increment(error)) {
      if (at->path().filename().string().starts_with(list_name)) f(at->path());
    }
  }
  [[noreturn]] void damaged_graph(std::string const& how) const {
    throw graph_error{
        "the description of a saved graph " + path(0) + " " + how +
        "; fix it by restoring a copy of that file, or by starting without distributed_options::restart."};
  }

  std::string folder_;
  int rank_;
  std::mutex lock_;           // guards the rest, and the list's file
  std::vector<bool> listed_;  ///< by task
};

/// A number for a save(), larger than all earlier ones: nanoseconds since 1970, or one more than `before`.
inline std::uint64_t next_edition(std::uint64_t before) {
  auto const now = std::chrono::system_clock::now().time_since_epoch();
  return std::max(before + 1,
                  static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()));
}

/// Of a restart, the same on all ranks: what becomes of each task, and of which edition and run its values are.
struct restart_plan {
  std::vector<saved_state> states;  ///< by number
  std::uint64_t form = 0, edition = 0;
  std::uint32_t tasks = 0, run = 0;
  std::string note;  ///< on the rank that has looked: which files are missing; empty: none
};

/// By one rank. Files of earlier editions are left from earlier programs, and do not count. Throws graph_error if there
/// is nothing to restart from, or if a file cannot be taken.
inline restart_plan plan_restart(saved_values const& from) {
  auto const known = from.described();
  std::uint32_t const n = known.shape.tasks();
  std::vector<std::uint32_t> runs(n + 1);
  restart_plan plan{{}, known.of.form, known.of.edition, n, 0, {}};
  auto const listed = from.listed(plan.edition, n);
  std::uint32_t damaged = 0, missing = 0;
  std::size_t count = 0, count_missing = 0;
  std::string how;
  for (std::uint32_t t = 1; t <= n; ++t) {
    saved_file file = from.look(t);
    if (!file.is_present && listed[t] && count_missing++ == 0) missing = t;
    if (!file.is_present || (file.is_whole() && file.head.edition < plan.edition)) continue;
    bool const is_ours = file.head.edition == plan.edition && file.head.form == plan.form && file.head.run != 0;
    if (file.is_whole() && !is_ours) file.damage = saved_values::foreign;
    if (file.is_whole()) {
      plan.run = std::max(plan.run, runs[t] = file.head.run);
    } else if (count++ == 0) {
      damaged = t;
      how = std::move(file.damage);
    }
  }
  if (count != 0) from.damaged_task(damaged, how, count);
  if (count_missing != 0) {
    std::string const all =
        count_missing == 1 ? "" : " (files that are missing there: " + std::to_string(count_missing) + ")";
    plan.note = "heist: the saved value " + from.path(missing) +
                " is missing, so its task runs again if its value is needed" + all + "\n";
  }
  std::vector<bool> saved(n + 1);
  for (std::uint32_t t = 1; t <= n; ++t) saved[t] = plan.run != 0 && runs[t] == plan.run;
  plan.states = left_to_do(known.shape, saved);
  return plan;
}

}  // namespace heist::distributed
