// The NUMA nodes of memory pages, and whether the threads that wrote to the pages first ran on the same nodes. The
// functions ask the system and move no page.
#pragma once

#include <fmt/core.h>
#include <unistd.h>  // syscall, sysconf

#include <algorithm>  // min
#include <array>
#include <cerrno>   // errno, ENOENT, ENOSYS, EPERM
#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, uintptr_t
#include <string>
#include <utility>  // move
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"

namespace heist {

/// How many pages of some memory are where.
struct page_nodes {
  std::vector<std::size_t> pages_on;  ///< by the system's number of the node; no longer than the last that has a page
  std::size_t not_present = 0;        ///< mapped, but never written, or swapped out
  std::size_t unknown = 0;            ///< unmapped, read but never written, or the system does not say
  std::string note;                   ///< why the system refused, and how to fix it; empty if it did not

  std::size_t pages() const noexcept;
  /// "2 pages on node 0, 1 on node 1, 1 not present, 0 unknown".
  std::string text() const;
  friend bool operator==(page_nodes const&, page_nodes const&) = default;
};

namespace detail {

/// Why that system call failed and how to fix it, as a sentence without its full stop.
std::string page_error(char const* call, int error);

/// The queries' calls to the operating system. Tests supply another class.
struct os_pages {
  /// The node of each page, or -errno where there is none; 0 or -errno for the whole.
  int nodes_of(void* const* pages, int* nodes, std::size_t count) noexcept;
  /// The node of the CPU that the calling thread is on, or -errno.
  int here() noexcept;
  std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
};

/// Calls each(node or -errno) for the pages that begin in [first, last), `first` being the address of one. 0, or -errno
/// of the system's first refusal, which is then what each() is called with, too.
template <class Calls, class Each>
int for_each_page(Calls& calls, std::uintptr_t first, std::uintptr_t last, std::size_t page_bytes, Each each) {
  constexpr std::size_t at_once = 64;  // small: leaves call it on a fiber's stack
  std::array<void*, at_once> pages;
  std::array<int, at_once> nodes;
  std::size_t left = first < last ? (last - first - 1) / page_bytes + 1 : 0;
  int rejected = 0;
  while (left != 0) {
    std::size_t const count = std::min(at_once, left);
    for (std::size_t i = 0; i != count; ++i, first += page_bytes) pages[i] = reinterpret_cast<void*>(first);
    if (rejected == 0) {
      nodes.fill(-EFAULT);
      rejected = calls.nodes_of(pages.data(), nodes.data(), count);
    }
    for (std::size_t i = 0; i != count; ++i) each(rejected != 0 ? rejected : nodes[i]);
    left -= count;
  }
  return rejected;
}

/// One behind the last byte; of a range that does not end, the last byte of all.
std::uintptr_t end_of(void const* begin, std::size_t bytes) noexcept;

template <class Calls>
page_nodes pages_of(Calls& calls, void const* begin, std::size_t bytes) {
  page_nodes found;
  std::size_t const page = calls.page_bytes();
  auto const first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
  int const rejected =
      for_each_page(calls, bytes == 0 ? 0 : first, bytes == 0 ? 0 : end_of(begin, bytes), page, [&](int node) {
        if (node == -ENOENT) {
          ++found.not_present;
        } else if (node < 0) {
          ++found.unknown;
        } else {
          auto const at = static_cast<std::size_t>(node);
          if (found.pages_on.size() <= at) found.pages_on.resize(at + 1);
          ++found.pages_on[at];
        }
      });
  if (rejected != 0) found.note = page_error("move_pages", -rejected);
  return found;
}

}  // namespace detail

/// Of all pages that hold a byte of [begin, begin + bytes), which may be any addresses. Pages are those of sysconf,
/// also where the system puts many of them together. Throws bad_alloc; what the system refuses is `unknown`, and `note`
/// says why.
///
/// Threads  any.
/// Cost     a system call for 64 pages, which is microseconds.
page_nodes pages_of(void const* begin, std::size_t bytes);

/// Checks that the workers that write first to memory run on the nodes of its pages. The leaves of a fork/join
/// initialiser call touched() when they have written. Then loops that follow the same schedule find their data near.
///
/// A page counts once, for the leaf in whose range it begins. Where ranges end within pages, a neighbour may have
/// written first; so ranges should be much larger than pages. Threads that are not bound to CPUs may have moved between
/// writing and asking.
///
/// `Calls` are the calls to the operating system; tests replace them.
///
/// Threads  touched() by any at any time; numbers that fit each other when no leaf runs.
/// Cost     two system calls, and one more for each 64 pages: microseconds per leaf, so do not use it in measured code.
template <class Calls>
class basic_first_touch_check {
 public:
  explicit basic_first_touch_check(Calls calls = {}) : calls_(std::move(calls)) {}

