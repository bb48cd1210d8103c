// Graphs of nodes, and other code that is the same for the contexts of all orders. The bodies behind walks.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>  // move
#include <vector>

#include "fuzz/differential/walk.hpp"

namespace heist_fuzz {

/// Its tasks get a Context.
template <class Context>
class graph_of final : public graph_tasks<Context> {
  using visits = walk<Context>;
  struct work {
    program_memory* m;
    std::uint32_t n;
    bool told;
    heist_test::waiting_end end;
    void operator()(Context c) const {
      bool const alone = m->program->nodes[n].is(heist_test::limited);
      program_cell& around = m->cells[m->program->nodes[n].parent];
      if (alone && around.inside++ != 0) m->cells[n].sights |= heist_test::crowded;
      leaving const end{alone ? &around : nullptr};
      visits::visit(*m, c, n, told);
    }
    struct leaving {
      program_cell* around;
      ~leaving() {
        if (around != nullptr) --around->inside, ++around->passed;
      }
    };
  };
  struct giving_work : work {
    std::uint64_t operator()(Context c) const {
      work::operator()(c);
      return this->m->cells[this->n].value;
    }
  };
  struct taking_work : work {
    std::uint32_t from;
    std::uint64_t operator()(Context c, std::uint64_t taken) const {
      if (taken != this->m->cells[from].value) this->m->cells[this->n].sights |= heist_test::other_value;
      work::operator()(c);
      return this->m->cells[this->n].value;
    }
  };

 public:
  graph_of(program_memory& m, std::uint32_t n, bool told) {
    program_node const& is = m.program->nodes[n];
    std::vector<heist::task<std::uint64_t>> values(is.children.size());
    std::vector<heist::task<>> tasks;
    tasks.reserve(is.children.size());
    for (std::uint32_t i = 0; i != is.children.size(); ++i) {
      program_node const& child = m.program->nodes[is.children[i]];
      work const visit{&m, is.children[i], told, m.end_of(is.children[i])};
      std::uint32_t giver = heist_test::no_node;
      for (std::uint32_t const place : child.after) {
        if (place < i && values[place].valid()) giver = place;
      }
      if (child.is(heist_test::wrapped)) {
        tasks.push_back(wrap(visit));
      } else if (child.is(heist_test::takes) && giver != heist_test::no_node) {
        values[i] = graph_.emplace(taking_work{{visit}, is.children[giver]}, values[giver]);
        tasks.push_back(values[i]);
      } else if (child.is(heist_test::gives)) {
        values[i] = graph_.emplace(giving_work{{visit}});
        tasks.push_back(values[i]);
      } else {
        tasks.push_back(graph_.emplace(visit));
      }
      if (child.is(heist_test::limited)) tasks.back().limit(one_);
    }
    for (std::uint32_t i = 0; i != is.children.size(); ++i) {
      for (std::uint32_t const place : m.program->nodes[is.children[i]].after) tasks[place].precede(tasks[i]);
    }
  }

  ~graph_of() override { graph_ = heist::task_graph{}; }  // before the objects that it refers to

 private:
  /// A task as a graph of three.
  heist::task<> wrap(work const& visit) {
    auto inner = std::make_unique<heist::task_graph>();
    auto before = inner->emplace([] {});
    auto middle = inner->emplace(visit);
    auto after = inner->emplace([] {});
    middle.succeed(before).precede(after);
    parts_.push_back(std::move(inner));
    return graph_.compose(*parts_.back());
  }

  heist::task_graph& graph_ = this->graph;
  heist::limiter one_{1};
  std::vector<std::unique_ptr<heist::task_graph>> parts_;
};

template <class Context>
std::unique_ptr<graph_tasks<Context>> make_tasks(program_memory& m, std::uint32_t n, bool told) {
  return std::make_unique<graph_of<Context>>(m, n, told);
}

template <class Context>
void fork_without_context(program_memory& m, std::uint32_t const* leaves, std::uint32_t count) {
  struct leaf {
    program_memory* m;
    std::uint32_t n;
    void operator()() const {
      typename walk<Context>::entry here{*m, n};
      static_cast<void>(here.leave(here.begin()));
    }
  };
  switch (count) {
    case 1:
      heist::fork_join(leaf{&m, leaves[0]});
      break;
    case 2:
      heist::fork_join(leaf{&m, leaves[0]}, leaf{&m, leaves[1]});
      break;
    default:
      heist::fork_join(leaf{&m, leaves[0]}, leaf{&m, leaves[1]}, leaf{&m, leaves[2]});
  }
}

template <class Context>
bool run_loop(Context c) {
  int rounds = 0;
  bool over = false;
  heist::task_graph g;
  auto begin = g.emplace([] {});
  auto body = g.emplace([&rounds] { ++rounds; });
  auto again = g.emplace_condition([&rounds] { return rounds < 3 ? 0 : 1; });
  auto end = g.emplace([&over] { over = true; });
  begin.precede(body);
  body.precede(again);
  again.precede(body, end);
  try {
    c.run(g).get();
  } catch (heist::stopped_error const&) {  // the stop of the calling task was handed on
    return c.stop_requested();
  }
  return rounds == 3 && over;
}

}  // namespace heist_fuzz
