#include "all_targets.hpp"

#include "heist/core/base/json.hpp"

namespace fuzz {

std::span<target const* const> all_targets() {
  static constexpr target const* all[] = {&json_target,      &synthetic_target,  &xml_target,          &cgroup_target,
                                          &squads_target,    &steal_tree_target, &graph_memory_target, &profile_target,
                                          &recording_target, &netlist_target};
  return all;
}

void require_message(std::string_view message) {
  constexpr std::size_t shortest = 10, longest = 1500;
  require(message.size() >= shortest, "a refusal says nothing");
  require(message.size() <= longest, "a refusal quotes the file at length");
  for (auto rest = message; !rest.empty();) {
    auto const length = heist::json::detail::character_length(rest);
    require(length != 0, "a refusal is no text: it has bytes of the file that are no UTF-8");
    auto const first = static_cast<unsigned char>(rest.front());
    require(first >= 0x20 && first != 0x7f, "a refusal has control characters of the file in it");
    rest.remove_prefix(length);
  }
}

}  // namespace fuzz
