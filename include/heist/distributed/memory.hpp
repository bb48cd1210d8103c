// The memory of a graph that remembers (distributed_options): its shape, its tasks' times, and the saved values of a
// restart.
#pragma once

#include <algorithm>  // min
#include <chrono>
#include <cstddef>  // size_t
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>  // forward
#include <vector>

#include "heist/distributed/saved.hpp"
#include "heist/distributed/shape.hpp"
#include "heist/distributed/wire.hpp"

namespace heist::distributed {

class graph_part;

/// A task of this rank.
struct own_task {
  std::uint32_t id = 0;
  std::uint32_t index = 0;                                        ///< in the local graph
  void (*save)(graph_part& graph, own_task const& of) = nullptr;  ///< adds a task that does; null: it cannot be saved
  // Measured in runs; the least, because what else the machine does makes it more.
  double microseconds = std::numeric_limits<double>::infinity();
  std::uint64_t bytes = 0;  ///< of its value, as it would travel
};

struct graph_memory {
  graph_shape shape;
  std::uint64_t form = 0;  ///< of types and edges, whatever the places
  std::deque<own_task> own;
  std::size_t workers = 0;  ///< workers of the last run, on this rank
  // A placement that was measured: the ranks of tasks, by number.
  std::vector<std::int32_t> ranks;
  std::uint64_t measured_form = 0;
  // Files.
  std::optional<restart_plan> restart;
  std::shared_ptr<saved_values> restart_from;
  std::unique_ptr<saved_values> files;
  saved_values::head of_files;

  void mix(std::uint64_t x) noexcept { form = (form ^ x) * 0x9e3779b97f4a7c15u ^ (form >> 29); }

  saved_state state_of(std::uint32_t task) const noexcept {
    return restart && task < restart->states.size() ? restart->states[task] : saved_state::runs;
  }
  /// Why this graph is not the one that it is said to be; empty: it is.
  std::string difference() const {
    bool const other_saved = restart && (restart->tasks != shape.tasks() || restart->form != form);
    bool const other_measured = !ranks.empty() && (ranks.size() != shape.tasks() + 1 || measured_form != form);
    if (!other_saved && !other_measured) return {};
    return std::string{"this distributed graph has other tasks, values or edges than the one that was "} +
           (other_saved ? "saved in " + restart_from->folder() : "measured") +
           "; fix it by building the same graph, or by starting without that.";
  }
};

/// How many bytes a value would be on its way.
template <class T>
std::uint64_t size_on_its_way(T const& x) {
  if constexpr (!serializable<T>) {
    return 0;  // it stays
  } else if constexpr (detail::has_plain_bytes<T>) {
    return detail::plain_bytes(x).size();
  } else {
    return detail::packed(x).size();
  }
}

/// The function of a task of a distributed graph; measured if there is a place for the note.
template <class F>
struct measured_task {
  F f;
  own_task* note;

  template <class... A>
  requires std::is_invocable_v<F&, A...> std::invoke_result_t<F&, A...>
  operator()(A&&... a) {
    using result = std::invoke_result_t<F&, A...>;
    if (note == nullptr || std::is_reference_v<result>) return f(std::forward<A>(a)...);
    auto const begin = std::chrono::steady_clock::now();
    auto const end = [&] {
      std::chrono::duration<double, std::micro> const us = std::chrono::steady_clock::now() - begin;
      note->microseconds = std::min(note->microseconds, us.count());
    };
    if constexpr (std::is_void_v<result>) {
      f(std::forward<A>(a)...);
      end();
    } else {
      result made = f(std::forward<A>(a)...);
      end();
      note->bytes = size_on_its_way<std::remove_cvref_t<result>>(made);
      return made;
    }
  }
};
template <class F>
measured_task(F, own_task*) -> measured_task<F>;

}  // namespace heist::distributed
