// A heist::executor as a subject of the fuzzer.
#pragma once

#include <algorithm>  // any_of
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>  // move
#include <vector>

#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/topology.hpp>

#include "fuzz/differential/subject.hpp"
#include "fuzz/differential/walks.hpp"

namespace heist_fuzz {

/// A task that another thread gives to an executor, counted.
struct counted_task {
  std::atomic<std::uint64_t>* n;
  void operator()() const { n->fetch_add(1, std::memory_order_relaxed); }
};

/// Handles of runs that are asked again when their graph and their executor are gone.
class kept_handles {
 public:
  kept_handles() = default;
  kept_handles(kept_handles const&) = delete;
  kept_handles& operator=(kept_handles const&) = delete;
  ~kept_handles() {
    for (auto const& k : all_) {
      if (!k.run.is_ready() || k.run.stopped() != k.stopped || delivered_by(k.run) != k.delivered)
        ++heist_test::wrong_handles;
    }
  }
  /// Keeps it, and rethrows its exception.
  void keep(heist::graph_run run) {
    bool const stopped = run.stopped();
    std::uint32_t const delivered = delivered_by(run);
    all_.push_back({std::move(run), stopped, delivered});
    if (!stopped || delivered != heist_test::no_node) all_.back().run.get();
  }

 private:
  static std::uint32_t delivered_by(heist::graph_run const& run) {
    try {
      run.get();
    } catch (heist_test::program_failure const& e) {
      return e.node;
    } catch (heist::stopped_error const&) {  // nothing else was thrown
      if (!run.stopped()) throw;
    }
    return heist_test::no_node;
  }

  struct kept {
    heist::graph_run run;
    bool stopped;
    std::uint32_t delivered;
  };
  std::vector<kept> all_;
};

/// `Context`: the context of a program's root in the cases that do not ask for heist::context.
template <class Policy, class Context = typename heist::executor<Policy>::context_type>
class executor_subject final : public subject {
  using executor = heist::executor<Policy>;
  static constexpr bool records = Policy::order_type::value == heist::fork_order::recorded;

 public:
  explicit executor_subject(setting const& where) : executor_{options_of(where)} { heist_test::start_remote(); }

  void begin(fuzz_case const& c, program_memory& m) override {
    case_ = &c;
    memory_ = &m;
    m.workers = static_cast<std::uint32_t>(executor_.worker_count());
    m.squads = static_cast<std::uint32_t>(executor_.squad_count());
    m.wait_here = &wait_here_;
    repeated_ = false;
    extra_ = {};
    if (c.program.is_graph())
      graph_ = make_tasks<heist::context>(m, 0, true);
    else if (c.in_region)
      make_region();
  }

  heist_test::program_outcome run(std::uint32_t round, std::uint32_t passes) override {
    heist_test::program_outcome o;
    {
      client const beside{*this, o};
      try {
        if (case_->program.is_graph()) {
          run_graph(passes, o);
        } else {
          if (case_->in_region) prepare_region(round);
          o.value = case_->any_context ? run_tree<heist::context>(executor_, region_.get(), *memory_)
                                       : run_tree<Context>(executor_, region_.get(), *memory_);
        }
      } catch (heist_test::program_failure const& e) {
        o.delivered = e.node;
      } catch (std::exception const& e) {
        o.threw_other = true;
        o.text = e.what();
      }
    }
    return o;
  }

  void end() override {
    graph_.reset();
    region_.reset();
  }
  bool repeated() const override { return repeated_ && region_->explain().empty(); }
  std::string state_text() const override { return executor_.state_text(); }

 private:
  static heist::options options_of(setting const& where) {
    heist::options o{.workers = where.workers, .stack_size = std::size_t{2} << 20};
    described_machine const& machine = all_machines()[where.machine];
    if (*machine.text != '\0') {
      o.machine = heist::topology::parse(machine.text);
      o.squads = heist::squad_by::package;
      o.squad_pus = machine.squads;
    }
    return o;
  }

  static void wrong(heist_test::program_outcome& o, char const* what) {
    o.threw_other = true;
    o.text = what;
  }

