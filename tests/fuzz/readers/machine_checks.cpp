#include "machine_checks.hpp"

#include <fmt/format.h>

#include <algorithm>  // sort
#include <tuple>
#include <vector>

#include "heist/core/topology/squads.hpp"
#include "heist/core/topology/synthetic.hpp"

namespace fuzz {
namespace {

using heist::squad_by;
using heist::topology::machine;
using heist::topology::pu;
using heist::topology::squads;

struct level {
  char const* type;
  std::int32_t pu::*index;
};
constexpr level levels[] = {{"Package", &pu::package},
                            {"NUMANode", &pu::numa},
                            {"L3Cache", &pu::l3},
                            {"L2Cache", &pu::l2},
                            {"Core", &pu::core}};

void require_division(machine const& m, squads const& s, std::size_t workers) {
  require(s.squad_of.size() == workers && s.pu_of_worker.size() == workers, "a worker has no squad or no PU");
  require(s.members.size() == s.head.size(), "a squad has no head");
  std::size_t count = 0;
  for (std::size_t squad = 0; squad < s.members.size(); ++squad) {
    require(!s.members[squad].empty() && s.head[squad] == s.members[squad].front(), "a squad is empty or headless");
    for (auto const w : s.members[squad]) require(w < workers && s.squad_of[w] == squad, "a worker is of two squads");
    count += s.members[squad].size();
  }
  require(count == workers, "a worker is of no squad");
  for (auto const p : s.pu_of_worker) require(p < m.pu_count(), "a worker is on no PU");
}

/// An object around the PUs from `first` to before `last`.
struct span_of_pus {
  std::size_t first = 0, last = 0, depth = 0;
  std::int32_t index = 0;
};

std::string attributes(machine const& m, std::size_t depth, std::int32_t index) {
  if (depth == 1) return fmt::format(" os_index=\"{}\" local_memory=\"{}\"", index, 1 << 20);
  if (depth == 2) return fmt::format(" cache_size=\"{}\" cache_linesize=\"{}\"", m.l3_bytes, m.line_bytes);
  if (depth == 3) return fmt::format(" cache_size=\"{}\" cache_linesize=\"{}\"", m.l2_bytes, m.line_bytes);
  return {};
}

}  // namespace

void require_machine(machine const& m) {
  require(m.pu_count() > 0 && m.pu_count() <= heist::topology::max_described_pus, "too few or too many PUs");
  for (auto const& [type, index] : levels) {
    std::int32_t highest = -1;
    for (auto const& p : m.pus) {
      require(p.*index >= -1 && p.*index <= highest + 1, fmt::format("the indices of {} have gaps", type));
      highest = std::max(highest, p.*index);
    }
  }
  for (auto const& p : m.pus) require(p.core >= 0, "a PU has no core");
  require(m.numa_distances.empty() || m.numa_distances.size() == m.numa_count() * m.numa_count(),
          "the matrix of distances has another size");
  require(!m.is_this_machine, "a description is taken for this machine");
  require(!m.to_text().empty(), "a machine has no description");
}

void require_squads(machine const& m, std::size_t workers) {
  for (auto const by :
       {squad_by::automatic, squad_by::package, squad_by::numa, squad_by::l3, squad_by::l2, squad_by::core}) {
    auto const s = heist::topology::make_squads(m, by, workers);
    require_division(m, s, workers);
    static_cast<void>(heist::topology::shared_cache_bytes(m, s));
  }
}

std::optional<std::string> xml_of(machine const& m) {
  std::vector<span_of_pus> objects;
  for (std::size_t depth = 0; depth < std::size(levels); ++depth) {
    auto const index = levels[depth].index;
    for (std::size_t i = 0; i < m.pu_count();) {
      auto end = i;
      while (end < m.pu_count() && m.pus[end].*index == m.pus[i].*index) ++end;
      if (m.pus[i].*index >= 0) objects.push_back({i, end, depth, m.pus[i].*index});
      i = end;
    }
    auto const again = std::count_if(objects.begin(), objects.end(), [&](auto const& o) { return o.depth == depth; });
    std::int32_t highest = -1;
    for (auto const& p : m.pus) highest = std::max(highest, p.*index);
    if (again != highest + 1) return std::nullopt;  // the PUs of one object are apart
  }
  std::sort(objects.begin(), objects.end(), [](auto const& a, auto const& b) {
    return std::tuple(a.first, b.last, a.depth) < std::tuple(b.first, a.last, b.depth);
  });

  std::string text = "<?xml version=\"1.0\"?>\n<topology version=\"2.0\"><object type=\"Machine\">\n";
  std::vector<span_of_pus> open;
  std::size_t next = 0;
  for (std::size_t i = 0; i < m.pu_count(); ++i) {
    for (; !open.empty() && open.back().last == i; open.pop_back()) text += "</object>\n";
    for (; next < objects.size() && objects[next].first == i; ++next) {
      auto const& o = objects[next];
      if (!open.empty() && open.back().last < o.last) return std::nullopt;  // they overlap
      bool const is_memory = o.depth == 1;                                  // stands beside the PUs of a group
      text += fmt::format("<object type=\"{}\"{}>\n", is_memory ? "Group" : levels[o.depth].type,
                          is_memory ? "" : attributes(m, o.depth, o.index));
      if (is_memory) text += fmt::format("<object type=\"NUMANode\"{}/>\n", attributes(m, o.depth, o.index));
      open.push_back(o);
    }
    text += fmt::format(
        "<object type=\"L1Cache\" cache_size=\"{}\" cache_linesize=\"{}\"><object type=\"PU\" "
        "os_index=\"{}\"/></object>\n",
        m.l1d_bytes, m.line_bytes, m.pus[i].os_index);
  }
  for (std::size_t i = 0; i < open.size(); ++i) text += "</object>\n";
  text += "</object>\n";
  if (auto const n = m.numa_count(); !m.numa_distances.empty()) {
    text += fmt::format("<distances2 type=\"NUMANode\" nbobjs=\"{}\" kind=\"5\" indexing=\"os\"><indexes>", n);
    for (std::size_t i = 0; i < n; ++i) text += fmt::format("{} ", i);
    text += "</indexes><u64values>";
    for (auto const d : m.numa_distances) text += fmt::format("{} ", d);
    text += "</u64values></distances2>\n";
  }
  return text + "</topology>\n";
}

}  // namespace fuzz
