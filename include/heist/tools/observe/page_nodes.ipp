// Bodies of page_nodes.hpp.
#pragma once

#include "heist/tools/observe/page_nodes.hpp"

#include <sys/syscall.h>  // SYS_getcpu, SYS_move_pages

#include <cstring>  // strerror
#include <limits>

namespace heist {

HEIST_COLD_BODY std::size_t page_nodes::pages() const noexcept {
  std::size_t sum = not_present + unknown;
  for (std::size_t const n : pages_on) sum += n;
  return sum;
}

HEIST_COLD_BODY std::string page_nodes::text() const {
  std::string all;
  for (std::size_t node = 0; node < pages_on.size(); ++node)
    all += fmt::format("{} {}on node {}, ", pages_on[node], node == 0 ? "pages " : "", node);
  all += fmt::format("{} {}not present, {} unknown", not_present, pages_on.empty() ? "pages " : "", unknown);
  return note.empty() ? all : fmt::format("{} ({})", all, note);
}

}  // namespace heist

namespace heist::detail {

HEIST_COLD_BODY std::string page_error(char const* call, int error) {
  auto const message = fmt::format("{} was refused ({}), ", call, std::strerror(error));
  switch (error) {
    case ENOSYS:
      return message +
             "as the kernel or the sandbox knows no NUMA nodes; fix it by a kernel with CONFIG_NUMA or by leaving the "
             "sandbox";
    case EPERM:
    case EACCES:
      return message +
             "probably by the seccomp profile of a container; fix it by one that allows this call, or by the "
             "capability CAP_SYS_NICE";
    default:
      return message + "for a reason that is not known here; fix it by an up-to-date kernel, or do without";
  }
}

HEIST_COLD_BODY int os_pages::nodes_of(void* const* pages, int* nodes, std::size_t count) noexcept {
  auto const result = ::syscall(SYS_move_pages, 0, count, pages, nullptr, nodes, 0);  // no targets: only asks
  return result < 0 ? -errno : 0;
}

HEIST_COLD_BODY int os_pages::here() noexcept {
  unsigned cpu = 0, node = 0;
  return ::syscall(SYS_getcpu, &cpu, &node, nullptr) == 0 ? static_cast<int>(node) : -errno;
}

HEIST_COLD_BODY std::uintptr_t end_of(void const* begin, std::size_t bytes) noexcept {
  auto const first = reinterpret_cast<std::uintptr_t>(begin);
  return first + std::min<std::uintptr_t>(bytes, std::numeric_limits<std::uintptr_t>::max() - first);
}

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY page_nodes pages_of(void const* begin, std::size_t bytes) {
  detail::os_pages calls;
  return detail::pages_of(calls, begin, bytes);
}

}  // namespace heist
