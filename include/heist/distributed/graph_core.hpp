// A distributed graph on one rank: its part of the graph, its runs, and its messages to the other ranks.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heist/core/scheduler/wait.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/distributed/agreement.hpp"
#include "heist/distributed/errors.hpp"
#include "heist/distributed/graph_part.hpp"
#include "heist/distributed/placement_history.hpp"
#include "heist/distributed/run_record.hpp"
#include "heist/distributed/world.hpp"
#include "heist/graph/task_graph.hpp"

namespace heist::distributed {

/// Protocol of a run. Each rank runs its own part as an ordinary task graph. A rank sends a value once to each other
/// rank that takes it. If an interrupt leaves no value, the rank sends a message that says so: exactly one message
/// comes for each incoming value. An interrupted run waits for them, too. The rank that is interrupted first tells all
/// other ranks. When its part has ended a rank reports to rank 0. Rank 0 tells all ranks when all parts have ended:
/// that is the end of the run. Runs of a rank come one after the other; messages for a later run are kept.
class graph_core final : public port,
                         public graph_part,
                         public agreement<world>,
                         public std::enable_shared_from_this<graph_core> {
 public:
  explicit graph_core(world& w) : graph_part{w}, agreement<world>{0} { doing_ = "build the same graph"; }

  static std::shared_ptr<graph_core> make(world& w) {
    auto const made = std::make_shared<graph_core>(w);
    made->add_here(no_task, made->local_.emplace_always([core = made.get()] { core->opened(); }));
    auto& data = local_access::data_of(made->local_);
    data.on_failure.tell = [](void* to) { static_cast<graph_core*>(to)->failed_here(); };
    data.on_failure.to = made.get();
    std::uint32_t const number = detail::world_access::add(w, made);
    made->number_ = number;
    made->set_port(number);
    return made;
  }

  /// Waits for the runs.
  void close() noexcept {
    for (;;) {
      std::shared_ptr<run_record> last;
      {
        std::lock_guard const guard{lock_};
        if (!runs_.empty()) last = runs_.rbegin()->second;
      }
      if (last == nullptr) break;
      try {
        heist::detail::wait_to_the_end(last->over, last->generation, {"a run of a distributed graph"});
      } catch (executor_error const&) {  // a child of fork()
        break;
      }
    }
    local_ = task_graph{};
    detail::world_access::remove(*world_, number_);
  }

  // ---- running ----

  std::shared_ptr<run_record> start(heist::detail::core& scheduler, std::stop_token token) {
    agree_on_graph();
    find_ways();
    if (memory_ != nullptr) memory_->workers = scheduler.worker_count;
    auto const run = std::make_shared<run_record>();
    run->generation = scheduler.generation();
    {
      std::lock_guard const guard{lock_};
      run->number = ++last_run_;
      runs_[run->number] = run;
      if (auto const early = early_interrupts_.find(run->number); early != early_interrupts_.end()) {
        run->told = run->wanted = true;
        run->stop_known = early->second;
        early_interrupts_.erase(early);
      }
    }
    detail::world_access::listens(*world_);
    graph_run made;
    try {
      made = heist::detail::start_access::run(local_, scheduler, std::size_t{1},
                                              [self = this, run] { self->local_end(*run); });
    } catch (...) {
      fail_at_start(*run, detail::text_of(std::current_exception()));
      throw;
    }
    bool wanted = false;
    {
      std::lock_guard const guard{lock_};
      run->local = std::move(made);
      wanted = run->wanted;
    }
    if (wanted) run->local.request_stop();
    if (token.stop_possible()) {
      run->stop.emplace(std::move(token), [self = weak_from_this(), weak = std::weak_ptr{run}] {
        auto const core = self.lock();
        auto const to_stop = weak.lock();
        if (core != nullptr && to_stop != nullptr) core->request_stop(*to_stop);
      });
    }
    return run;
  }

  void request_stop(run_record& run) {
    {
      std::lock_guard const guard{lock_};
      if (run.over.is_ready()) return;
      run.stop_known = true;
      tell_interrupt(run, true);
      if (!run.local.valid()) {
        run.wanted = true;
        return;
      }
    }
    run.local.request_stop();
  }

  static void wait(run_record& run) {
    heist::detail::wait_for(run.over, run.generation, {"a run of a distributed graph"});
  }

  // ---- what it remembers ----

  /// Collective, while it has no tasks. `folder`: to restart from; empty: none.
  void remember(std::string const& folder, std::vector<std::int32_t> ranks, std::uint64_t form) {
    memory_ = std::make_unique<graph_memory>();
    memory_->ranks = std::move(ranks);
    memory_->measured_form = form;
    if (folder.empty()) return;
    memory_->restart_from = std::make_shared<saved_values>(folder);
    memory_->restart = restart_of_all(*this, *memory_->restart_from);
  }
  /// Collective, between runs. `cut`: numbers of tasks; empty: all.
  void save(std::string const& folder, std::vector<std::uint32_t> const& cut) {
    save_on_all(*this, remembered(), folder, cut);
    agreed_ = false;  // the tasks that save have ways, too
  }
  graph_memory& remembered() {
    if (memory_ == nullptr) {
      throw graph_error{
          "a distributed graph that remembers nothing cannot be saved or measured; fix it by making it with "
          "heist::distributed_options{.remember = true}."};
    }
    return *memory_;
  }
  /// Collective: rank 0 combines the offers of all ranks. Returns the result.
  bytes all_agree(char const* doing, bytes const& mine,
                  std::function<bytes(std::vector<bytes> const&)> const& combine) {
    doing_ = doing;
    return agree(*world_, mine, combine);
  }

  // ---- messages ----

  void take(int from, message&& m) override {
    switch (m.head.kind) {
      case message_kind::offer:
      case message_kind::answer:
        return take_part(from, std::move(m));
      case message_kind::ended: {
        std::lock_guard const guard{lock_};
        return part_ended(m.head.run, from, detail::unpacked<part_report>(m.data));
      }
      case message_kind::decision: {
        std::lock_guard const guard{lock_};
        return evaluate(m.head.run, detail::unpacked<decision_report>(m.data));
      }
      case message_kind::interrupt:
        return interrupted_there(m.head.run, m.head.task != 0);
      default:
        return value_came(from, std::move(m));
    }
  }

  /// In the run in progress a large value comes to memory of its own. Values that are early are unpacked later.
  message prepare(message_head const& head, std::size_t size) override {
    incoming_part::prepare_memory how = nullptr;
    {
      std::lock_guard const guard{lock_};
      if (size > small_value && head.run == open_run_) how = incoming_.at(head.task).part->prepare;
    }
    try {
      if (how != nullptr) return how(head, size);
    } catch (...) {  // the worker meets it again, where it ends the run
    }
    return port::prepare(head, size);
  }

  std::string awaited(bool give_up, int from) override {
    std::string text = missing(give_up, rank(), from);
    std::string const late = "nothing has come for too long; rank " + std::to_string(rank()) + " waited\n";
    std::vector<incoming_part*> in_vain;
    {
      std::lock_guard const guard{lock_};
      for (auto at = runs_.begin(); at != runs_.end();) {
        run_record& run = *at->second;
        ++at;  // giving the run up takes it out of the list
        std::string here;
        if (run.number == open_run_) {
          for (auto const& [id, a] : incoming_) {
            if (a.part->word.full() || (from >= 0 && from != a.part->from) || (give_up && !a.part->claim())) continue;
            here += "  for the value of " + name_of(id) + ", from rank " + std::to_string(a.part->from) + where(run);
            if (give_up) in_vain.push_back(a.part);
          }
          if (give_up && !here.empty()) run.given_up = late + here;
          here += unsent(from, where(run));
        } else if (run.number <= ended_here_ &&
                   (from < 0 || (rank() == 0 ? !parts_[run.number].contains(from) : from == 0))) {
          here = "  for the end of " +
                 (rank() == 0 ? "the part of" + silent_ranks(run.number) : "all parts, from rank 0,") + where(run);
          if (give_up) {
            out_of_step_ = true;
            evaluate(run.number, {rank(), false, late + here});
          }
        }
        text += here;
      }
    }
    for (incoming_part* const part : in_vain) part->receive({{.kind = message_kind::none}, {}});
    return text;
  }

 private:
  /// Collective, before the first run of a graph and after changes.
  void agree_on_graph() {
    if (out_of_step_) {
      throw graph_error{
          "the ranks of this graph are out of step, because messages did not come in an earlier run; fix it by a new "
          "graph, and by world_options::silence being longer than any task."};
    }
    if (agreed_) return;
    doing_ = "build the same graph";
    auto const mine = std::tuple{hash_, tasks_, memory_ == nullptr ? std::string{} : memory_->difference()};
    auto const answer = agree(*world_, detail::packed(mine), &difference_of);
    if (auto const text = detail::unpacked<std::string>(answer); !text.empty()) throw graph_error{text};
    agreed_ = true;
    ways_are_old_ = crossings_ != 0 || !incoming_.empty();
  }

  /// The first step of a run on this rank: brings the messages that came early for it.
  void opened() {
    std::vector<message> early;
    {
      std::lock_guard const guard{lock_};
      open_run_ = ended_here_ + 1;
      if (auto const found = early_values_.find(open_run_); found != early_values_.end()) {
        early = std::move(found->second);
        early_values_.erase(found);
      }
    }
    for (message& m : early) {
      incoming_part& part = *incoming_.at(m.head.task).part;
      if (part.claim()) {
        part.receive(std::move(m));
      } else {
        too_late(part.from, m);
      }
    }
  }

  void value_came(int from, message&& m) {
    incoming_part* part = nullptr;
    {
      std::lock_guard const guard{lock_};
      if (m.head.run > ended_here_ && m.head.run != open_run_) {
        early_values_[m.head.run].push_back(std::move(m));
        return;
      }
      // Claimed under the lock: a thread that gives the value up could let the run end, and the graph go, before
      // bring().
      if (m.head.run > ended_here_) part = incoming_.at(m.head.task).part;
      if (part == nullptr || !part->claim()) return too_late(from, m);
    }
    part->receive(std::move(m));
  }
  /// The value was given up before it came.
  void too_late(int from, message const& m) {
    if (m.head.kind == message_kind::value) detail::world_access::used_up(*world_, from, m.head.graph, m.data.size());
  }

  std::uint32_t current_run() override {
    std::lock_guard const guard{lock_};
    return ended_here_ + 1;
  }

  void post(std::uint32_t id, bytes* value, std::vector<int> const& to) override {
    message_head head{
        .kind = value != nullptr ? message_kind::value : message_kind::none, .graph = number_, .task = id};
    head.run = current_run();
    std::exception_ptr failed;
    for (int const rank : to) {
      try {
        if (value != nullptr) {
          detail::world_access::send_value(*world_, rank, head, *value);
          continue;
        }
      } catch (...) {  // no memory; but a message has to come
        failed = std::current_exception();
      }
      dispatch(rank, {{.kind = message_kind::none, .graph = number_, .run = head.run, .task = id}, {}});
    }
    if (failed) std::rethrow_exception(failed);
  }

  /// The part of this rank cannot run, and the other ranks may have begun.
  void fail_at_start(run_record& run, std::string const& text) {
    std::shared_ptr<run_record> before;
    {
      std::lock_guard const guard{lock_};
      if (auto const found = runs_.find(run.number - 1); found != runs_.end()) before = found->second;
    }
    if (before != nullptr)
      heist::detail::wait_to_the_end(before->over, before->generation, {"a run of a distributed graph"});
    for (auto const& [id, ranks] : sends_) {
      for (int const to : *ranks)
        dispatch(to, {{.kind = message_kind::none, .graph = number_, .run = run.number, .task = id}, {}});
    }
    std::vector<message> early;
    {
      std::lock_guard const guard{lock_};
      if (auto const found = early_values_.find(run.number); found != early_values_.end()) {
        early = std::move(found->second);
        early_values_.erase(found);
      }
      tell_interrupt(run, false);
      ended_here_ = run.number;
      tell_end(run, true, text);
    }
    for (message const& m : early) too_late(incoming_.at(m.head.task).part->from, m);
  }

  /// Called by a task of the run in progress.
  void failed_here() {
    std::lock_guard const guard{lock_};
    if (auto const run = runs_.find(ended_here_ + 1); run != runs_.end()) tell_interrupt(*run->second, false);
  }
  /// Under the lock. Tells also whether the run is stopped: this rank's part may have been reported before.
  void tell_interrupt(run_record& run, bool stopped) {
    if (std::exchange(run.told, true)) return;
    message_head const head{
        .kind = message_kind::interrupt, .graph = number_, .run = run.number, .task = stopped ? 1u : 0u};
    for (int to = 0; to < world_->size(); ++to) {
      if (to != rank()) dispatch(to, {head, {}});
    }
  }
  void interrupted_there(std::uint32_t number, bool stopped) {
    std::shared_ptr<run_record> run;
    {
      std::lock_guard const guard{lock_};
      if (number <= ended_here_) return;
      auto const found = runs_.find(number);
      if (found == runs_.end()) {
        early_interrupts_.emplace(number, stopped);
        return;
      }
      run = found->second;
      run->told = true;
      run->stop_known = run->stop_known || stopped;
      if (!run->local.valid()) {
        run->wanted = true;
        return;
      }
    }
    run->local.request_stop();
  }

  /// This rank's part has ended: called as a callback of its run.
  void local_end(run_record& run) {
    auto const& state = *local_access::data_of(local_).current;
    bool const failed = state.exception != nullptr;
    std::string const text = failed ? detail::text_of(state.exception) : std::string{};
    std::lock_guard const guard{lock_};
    ended_here_ = run.number;
    open_run_ = 0;
    if (!failed && !run.given_up.empty()) return tell_end(run, true, run.given_up);
    tell_end(run, failed, text);
  }
  /// Under the lock, as what follows.
  void tell_end(run_record& run, bool failed, std::string const& text) {
    part_report const report{failed, run.stop_known, text};
    if (rank() == 0) return part_ended(run.number, 0, report);
    dispatch(0, {{.kind = message_kind::ended, .graph = number_, .run = run.number}, detail::packed(report)});
  }
  /// On rank 0.
  void part_ended(std::uint32_t number, int from, part_report const& report) {
    auto& parts = parts_[number];
    parts[from] = report;
    if (parts.size() != static_cast<std::size_t>(world_->size())) return;
    decision_report decision{-1, false, {}};
    for (auto const& [rank, part] : parts) {
      std::get<1>(decision) = std::get<1>(decision) || std::get<1>(part);
      if (std::get<0>(part) && std::get<0>(decision) < 0) {
        std::get<0>(decision) = rank;
        std::get<2>(decision) = std::get<2>(part);
      }
    }
    parts_.erase(number);
    auto const data = detail::packed(decision);
    for (int to = 1; to < world_->size(); ++to)
      dispatch(to, {{.kind = message_kind::decision, .graph = number_, .run = number}, data});
    evaluate(number, decision);
  }
  void evaluate(std::uint32_t number, decision_report const& decision) {
    auto const found = runs_.find(number);
    if (found == runs_.end()) return;
    auto const run = found->second;
    runs_.erase(found);
    std::tie(run->failed_on, run->stopped, run->text) = decision;
    detail::world_access::done_listening(*world_);
    run->over.complete();
  }

  std::string where(run_record const& run) const {
    return " (run " + std::to_string(run.number) + " of graph " + std::to_string(number_) + ")\n";
  }
  std::string silent_ranks(std::uint32_t run) {
    std::string text;
    for (int r = 0; r < world_->size(); ++r) {
      if (!parts_[run].contains(r)) text += " rank " + std::to_string(r);
    }
    return text;
  }

  std::uint32_t number_ = 0;
  // Running.
  std::mutex lock_;                                            // guards the rest, and the runs' fields but for `over`
  std::map<std::uint32_t, std::shared_ptr<run_record>> runs_;  ///< without a verdict
  std::uint32_t last_run_ = 0;
  std::uint32_t ended_here_ = 0;  ///< runs whose part here has ended; the next one is in progress or in line
  std::uint32_t open_run_ = 0;    ///< the one that takes values; 0: none
  std::map<std::uint32_t, std::vector<message>> early_values_;
  std::map<std::uint32_t, bool> early_interrupts_;             ///< by run: was it stopped?
  std::map<std::uint32_t, std::map<int, part_report>> parts_;  ///< rank 0: the parts that have ended
  bool out_of_step_ = false;
};

}  // namespace heist::distributed
