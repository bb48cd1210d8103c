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

HEIST_COLD_BODY void task_graph::follow_placement() {
  data().refuse_while_running("follow a placement");
  if (data().wishes == nullptr) data().wishes = std::make_unique<detail::task_wishes>();
  data().wishes->are_followed = true;
  ++data().wishes->changes;
}

HEIST_COLD_BODY void task_graph::forget() {
  data().refuse_while_running("forget its runs");
  if (data().wishes != nullptr) {
    data().wishes->are_followed = false;
    ++data().wishes->changes;
  }
  auto* const known = data().recall.load(std::memory_order_acquire);  // acquire: see graph_data::keep_recall
  if (known != nullptr) known->forget();
  auto* const chooser = data().chooser.load(std::memory_order_acquire);  // acquire: as above
  if (chooser != nullptr) chooser->forget();
}

HEIST_COLD_BODY std::string task_graph::note() const {
  data().refuse_while_running("read its note");
  auto const* const chooser = data().chooser.load(std::memory_order_acquire);  // acquire: as above
  if (chooser != nullptr) return chooser->note();
  auto const* const known = data().recall.load(std::memory_order_acquire);  // acquire: as above
  return known == nullptr ? std::string{} : known->note();
}

HEIST_COLD_BODY task_graph& task_graph::name(std::string_view text) {
  data().title = std::string{text};
  return *this;
}

}  // namespace heist
