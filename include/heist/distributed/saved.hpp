// Values of tasks in files, so that a graph can be restarted by another program.
#pragma once

#include <cstdint>
#include <cstdio>  // rename
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/distributed/bytes.hpp"
#include "heist/distributed/shape.hpp"
#include "heist/distributed/wire.hpp"

namespace heist::distributed {

/// A folder of them, which all ranks see: the file `graph` says of what graph, and task-N has what task N has left. A file
/// is written under another name first: a process that is killed leaves none that is half written.
class saved_values {
 public:
  /// What a file must say to be taken for one of this graph: which one it is, and for which time it is saved.
  struct head {
    std::uint64_t magic = 0x3173657661735468u;
    std::uint64_t form = 0;  ///< of the graph: types and edges
    std::uint32_t version = 0;
    std::uint32_t run = 0;  ///< task-N: of that edition, from 1
    std::uint32_t task = 0;
    std::uint32_t unused = 0;
    std::uint64_t size = 0;
  };
  struct description {
    graph_shape shape;
    head of;
  };

  explicit saved_values(std::string folder) : folder_{std::move(folder)} {}
  std::string const& folder() const noexcept { return folder_; }

  /// Throws graph_error if it cannot.
  void write(head h, bytes const& value) const {
    std::string const name = path(h.task), begun = name + ".new";
    h.size = value.size();
    {
      std::ofstream out{begun, std::ios::binary};
      out.write(reinterpret_cast<char const*>(&h), sizeof h);
      if (!value.empty()) out.write(value.data(), static_cast<std::streamsize>(value.size()));
      out.close();
      if (!out) reject("cannot write " + begun);
    }
    if (std::rename(begun.c_str(), name.c_str()) != 0) reject("cannot rename " + begun);
  }

  /// What a file says of itself; nothing if it is no such file, or not whole.
  std::optional<head> look(std::uint32_t task) const {
    std::ifstream in{path(task), std::ios::binary};
    head h;
    h.magic = 0;
    in.read(reinterpret_cast<char*>(&h), sizeof h);
    std::error_code error;
    auto const size = std::filesystem::file_size(path(task), error);
    if (!in || error || h.magic != head{}.magic || h.task != task || size != sizeof h + h.size) return std::nullopt;
    return h;
  }
  /// Throws graph_error if it cannot.
  bytes read(std::uint32_t task) const {
    auto const h = look(task);
    if (!h) reject("cannot read " + path(task) + " (any more)");
    bytes value{static_cast<std::size_t>(h->size)};
    std::ifstream in{path(task), std::ios::binary};
    in.seekg(sizeof(head));
    if (!value.empty()) in.read(value.data(), static_cast<std::streamsize>(value.size()));
    if (!in) reject("cannot read " + path(task));
    return value;
  }

  /// Makes the folder, and says of which graph it is. Throws graph_error if it cannot.
  void to_text(graph_shape const& s, head const& h) const {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    std::vector<std::uint8_t> places;
    for (auto const p : s.places) places.push_back(static_cast<std::uint8_t>(p));
    write(h, detail::packed(std::tuple{s.ranks, places, s.first, s.inputs, s.orders}));
  }
  std::optional<description> described() const {
    auto const h = look(0);
    if (!h) return std::nullopt;
    description found;
    found.of = *h;
    using parts = std::tuple<std::vector<std::int32_t>, std::vector<std::uint8_t>, std::vector<std::uint32_t>,
                             std::vector<std::uint32_t>, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;
    auto [ranks, places, first, inputs, orders] = detail::unpacked<parts>(read(0));
    found.shape = {std::move(ranks), {}, std::move(first), std::move(inputs), std::move(orders)};
    for (auto const p : places) found.shape.places.push_back(static_cast<task_place>(p));
    return found;
  }

  [[noreturn]] void reject(std::string const& what) const {
    throw graph_error{what +
                      ", where the values of a distributed graph are kept; fix it by a folder that all ranks can " +
                      "read and write, on a disk with room."};
  }

 private:
  std::string path(std::uint32_t task) const {
    return folder_ + (task == 0 ? "/graph" : "/task-" + std::to_string(task));
  }

  std::string folder_;
};

/// Of a restart, the same on all ranks: what becomes of each task, and of which edition and run its values are.
struct restart_plan {
  std::vector<saved_state> states;  ///< by number
  std::uint64_t form = 0;
  std::uint32_t tasks = 0, version = 0, run = 0;
};

/// By one rank. Throws graph_error if there is nothing to restart from.
inline restart_plan plan_restart(saved_values const& from) {
  auto const known = from.described();
  if (!known) {
    throw graph_error{"nothing in " + from.folder() +
                      " says which distributed graph was saved there; fix it by the folder that was given to save()."};
  }
  std::uint32_t const n = known->shape.tasks();
  std::vector<std::uint32_t> runs(n + 1);
  restart_plan plan{{}, known->of.form, n, known->of.version, 0};
  for (std::uint32_t t = 1; t <= n; ++t) {
    auto const h = from.look(t);
    if (h && h->form == plan.form && h->version == plan.version) plan.run = std::max(plan.run, runs[t] = h->run);
  }
  std::vector<bool> saved(n + 1);
  for (std::uint32_t t = 1; t <= n; ++t) saved[t] = plan.run != 0 && runs[t] == plan.run;
  plan.states = left_to_do(known->shape, saved);
  return plan;
}

}  // namespace heist::distributed