  /// The calling thread has written to [begin, begin + bytes).
  void touched(void const* begin, std::size_t bytes) noexcept {
    if (bytes == 0) return;
    Calls calls = calls_;
    std::size_t const page = calls.page_bytes();
    std::uintptr_t const last = detail::end_of(begin, bytes);
    auto first = reinterpret_cast<std::uintptr_t>(begin);
    std::uintptr_t const before = first % page;
    if (before != 0) {
      if (last - first <= page - before) return;  // no page begins here
      first += page - before;
    }
    int const here = calls.here();
    std::size_t right = 0, wrong = 0, unknown = 0;
    std::uint64_t nodes = here < 0 ? 0 : bit_of(here);
    int const rejected = detail::for_each_page(calls, first, last, page, [&](int node) {
      if (node >= 0) nodes |= bit_of(node);
      ++(node < 0 || here < 0 ? unknown : node == here ? right : wrong);
    });
    // relaxed, all of them: sums for people; the task that waits for the leaves sees their additions
    right_.fetch_add(right, std::memory_order_relaxed);                           // relaxed: as above
    wrong_.fetch_add(wrong, std::memory_order_relaxed);                           // relaxed: as above
    unknown_.fetch_add(unknown, std::memory_order_relaxed);                       // relaxed: as above
    nodes_.fetch_or(nodes, std::memory_order_relaxed);                            // relaxed: as above
    if (rejected != 0) pages_error_.store(-rejected, std::memory_order_relaxed);  // relaxed: as above; any will do
    if (here < 0) here_error_.store(-here, std::memory_order_relaxed);            // relaxed: as above; any will do
  }

  /// Pages on the node of the thread that wrote to them.
  std::size_t right() const noexcept { return right_.load(std::memory_order_relaxed); }  // relaxed: as in touched()
  /// Pages on another node.
  std::size_t wrong() const noexcept { return wrong_.load(std::memory_order_relaxed); }  // relaxed: as in touched()
  /// Pages that are nowhere, or of which the system does not say where they are.
  std::size_t unknown() const noexcept { return unknown_.load(std::memory_order_relaxed); }  // relaxed: as in touched()

  /// A sentence for people: "90 of 100 pages (90.0 %) are on the node of the thread that wrote to them first, 8 on
  /// another, of 2 it is unknown." with what one must know to believe it.
  std::string text() const {
    std::size_t const on_node = right(), remote = wrong(), no_place = unknown();
    std::size_t const all = on_node + remote + no_place;
    if (all == 0) return "No page was written to that begins in the memory of one leaf.";
    auto message = fmt::format(
        "{} of {} pages ({:.1f} %) are on the node of the thread that wrote to them first, {} on another, of {} it is "
        "unknown",
        on_node, all, 100.0 * static_cast<double>(on_node) / static_cast<double>(all), remote, no_place);
    // relaxed, all three: as in touched()
    int const pages_error = pages_error_.load(std::memory_order_relaxed);
    int const here_error = here_error_.load(std::memory_order_relaxed);  // relaxed: as above
    std::uint64_t const nodes = nodes_.load(std::memory_order_relaxed);  // relaxed: as above
    if (pages_error != 0) message += fmt::format("; {}", detail::page_error("move_pages", pages_error));
    if (here_error != 0) message += fmt::format("; {}", detail::page_error("getcpu", here_error));
    if (on_node + remote != 0 && (nodes & (nodes - 1)) == 0) message += "; only one node was seen, so this says little";
    return message + ".";
  }

 private:
  template <class T>
  using atomic = os_env::atomic<T>;

  static std::uint64_t bit_of(int node) noexcept { return std::uint64_t{1} << (node < 63 ? node : 63); }

  [[no_unique_address]] Calls calls_;
  atomic<std::size_t> right_{0};
  atomic<std::size_t> wrong_{0};
  atomic<std::size_t> unknown_{0};
  atomic<std::uint64_t> nodes_{0};  ///< seen, a bit for each; the last bit for all other nodes
  atomic<int> pages_error_{0};      ///< the system's last refusal to tell the nodes of pages
  atomic<int> here_error_{0};       ///< and where the thread is
};

using first_touch_check = basic_first_touch_check<detail::os_pages>;

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/tools/observe/page_nodes.ipp"
#endif
