// Bodies of recorded_entry.hpp.
#pragma once

#include "heist/fork/recorded_entry.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>      // bad_alloc
#include <utility>  // move

namespace heist::detail {

HEIST_COLD_BODY recorded_region_run::recorded_region_run(region_access const& memory, fiber& on)
    : memory_{memory}, home_{on.home}, log_{on.home.worker_count}, run_{log_}, body_{on.on->number} {
  switch (memory.following()) {
    case following::nothing:
      break;
    case following::tree:
      follow(memory.followed(), memory.mode());
      break;
    case following::designations:
      by_hand_ = steal_tree{home_.worker_count, 0, {}};
      follow(by_hand_, replay_mode::strict_unordered, true);
      break;
    case following::itself:
      follow(memory.adapted());
      break;
  }
}

HEIST_COLD_BODY frame_record& recorded_region_run::body_record() noexcept {
  // Without steals and without designations there is nothing to decide about.
  return replay_ && replay_->strict() && !replay_->by_hand() && run_.next == run_.end ? replay_->serial() : run_;
}

HEIST_COLD_BODY void recorded_region_run::begin() noexcept {
  began_ = os_env::nanoseconds();
  log_.begins();
}

HEIST_COLD_BODY void recorded_region_run::end() noexcept {
  elapsed_ = os_env::nanoseconds() - began_;
  log_.ends();
  if (replay_) replay_->body_ended();
}

HEIST_COLD_BODY void recorded_region_run::finish(bool failed) noexcept {
  if (replay_) replay_->finish();
  if (failed) return;
  try {
    if (log_.incomplete()) throw std::bad_alloc{};
    steal_tree made = log_.tree(body_);
    auto const all = elapsed_ * static_cast<std::int64_t>(home_.worker_count);
    run_times const times{elapsed_, log_.nanoseconds_at_work(), all - log_.nanoseconds_at_work()};
    memory_.note() = note();
    if (memory_.following() == following::itself) memory_.adapted().ran(made, times);
    memory_.tree() = std::move(made);
    memory_.times() = times;
  } catch (steal_tree_error const&) {
    memory_.tree() = {};
    memory_.note() = "steals that fit into no tree: two tasks forked at the same time with one context";
  } catch (std::exception const&) {
    memory_.tree() = {};
    memory_.note() = "no memory";
  }
}

HEIST_COLD_BODY void recorded_region_run::follow(adaptation const& adapted) {
  switch (adapted.next()) {
    case adaptation::phase::free:
      return;
    case adaptation::phase::relaxed:
      return follow(adapted.tree(), replay_mode::relaxed);
    case adaptation::phase::settling:
      return follow(adapted.tree(), replay_mode::strict_unordered);
    case adaptation::phase::settled:
      return follow(adapted.tree(), replay_mode::strict_ordered);
  }
}

HEIST_COLD_BODY void recorded_region_run::follow(steal_tree const& tree, replay_mode mode, bool by_hand) {
  recorded_with_ = tree.worker_count();
  keeps_order_ = mode == replay_mode::strict_ordered;
  replay_.emplace(home_, run_, tree, mode, by_hand);
  body_ = tree.body_worker() % static_cast<std::uint32_t>(home_.worker_count);
  replay_->begin(body_);
}

HEIST_COLD_BODY std::string recorded_region_run::note() const {
  if (!replay_) return {};
  std::string text;
  if (keeps_order_ && recorded_with_ > home_.worker_count) {
    text += fmt::format("the tree is of {} workers and there are {}: followed without its order; ", recorded_with_,
                        home_.worker_count);
  }
  if (replay_->order_given_up()) text += "the order of the tree cannot be kept by this program, so it was given up; ";
  if (std::uint32_t const n = replay_->not_made(); n != 0)
    text += fmt::format("{} steals of the tree could not be made; ", n);
  if (!text.empty()) text.resize(text.size() - 2);
  return text;
}

}  // namespace heist::detail
