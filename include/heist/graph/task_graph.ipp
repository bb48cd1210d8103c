// Bodies of task_graph.hpp.
#pragma once

#include "heist/core/base/unique_ptr.hpp"
#include "heist/graph/task_graph.hpp"

namespace heist {

HEIST_COLD_BODY task_graph& task_graph::operator=(task_graph&& other) noexcept {
  if (this == &other) return *this;
  detail::graph_owner taken = std::move(other.data_);
  detail::graph_data::let_go(std::move(data_));
  data_ = std::move(taken);
  return *this;
}

HEIST_COLD_BODY task<> task_graph::compose(task_graph& inner) {
  detail::reject_containing_itself(data(), inner.data());
  detail::make_room(data().parts, 1);
  auto const made = add_node<detail::module_node>(inner.data());
  data().add_part(access::index_of(made), inner.data_);
  return made;
}

HEIST_COLD_BODY void task_graph::follow_placement() {
  data().reject_while_running("follow a placement");
  detail::task_hints& hints = detail::hints_of(data());
  hints.are_followed = true;
  ++hints.changes;
}

HEIST_COLD_BODY void task_graph::forget() {
  data().reject_while_running("forget its runs");
  if (detail::task_hints* const hints = data().hints(); hints != nullptr) {
    hints->are_followed = false;
    ++hints->changes;
  }
  if (auto* const known = data().recall(); known != nullptr) known->forget();
  if (auto* const tuner = data().tuner(); tuner != nullptr) tuner->forget();
}

HEIST_COLD_BODY std::string task_graph::explain() const {
  data().reject_while_running("read its note");
  if (auto const* const tuner = data().tuner(); tuner != nullptr) return tuner->explain();
  auto const* const known = data().recall();
  return known == nullptr ? std::string{} : known->explain();
}

HEIST_COLD_BODY task_graph& task_graph::name(std::string_view text) {
  data().title = std::string{text};
  return *this;
}

}  // namespace heist
