// Bodies of memory.hpp.
#pragma once

#include "heist/tools/simulate/memory.hpp"

#include <algorithm>  // max, min, sort
#include <utility>    // exchange, move, pair

#include "heist/tools/simulate/fail.hpp"

namespace heist::sim {

HEIST_BODY cache_sizes cache_sizes_of(options const& wanted, topology::machine const& m, topology::squads const& s) {
  if (!wanted.caches.enabled) return {};
  std::uint64_t const own = m.l2_count() == m.core_count() && m.l2_bytes != 0 ? m.l2_bytes : m.l1d_bytes;
  std::uint64_t const told = topology::shared_cache_bytes(m, s),
                      shared = m.is_this_machine ? detail::credible_cache(told, s.members[0].size()) : told;
  return {wanted.caches.private_bytes.value_or(own), wanted.caches.shared_bytes.value_or(shared)};
}

HEIST_BODY memory::memory(program const& p, options const& wanted, cache_sizes sizes,
                          std::vector<std::uint32_t> const& squad_of, std::size_t squads, std::uint32_t nodes,
                          std::vector<std::uint32_t> node_of)
    : costs_{wanted.costs},
      squad_of_{squad_of},
      enabled_{wanted.caches.enabled && !p.touches().empty()},
      block_bytes_{wanted.caches.block_bytes},
      nodes_{wanted, nodes, std::move(node_of)},
      shared_bandwidth_{wanted.caches.shared_bandwidth},
      memory_bandwidth_{nodes_.enabled() ? 0 : wanted.caches.memory_bandwidth} {
  std::uint64_t const block = wanted.caches.block_bytes;
  if (block == 0 || block > (std::uint64_t{1} << 30))
    detail::fail("blocks of {} bytes; fix it by options::caches.block_bytes from 1 to 2^30, usually 64", block);
  if (costs_.line_parts == 0)
    detail::fail("costs of lines in no parts of a tick; fix it by costs::line_parts of 1 or more");
  if (!enabled_) return;
  lines_ = std::max<std::uint64_t>(1, block / line_bytes);
  number_blocks(p, block);
  auto const capacity = [&](std::uint64_t bytes) {
    // No more than there are: a cache that holds everything costs no more than that.
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / block, versions_.size()));
  };
  if (costs_.transfer) sides_.assign(versions_.size(), 0);
  own_.assign(squad_of.size(), lru_cache{capacity(sizes.of_worker)});
  shared_.assign(squads, lru_cache{capacity(sizes.of_squad)});
  shared_queues_.resize(squads);
}

HEIST_BODY ticks memory::access(std::uint32_t w, std::uint32_t touch, cache_misses& seen, fast_random& random) {
  if (!enabled_) return 0;
  placed const& where = touches_[touch];
  lru_cache& own = own_[w];
  lru_cache& shared = shared_[squad_of_[w]];
  std::uint32_t const side = 1 + (shared.capacity() == 0 ? w : squad_of_[w]);
  std::uint64_t own_hits = 0, shared_hits = 0, far = 0, switch_count = 0, taken_back = 0;
  for (std::uint32_t b = where.first; b != where.first + where.blocks; ++b) {
    std::uint32_t& version = versions_[b];
    bool const is_remote = is_transfer(b, side);
    std::uint64_t const hits = own_hits + shared_hits;
    if (own.use(b, version)) {
      ++own_hits;
    } else if (shared.use(b, version)) {
      ++shared_hits;
    } else if (is_remote) {
      ++switch_count;
    } else if (nodes_.enabled()) {
      far += nodes_.fetch(w, b, block_bytes_, where.writes);
    }
    if (where.writes) {
      if (is_remote && own_hits + shared_hits != hits) ++taken_back;
      ++version;
      own.write(b, version);
      shared.write(b, version);
    }
  }
  std::uint64_t const misses = where.blocks - own_hits - shared_hits;
  // Lines that are fetched for writing are written back later, as in numa_nodes::fetch.
  std::uint64_t const bytes = where.writes ? 2 * block_bytes_ : block_bytes_;
  if (shared.capacity() != 0) shared_queues_[squad_of_[w]].order((shared_hits + misses) * bytes);
  memory_queue_.order((misses - switch_count) * bytes);
  seen.accesses += where.blocks * lines_;
  seen.private_hits += own_hits * lines_;
  seen.shared_hits += shared_hits * lines_;
  seen.memory += misses * lines_;
  seen.far_memory += far * lines_;
  seen.switch_count += switch_count * lines_;
  return cost(costs_.private_hit, own_hits, random) + cost(costs_.shared_hit, shared_hits, random) +
         cost(costs_.memory, misses - far - switch_count, random) + cost(costs_.far_memory, far, random) +
         cost(costs_.transfer.value_or(costs_.memory), switch_count + taken_back, random);
}

HEIST_BODY ticks memory::waiting_time(std::uint32_t w, ticks now, ticks alone) noexcept {
  if (!enabled_) return alone;
  return std::max({nodes_.waiting_time(now, alone), shared_queues_[squad_of_[w]].serve(now, shared_bandwidth_),
                   memory_queue_.serve(now, memory_bandwidth_)});
}

HEIST_BODY bool memory::is_transfer(std::uint32_t block, std::uint32_t side) noexcept {
  if (sides_.empty()) return false;
  std::uint32_t const before = std::exchange(sides_[block], side);
  return before != 0 && before != side;
}

HEIST_BODY void memory::number_blocks(program const& p, std::uint64_t block) {
  using part = std::pair<std::uint64_t, std::uint64_t>;  // first block and the one behind the last
  auto const blocks_of = [&](touch const& t) {
    return part{t.address / block, t.bytes == 0 ? t.address / block : (t.address + (t.bytes - 1)) / block + 1};
  };
  std::vector<part> parts;
  for (touch const& t : p.touches()) parts.push_back(blocks_of(t));
  std::sort(parts.begin(), parts.end());
  std::vector<part> merged;
  for (part const& now : parts) {
    if (merged.empty() || now.first > merged.back().second) {
      merged.push_back(now);
    } else {
      merged.back().second = std::max(merged.back().second, now.second);
    }
  }
  std::vector<std::uint64_t> number{0};
  for (part const& m : merged) nodes_.add_blocks(m.first, m.second - m.first);
  for (part const& m : merged) number.push_back(number.back() + (m.second - m.first));
  if (number.back() >= std::uint64_t{1} << 31)
    detail::fail(
        "the program touches {} blocks of {} bytes, too many to simulate; fix it by larger blocks "
        "(options::caches.block_bytes)",
        number.back(), block);
  versions_.assign(static_cast<std::size_t>(number.back()), 0);
  for (touch const& t : p.touches()) {
    part const wanted = blocks_of(t);
    auto const in = static_cast<std::size_t>(
        std::upper_bound(merged.begin(), merged.end(), part{wanted.first, ~std::uint64_t{0}}) - merged.begin() - 1);
    touches_.push_back({static_cast<std::uint32_t>(number[in] + (wanted.first - merged[in].first)),
                        static_cast<std::uint32_t>(wanted.second - wanted.first), t.writes});
  }
}

}  // namespace heist::sim
