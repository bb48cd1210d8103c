// A heist::executor as a subject of the fuzzer.
#pragma once

#include <algorithm>  // any_of
#include <cstddef>    // size_t
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>  // move
#include <vector>

#include <heist/heist.hpp>

#include "fuzz/differential/subject.hpp"
#include "fuzz/differential/walks.hpp"

namespace heist_fuzz {

/// `Context`: what a program's root gets in the cases that do not ask for heist::context.
template <class Policy, class Context = typename heist::executor<Policy>::context_type>
class executor_subject final : public subject {
  using executor = heist::executor<Policy>;
  static constexpr bool records = Policy::order_type::value == heist::fork_order::recorded;

 public:
  explicit executor_subject(setting const& where) : executor_{options_of(where)} {}

  void begin(fuzz_case const& c, program_memory& m) override {
    case_ = &c;
    memory_ = &m;
    m.workers = static_cast<std::uint32_t>(executor_.worker_count());
    m.squads = static_cast<std::uint32_t>(executor_.squad_count());
    repeated_ = false;
    if (c.program.is_graph())
      graph_ = make_tasks<heist::context>(m, 0, true);
    else if (c.in_region)
      make_region();
  }

  heist_test::program_outcome run(std::uint32_t round, std::uint32_t passes) override {
    heist_test::program_outcome o;
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
      o.threw_otherwise = true;
      o.text = e.what();
    }
    return o;
  }

  void end() override {
    graph_.reset();
    region_.reset();
  }
  bool repeated() const override { return repeated_ && region_->note().empty(); }
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

  /// Memory of the root, which is no task, is written here.
  void run_graph(std::uint32_t passes, heist_test::program_outcome& o) {
    heist_test::program_cell& root = memory_->cells[0];
    root.began = passes;
    heist::graph_run const run = passes == 1 ? executor_.run(graph_->graph, memory_->stop.get_token())
                                             : executor_.run_n(graph_->graph, passes, memory_->stop.get_token());
    run.wait();
    o.stopped = run.stopped();
    root.failed = passes;
    run.get();
    root.ended = passes;
    root.failed = 0;
  }

  template <class Given>
  static std::uint64_t run_tree(executor& ex, heist::region* r, program_memory& m) {
    struct body {
      program_memory* m;
      std::uint64_t operator()(Given c) const { return visit_root<Given>(*m, c); }
    };
    if (r == nullptr) return ex.sync_wait(m.stop.get_token(), body{&m});
    struct body_of_region {
      program_memory* m;
      heist::region* r;
      std::uint64_t operator()(Given c) const { return c.sync_wait(*r, body{m}); }
    };
    return ex.sync_wait(m.stop.get_token(), body_of_region{&m, r});
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

  executor executor_;
  fuzz_case const* case_ = nullptr;
  program_memory* memory_ = nullptr;
  std::unique_ptr<graph_tasks<heist::context>> graph_;
  std::unique_ptr<heist::region> region_;
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
