// Bodies of numa_nodes.hpp.
#pragma once

#include "heist/tools/simulate/numa_nodes.hpp"

#include <algorithm>  // max
#include <utility>    // move

#include "heist/tools/simulate/fail.hpp"

namespace heist::sim {

HEIST_BODY std::vector<std::uint32_t> nodes_of_workers(topology::machine const& m, topology::squads const& s) {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(s.pu_of_worker.size());
  for (std::uint32_t const pu : s.pu_of_worker)
    nodes.push_back(m.pus[pu].numa < 0 ? 0 : static_cast<std::uint32_t>(m.pus[pu].numa));
  return nodes;
}

HEIST_BODY numa_nodes::numa_nodes(options const& wanted, std::uint32_t count, std::vector<std::uint32_t> node_of)
    : wanted_{wanted.numa}, block_bytes_{wanted.caches.block_bytes}, node_of_{std::move(node_of)}, count_{count} {
  if (!enabled()) return;
  if (wanted_.page_bytes == 0 || wanted_.page_bytes % block_bytes_ != 0)
    detail::fail(
        "pages of {} bytes and blocks of {}; fix it by options::numa.page_bytes, usually 4096, which is a multiple "
        "of caches.block_bytes",
        wanted_.page_bytes, block_bytes_);
  if (wanted_.node_map != nullptr && wanted_.node_map->page_bytes != wanted_.page_bytes)
    detail::fail("the homes are of pages of {} bytes, but pages have {}; fix it by the same options::numa.page_bytes",
                 wanted_.node_map->page_bytes, wanted_.page_bytes);
  if (wanted_.node_map != nullptr) {
    for (auto const& [page, node] : wanted_.node_map->nodes) {
      if (node >= count_)
        detail::fail("page {} is on node {}, but the machine has {}; fix it by homes of the same machine", page, node,
                     count_);
    }
  }
  node_queues_.resize(count_);
  out_queues_.resize(count_);
  in_queues_.resize(count_);
}

HEIST_BODY void numa_nodes::add_blocks(std::uint64_t first, std::uint64_t count) {
  if (!enabled()) return;
  for (std::uint64_t block = first; block != first + count; ++block) {
    std::uint64_t const page = block * block_bytes_ / wanted_.page_bytes;
    if (numbers_.empty() || numbers_.back() != page) {
      numbers_.push_back(page);
      node_map_.push_back(wanted_.node_map == nullptr ? page_node_map::no_place
                                                      : wanted_.node_map->node_of(block * block_bytes_));
    }
    page_of_block_.push_back(static_cast<std::uint32_t>(numbers_.size() - 1));
  }
}

HEIST_BODY bool numa_nodes::fetch(std::uint32_t w, std::uint32_t block, std::uint64_t bytes, bool writes) noexcept {
  std::uint32_t const near = node_of_[w], page = page_of_block_[block];
  std::uint32_t& scheduler = node_map_[page];
  if (scheduler == page_node_map::no_place)
    scheduler =
        wanted_.pages == page_placement::first_touch ? near : static_cast<std::uint32_t>(numbers_[page] % count_);
  node_queues_[scheduler].order(writes ? 2 * bytes : bytes);
  if (scheduler == near) return false;
  auto const send = [&](std::uint32_t from, std::uint32_t to) {
    out_queues_[from].order(bytes);
    in_queues_[to].order(bytes);
  };
  send(scheduler, near);
  if (writes) send(near, scheduler);
  return true;
}

HEIST_BODY ticks numa_nodes::waiting_time(ticks now, ticks alone) noexcept {
  if (!enabled()) return alone;
  ticks longest = alone;
  for (std::uint32_t n = 0; n != count_; ++n) {
    longest =
        std::max({longest, node_queues_[n].serve(now, wanted_.node_bandwidth),
                  out_queues_[n].serve(now, wanted_.link_bandwidth), in_queues_[n].serve(now, wanted_.link_bandwidth)});
  }
  return longest;
}

HEIST_BODY page_node_map numa_nodes::node_map() const {
  page_node_map all{wanted_.page_bytes, {}};
  for (std::size_t i = 0; i != node_map_.size(); ++i)
    if (node_map_[i] != page_node_map::no_place) all.nodes.emplace_back(numbers_[i], node_map_[i]);
  return all;
}

}  // namespace heist::sim