  /// Another thread, which keeps tasks under way as long as it lives, and counts them.
  class client {
   public:
    client(executor_subject& s, heist_test::program_outcome& o) : subject_{s}, outcome_{o} {
      if (s.case_->clients != 0) thread_ = std::thread{[this] { run(); }};
    }
    client(client const&) = delete;
    client& operator=(client const&) = delete;
    ~client() {
      if (!thread_.joinable()) return;
      over_ = true;
      thread_.join();
      if (ran_ != sent_) wrong(outcome_, "a task of another thread was lost");
    }

   private:
    void run() {
      std::deque<heist::future<void>> under_way;
      do {
        under_way.push_back(subject_.executor_.submit(counted_task{&ran_}));
        ++sent_;
        if (under_way.size() < subject_.case_->clients) continue;
        under_way.front().wait();
        under_way.pop_front();
      } while (!over_);
      for (auto const& f : under_way) f.wait();
    }

    executor_subject& subject_;
    heist_test::program_outcome& outcome_;
    std::atomic<bool> over_{false};
    std::atomic<std::uint64_t> ran_{0};
    std::uint64_t sent_ = 0;
    std::thread thread_;
  };

  /// Memory of the root, which is no task, is written here.
  void run_graph(std::uint32_t passes, heist_test::program_outcome& o) {
    heist_test::program_cell& root = memory_->cells[0];
    bool const whole = !(memory_->armed && case_->program.has(heist_test::all_throws | heist_test::stops));
    o.more = whole && case_->after == graph_end::again ? 1 : 0;
    root.start_time = passes + o.more;
    if (graph_ == nullptr) graph_ = make_tasks<heist::context>(*memory_, 0, true);
    auto running = std::make_unique<heist::task_graph>(std::move(graph_->graph));
    heist::graph_run run, second;
    auto const at_end = [&] {
      if (o.more != 0) second = executor_.run(*running);
      if (case_->after == graph_end::destroys) running.reset();
      if (case_->after == graph_end::assigns) *running = heist::task_graph{};
    };
    if (case_->after == graph_end::stays || case_->after == graph_end::edits) {
      run = executor_.run_n(*running, passes, heist::with{.stop = memory_->stop.get_token()});
    } else {
      run = executor_.run_n(*running, passes, heist::with{.stop = memory_->stop.get_token()}, at_end);
    }
    run.wait();
    o.stopped = run.stopped();
    if (o.more != 0) second.get();
    if (case_->after == graph_end::destroys || case_->after == graph_end::assigns) {
      graph_.reset();
    } else {
      graph_->graph = std::move(*running);
      if (case_->after == graph_end::edits) edit(passes, whole, o);
    }
    root.failed = passes + o.more;
    try {
      if (case_->keeps) handles_.keep(std::move(run));
      if (run.valid()) run.get();
    } catch (heist_test::program_failure const& e) {
      // With the handle still there: the last owner may be a worker, and ThreadSanitizer does not see how libstdc++
      // counts.
      o.delivered = e.node;
      return;
    } catch (heist::stopped_error const&) {  // a task has stopped it, and none has thrown
      if (!memory_->stop.stop_requested()) throw;
    }
    root.ended = passes + o.more;
    root.failed = 0;
  }

  /// Erases the task that was added after the run before, and adds another one; each has run as often as it was to.
  void edit(std::uint32_t passes, bool whole, heist_test::program_outcome& o) {
    heist::task_graph& g = graph_->graph;
    if (extra_.valid()) {
      if (whole ? extra_ran_ != passes : extra_ran_ > 1) wrong(o, "a task that was added ran too seldom or too often");
      g.erase(extra_);
    }
    extra_ran_ = 0;
    heist::task<> first;
    g.for_each_task([&](heist::task<> t) {
      if (!first.valid()) first = t;
    });
    extra_ = g.emplace([this] { ++extra_ran_; });
    if (first.valid()) extra_.succeed(first);
  }

  template <class Given>
  static std::uint64_t run_tree(executor& ex, heist::region* r, program_memory& m) {
    struct body {
      program_memory* m;
      std::uint64_t operator()(Given c) const { return visit_root<Given>(*m, c); }
    };
    if (r == nullptr) return ex.invoke(heist::with{.stop = m.stop.get_token()}, body{&m});
    struct body_of_region {
      program_memory* m;
      heist::region* r;
      std::uint64_t operator()(Given c) const { return c.invoke(*r, body{m}); }
    };
    return ex.invoke(heist::with{.stop = m.stop.get_token()}, body_of_region{&m, r});
  }

