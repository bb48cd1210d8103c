// Bodies of mergesort.hpp.
#pragma once

#include "heist/tools/simulate/mergesort.hpp"

#include <bit>    // bit_width
#include <cmath>  // llround
#include <vector>

#include "heist/tools/simulate/fail.hpp"
#include "heist/tools/simulate/program_builder.hpp"

namespace heist::sim {

HEIST_COLD_BODY program mergesort(mergesort_options const& wanted) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (wanted.elements == 0 || wanted.leaf_elements == 0 || wanted.element_bytes == 0 || wanted.rounds == 0 ||
      wanted.elements > most / wanted.element_bytes ||
      !(wanted.ticks_per_element >= 0 && wanted.ticks_per_element < 1e6))
    detail::fail(
        "a sort of {} elements of {} bytes, {} ticks each, in leaves of {}, {} times; fix it by at least 1 of "
        "each, at most 2^40 bytes, and less than 10^6 ticks",
        wanted.elements, wanted.element_bytes, wanted.ticks_per_element, wanted.leaf_elements, wanted.rounds);
  program_builder b("mergesort");
  std::uint64_t const size = wanted.elements * wanted.element_bytes;
  std::uint64_t const other = (size / 4096 + 1) * 4096;  // where the second array begins
  auto const region = b.add_region({"mergesort", 2 * size, 2});
  auto const cost = [&](double elements) {
    return static_cast<ticks>(std::llround(elements * wanted.ticks_per_element));
  };
  struct part {
    std::uint32_t task;
    std::uint64_t first, count;
  };
  std::vector<part> open{{b.add_tree(region), 0, wanted.elements}};
  for (std::uint32_t i = 1; i != wanted.rounds; ++i) b.again(open.front().task, region);
  while (!open.empty()) {
    part const p = open.back();
    open.pop_back();
    std::uint64_t const from = p.first * wanted.element_bytes, bytes = p.count * wanted.element_bytes;
    auto const many = static_cast<double>(p.count);
    b.begin(p.task, 1);
    if (p.count <= wanted.leaf_elements) {
      b.touch(from, bytes, true);
      b.work(cost(many * static_cast<double>(std::bit_width(p.count))));
      continue;
    }
    std::uint32_t const first = b.fork(2);
    b.touch(from, bytes, true);
    b.touch(other + from, bytes, true);
    b.work(cost(many));
    std::uint64_t const half = p.count / 2;
    open.push_back({first + 1, p.first + half, p.count - half});
    open.push_back({first, p.first, half});
  }
  return b.finish();
}

}  // namespace heist::sim
