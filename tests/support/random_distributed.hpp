// Random graphs on random ranks, each value a mix of its predecessors', and the values that one process would compute.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "heist/distributed/graph.hpp"
#include "heist/executor.hpp"

namespace heist_test {

class random_distributed {
 public:
  /// Every third one throws somewhere.
  random_distributed(unsigned seed, int ranks, std::size_t tasks) {
    std::minstd_rand random{seed * 7919 + 13};
    std::size_t const bad = seed % 3 == 2 ? random() % tasks : tasks;
    for (std::size_t i = 0; i < tasks; ++i) {
      one t;
      t.rank = static_cast<int>(random() % static_cast<unsigned>(ranks));
      t.throws = i == bad;
      fails_ = fails_ || t.throws;
      t.kind = random() % 4;
      for (std::size_t k = i == 0 ? 0 : random() % 4; k > 0; --k) {
        std::size_t const f = random() % i;
        if (!plan_[f].taken && std::find(t.from.begin(), t.from.end(), f) == t.from.end()) t.from.push_back(f);
      }
      if (t.kind == 0 && t.from.size() == 1) plan_[t.from[0]].taken = true;
      t.want = std::to_string(i);
      for (std::size_t const f : t.from) t.want = mixed(t.want, plan_[f].want);
      plan_.push_back(t);
    }
  }

  bool fails() const { return fails_; }

  /// Adds the tasks to a graph.
  template <class Graph>
  auto build(Graph& g) {
    using handle = decltype(g.emplace(heist::on(0), [] { return std::string{}; }));
    std::vector<handle> made;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      one const& t = plan_[i];
      auto const work = [i, this](auto const&... x) {
        if (throwing && plan_[i].throws) throw std::runtime_error{"task " + std::to_string(i)};
        std::string s = std::to_string(i);
        ((s = mixed(s, x)), ...);
        return s;
      };
      auto const on = heist::on(t.rank);
      auto const& f = t.from;
      if (f.size() == 1 && t.kind == 0) {
        made.push_back(g.emplace(
            on, [work](std::string&& x) { return work(std::string{std::move(x)}); }, heist::take(made[f[0]])));
      } else if (t.kind == 1) {
        std::vector<handle> in;
        for (std::size_t const k : f) in.push_back(made[k]);
        made.push_back(g.emplace(
            on,
            [i, this](heist::values<std::string> all) {
              if (throwing && plan_[i].throws) throw std::runtime_error{"task " + std::to_string(i)};
              std::string s = std::to_string(i);
              for (std::string const& x : all) s = mixed(s, x);
              return s;
            },
            heist::each(in)));
      } else {
        made.push_back(f.empty()       ? g.emplace(on, work)
                       : f.size() == 1 ? g.emplace(on, work, made[f[0]])
                       : f.size() == 2 ? g.emplace(on, work, made[f[0]], made[f[1]])
                                       : g.emplace(on, work, made[f[0]], made[f[1]], made[f[2]]));
      }
    }
    return made;
  }

  /// Runs it so often; the number of wrong answers.
  int play(heist::world& w, heist::executor<>& ex, int runs = 3) {
    heist::distributed_graph g{w};
    auto const made = build(g);
    int wrong = 0;
    for (int run = 0; run < runs; ++run) {
      throwing = run + 1 != runs;  // the last one goes well
      try {
        ex.run(g).get();
        wrong += fails_ && throwing;
        wrong += wrong_in(made);
      } catch (heist::distributed_error const& e) {
        wrong += !fails_ || !throwing || e.what_there.rfind("task ", 0) != 0;
      }
    }
    return wrong;
  }

  /// Values that are wrong, of those that are here; those that a restart did not need are not.
  template <class Handles>
  int wrong_in(Handles const& made) const {
    int wrong = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (made[i].here() && heist::distributed::detail::placed_access::local_of(made[i]).valid() && !plan_[i].taken)
        wrong += made[i].result() != plan_[i].want;
    }
    return wrong;
  }

  bool throwing = true;

 private:
  struct one {
    int rank = 0;
    bool throws = false, taken = false;
    unsigned long kind = 0;
    std::vector<std::size_t> from;
    std::string want;
  };
  static std::string mixed(std::string const& a, std::string const& b) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (char const c : a + "/" + b) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return std::to_string(h);
  }

  std::vector<one> plan_;
  bool fails_ = false;
};

}  // namespace heist_test