  void make_region() {
    heist::region_options wanted{.branching = 2, .bytes = std::size_t{1} << 20};
    if (case_->level >= 0) wanted.boundary_level = static_cast<std::uint32_t>(case_->level);
    wanted.tiers_by_hand = case_->tiers_by_hand;
    region_ = std::make_unique<heist::region>(wanted);
    if constexpr (records) {
      switch (case_->follow) {
        case schedule::donor:
          follow(tree_of(executor_, case_->donor));
          break;
        case schedule::other_workers: {
          executor others{heist::options{.workers = case_->other}};
          follow(tree_of(others, case_->program));
          break;
        }
        case schedule::invented:
          follow(invented_tree());
          break;
        case schedule::by_hand:
          region_->follow_designations();
          break;
        case schedule::adapts:
          region_->adapt({.prune_percent = static_cast<int>(case_->prune), .least_relaxed = 1, .most_relaxed = 2});
          break;
        default:
          break;
      }
    }
  }

  void prepare_region(std::uint32_t round) {
    if constexpr (records) {
      if (round != 1 || case_->follow != schedule::own) return;
      repeated_ = follow(region_->tree()) && case_->prune == 0 &&
                  case_->mode != static_cast<std::uint32_t>(heist::replay_mode::relaxed);
    } else {
      static_cast<void>(round);
    }
  }

  /// False if there is nothing to follow: a run that ended by an exception leaves no tree.
  bool follow(heist::steal_tree tree) {
    if (tree.empty()) return false;
    if (case_->prune != 0) tree.prune(static_cast<int>(case_->prune));
    region_->follow(std::move(tree), static_cast<heist::replay_mode>(case_->mode));
    return true;
  }

  static heist::steal_tree tree_of(executor& ex, heist_test::random_program const& p) {
    program_memory m{p};
    m.armed = false;
    m.workers = static_cast<std::uint32_t>(ex.worker_count());
    m.squads = static_cast<std::uint32_t>(ex.squad_count());
    heist::region r;
    run_tree<Context>(ex, &r, m);
    return r.tree();
  }

  /// Steals at places that the program may have.
  heist::steal_tree invented_tree() const {
    heist::fast_random random{case_->tree_seed + 1};
    std::uint32_t const workers = 1 + random.below(4), body = random.below(workers);
    std::vector<heist::steal_tree::steal> steals;
    std::vector<std::uint32_t> sequence(workers);
    for (std::uint32_t i = 0; i != case_->tree_steals; ++i) {
      heist::steal_tree::steal s;
      for (std::uint32_t depth = 1 + random.below(4); depth != 0; --depth) s.place.push_back(random.below(3));
      s.worker = random.below(workers);
      s.victim = random.below(workers);
      s.sequence = sequence[s.worker]++;
      s.after_join = s.worker == s.victim || random.below(4) == 0;
      bool const again = std::any_of(steals.begin(), steals.end(), [&](auto const& t) { return t.place == s.place; });
      if (!again) steals.push_back(std::move(s));
    }
    try {
      return heist::steal_tree{workers, body, std::move(steals)};
    } catch (heist::steal_tree_error const&) {
      return {};  // it contradicts itself
    }
  }

  kept_handles handles_;  // outlive the executor
  std::function<void()> const wait_here_{[this] { executor_.submit(counted_task{&awaiting_}).wait(); }};
  std::atomic<std::uint64_t> awaiting_{0};
  executor executor_;
  fuzz_case const* case_ = nullptr;
  program_memory* memory_ = nullptr;
  std::unique_ptr<graph_tasks<heist::context>> graph_;
  std::unique_ptr<heist::region> region_;
  heist::task<> extra_;
  std::uint32_t extra_ran_ = 0;  ///< since it was added
  bool repeated_ = false;
};

/// A type of subject, whose name is Policy's in the list.
template <class Policy, class Context = typename heist::executor<Policy>::context_type>
subject_type subject_of(char const* name) {
  using heist::join_strategy;
  return {name,
          {.may_wait = Policy::join_type::strategy == join_strategy::park,
           .tiers = Policy::order_type::value == heist::fork_order::by_tier,
           .records = Policy::order_type::value == heist::fork_order::recorded},
          [](setting const& where) -> std::unique_ptr<subject> {
            return std::make_unique<executor_subject<Policy, Context>>(where);
          }};
}

}  // namespace heist_fuzz
