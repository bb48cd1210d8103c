// Programs of which every continuation goes to another worker. A placed_context goes down a program beside the
// executor's own context. In a first run it notes where the program forks. The tree made of these notes gives away the
// rest of every frame after every child, and after every join. In the runs that follow this tree, placed_context counts
// the workers on which frames go on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, index_sequence, move
#include <vector>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"

namespace heist_test {

using replaying = heist::executor<heist::policy::replay>;
using place = std::vector<std::uint32_t>;

/// The forks and joins of a program, and how often a frame went on at the expected worker.
struct steal_book {
  std::mutex m;
  std::vector<place> continuations, joins;      ///< as steal_tree has them; of the first run
  std::atomic<std::size_t> right{0}, wrong{0};  ///< places where a worker was, or was not, the expected one

  void note(std::vector<place>& to, place at) {
    std::lock_guard const lock{m};
    to.push_back(std::move(at));
  }
};

/// The tree in which frames go from each worker to the next one: after each child, and after each join.
class round_tree {
 public:
  round_tree(steal_book& book, std::size_t workers) : workers_{workers} {
    // By frame: its branches in order. A frame begins on the worker that called it.
    std::map<place, std::map<std::uint32_t, bool>> frames;
    auto const add = [&](std::vector<place>& all, bool after_join) {
      for (place& at : all) {
        std::uint32_t const branch = at.back();
        at.pop_back();
        frames[at][branch] = after_join;
      }
    };
    add(book.continuations, false);
    add(book.joins, true);
    std::vector<std::uint32_t> sequence(workers, 0);
    std::map<place, std::uint32_t> begins{{{}, 0}};
    for (auto const& [frame, branches] : frames) {  // parents before their children
      std::uint32_t on = begins.at(frame);
      for (auto const& [branch, after_join] : branches) {
        place at = frame;
        at.push_back(branch);
        begins[at] = on;  // the child; of a join with a branch of its own nothing is below
        auto const next = static_cast<std::uint32_t>((on + 1) % workers);
        steals_.push_back({at, next, on, sequence[next]++, after_join});
        on = next;
      }
    }
  }

  heist::steal_tree tree() const { return {workers_, 0, steals_}; }
  std::size_t steal_count() const { return steals_.size(); }

 private:
  std::size_t workers_;
  std::vector<heist::steal_tree::steal> steals_;
};

class placed_context {
 public:
  using inner = heist::context;

  /// For the body of a region. `workers` is 1 in the run that writes down.
  placed_context(inner ctx, steal_book& book, std::size_t workers) : ctx_{ctx}, book_{&book}, workers_{workers} {}

  inner context() const { return ctx_; }
  std::size_t worker_id() const { return ctx_.worker_id(); }

  /// As context::fork_join; the callables take a placed_context&.
  template <class... F>
  auto fork_join(F&&... f) {
    return fork_each(std::index_sequence_for<F...>{}, f...);
  }

  /// As many children as a loop forks by a scope, of `child(placed_context&, i)`; returns after the join.
  template <class F>
  void scope(std::uint32_t n, F const& child) {
    heist::scope<inner> children{ctx_};
    std::size_t on = worker_id();
    for (std::uint32_t i = 0; i != n; ++i) {
      children.fork([this, &child, i, at = next_place(), on](inner c) {
        placed_context below = go_down(c, at);
        below.came(on, 0);
        child(below, i);
      });
      write_down(book_->continuations);
      on = came(on, 1);
    }
    children.join();
    if (n == 0) return;  // then there is nothing to join, and no place
    next_place();
    write_down(book_->joins);
    came(on, 1);
  }

 private:
  template <std::size_t... I, class... F>
  auto fork_each(std::index_sequence<I...>, F&... f) {
    constexpr std::size_t count = sizeof...(F);
    static_assert(count != 1, "a fork of one is a call, which has no place");
    std::size_t const on = worker_id();
    std::array<place, count> places;
    for (std::size_t i = 0; i != count; ++i) {
      places[i] = next_place();
      if (i + 1 != count) write_down(book_->continuations);
    }
    if (count > 1) write_down(book_->joins);
    struct after_join {
      placed_context& self;
      std::size_t before;
      bool forks;
      ~after_join() {  // an exception goes on there, too
        if (forks) self.came(before, count);
      }
    } const counts{*this, on, count > 1};
    return ctx_.fork_join([this, &f, &at = places[I], on](inner c) -> decltype(auto) {
      placed_context below = go_down(c, at);
      below.came(on, I);
      return f(below);
    }...);
  }

  /// The place of the next child.
  place next_place() {
    place p = place_;
    p.push_back(branch_++);
    return p;
  }
  placed_context go_down(inner c, place const& at) const {
    placed_context below{c, *book_, workers_};
    below.place_ = at;
    return below;
  }
  void write_down(std::vector<place>& to) {
    if (workers_ != 1) return;
    place p = place_;
    p.push_back(branch_ - 1);
    book_->note(to, std::move(p));
  }
  /// The worker is `steps` after `from`.
  std::size_t came(std::size_t from, std::size_t steps) {
    if (workers_ == 1) return 0;
    std::size_t const expected = (from + steps) % workers_;
    ++(worker_id() == expected ? book_->right : book_->wrong);
    return expected;
  }

  inner ctx_;
  steal_book* book_;
  std::size_t workers_;
  place place_;
  std::uint32_t branch_ = 0;
};

/// A program, and the tree by which every one of its continuations is stolen.
template <class Program>
class always_stolen {
 public:
  always_stolen(replaying& ex, Program program) : ex_{ex}, program_{std::move(program)} {
    replaying one{1};
    heist::region r;
    steal_book book;
    one.invoke(r, [&](heist::context c) {
      placed_context ctx{c, book, 1};
      program_(ctx);
    });
    round_tree const round{book, ex.worker_count()};
    steals = round.steal_count();
    region.follow(round.tree(), heist::replay_mode::strict_unordered);
  }

  /// Runs it once; the frames that were, or were not, where they had to be are counted.
  auto operator()() {
    return ex_.invoke([this](heist::context c) { return within(c); });
  }
  /// As above, by a task of the executor.
  auto within(heist::context ctx) {
    struct counts_at_end {
      always_stolen& self;
      steal_book& book;
      ~counts_at_end() {
        self.right += book.right;
        self.wrong += book.wrong;
      }
    };
    steal_book book;
    counts_at_end const counts{*this, book};
    return ctx.invoke(region, [&](heist::context c) {
      placed_context placed{c, book, ex_.worker_count()};
      return program_(placed);
    });
  }

  std::size_t steals = 0, right = 0, wrong = 0;
  heist::region region;

 private:
  replaying& ex_;
  Program program_;
};

}  // namespace heist_test
