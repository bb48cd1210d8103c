// Bodies of task_graph.hpp.
#pragma once

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
  detail::refuse_containing_itself(data(), inner.data());
  detail::make_room(data().parts, 1);
  auto const made = add_node<detail::module_node>(inner.data());
  data().add_part(made.index(), inner.data_);
  return made;
}

HEIST_COLD_BODY task_graph& task_graph::name(std::string_view text) {
  data().title = std::string{text};
  return *this;
}

}  // namespace heist
