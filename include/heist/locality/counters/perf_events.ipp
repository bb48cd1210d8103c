// Bodies of perf_events.hpp.
#pragma once

#include "heist/locality/counters/perf_events.hpp"

#include <sys/mman.h>     // mmap, munmap
#include <sys/syscall.h>  // SYS_perf_event_open

#include <fmt/core.h>

#include <algorithm>  // min
#include <cerrno>     // errno, EACCES, ...
#include <charconv>   // from_chars
#include <cstring>    // strerror
#include <fstream>    // ifstream
#include <initializer_list>
#include <ios>  // streamsize
#include <optional>

namespace heist::detail {

/// A number in a text like /proc/cpuinfo, "cpu family\t: 26"; nothing if there is no such line.
HEIST_COLD_BODY std::optional<std::uint32_t> cpuinfo_number(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    auto const end = text.find('\n', at);
    auto const line = text.substr(at, end == std::string_view::npos ? end : end - at);
    auto const colon = line.find(':');
    if (colon != std::string_view::npos && line.substr(0, line.find_first_of("\t:")) == name) {
      auto const value = line.substr(std::min(line.find_first_not_of(": ", colon), line.size()));
      std::uint32_t number = 0;
      if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{}) return number;
    }
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return std::nullopt;
}

HEIST_COLD_BODY private_miss_events generic_miss_events() {
  return {{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}}, "cache misses as the kernel defines them"};
}

HEIST_COLD_BODY private_miss_events private_misses_of(std::string_view cpuinfo) {
  auto const raw = [](std::initializer_list<std::uint64_t> configs) {
    private_miss_events result;
    for (auto const config : configs) {
      result.events.push_back({PERF_TYPE_RAW, config});
      result.name += fmt::format("{}{:#06x}", result.name.empty() ? "L2 misses, raw event " : " + ", config);
    }
    return result;
  };
  auto const family = cpuinfo_number(cpuinfo, "cpu family").value_or(0);
  auto const model = cpuinfo_number(cpuinfo, "model").value_or(0);
  if (cpuinfo.find("AuthenticAMD") != std::string_view::npos ||
      cpuinfo.find("HygonGenuine") != std::string_view::npos) {
    if (family == 0x10) return raw({0x027e});  // the paper's, on its Opteron 8380
    // Data cache requests that miss the L2 + prefetches of the L2 that hit the L3 + those that miss it.
    if (family == 0x17 || family == 0x18) return raw({0x0864, 0xff71, 0xff72});
    if (family == 0x19 || family == 0x1a) return raw({0x0864, 0x1f71, 0x1f72});  // excludes the L1's, counted above
  }
  if (cpuinfo.find("GenuineIntel") != std::string_view::npos && family == 6) {  // lines that came into the L2
    for (auto const m : {0x2a, 0x2d, 0x3a, 0x3e, 0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56})  // up to Broadwell
      if (model == static_cast<std::uint32_t>(m)) return raw({0x07f1});
    for (auto const m : {0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7})
      if (model == static_cast<std::uint32_t>(m)) return raw({0x1ff1});  // Skylake to Tiger Lake
    for (auto const m : {0x97, 0x9a, 0xb7, 0xba, 0xbf, 0x8f, 0xcf, 0xad, 0xae, 0xaa, 0xac})
      if (model == static_cast<std::uint32_t>(m)) return raw({0x1f25});  // Alder Lake, Sapphire Rapids and later
  }
  return generic_miss_events();
}

HEIST_COLD_BODY std::string perf_error(int error, std::string_view event, std::string_view paranoid) {
  auto message = fmt::format("perf_event_open was refused for {} ({}), ", event, std::strerror(error));
  switch (error) {
    case EACCES:
    case EPERM: {
      int level = 0;
      bool const known = std::from_chars(paranoid.data(), paranoid.data() + paranoid.size(), level).ec == std::errc{};
      if (known && level > 2)
        return message + fmt::format(
                             "as /proc/sys/kernel/perf_event_paranoid is {}; fix it by "
                             "sysctl kernel.perf_event_paranoid=2 or the capability CAP_PERFMON",
                             level);
      return message +
             "probably by the seccomp profile of a container; fix it by one that allows perf_event_open, or by "
             "the capability CAP_PERFMON";
    }
    case ENOSYS:
      return message +
             "as the kernel or the sandbox has no performance events; fix it by a kernel with "
             "CONFIG_PERF_EVENTS or by leaving the sandbox";
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
      return message +
             "as this machine shows no such counter, which is usual in virtual machines; fix it by giving "
             "the virtual machine a PMU or by running on the machine itself";
    case EMFILE:
    case ENFILE:
      return message + "as there are too many open files; fix it by a higher limit (ulimit -n)";
    case EBUSY:
    case ENOSPC:
      return message +
             "as other programs or the NMI watchdog use the counters; fix it by ending them or by "
             "sysctl kernel.nmi_watchdog=0";
    default:
      return message + "for a reason that is not known here; fix it by an up-to-date kernel, or do without";
  }
}

HEIST_COLD_BODY std::string text_of(char const* path, std::size_t most) {
  std::ifstream file(path);
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

HEIST_COLD_BODY int os_perf::open(perf_event event, int leader) noexcept {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.read_format = PERF_FORMAT_GROUP;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.pinned = leader == -1;
  auto const file = ::syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
  return file >= 0 ? static_cast<int>(file) : -errno;
}

HEIST_COLD_BODY perf_event_mmap_page const volatile* os_perf::map(int file) noexcept {
  auto* const page = ::mmap(nullptr, page_bytes(), PROT_READ, MAP_SHARED, file, 0);
  return page == MAP_FAILED ? nullptr : static_cast<perf_event_mmap_page const volatile*>(page);
}

HEIST_COLD_BODY void os_perf::unmap(perf_event_mmap_page const volatile* page) noexcept {
  ::munmap(const_cast<perf_event_mmap_page*>(page), page_bytes());
}

HEIST_COLD_BODY bool os_perf::read(int file, void* to, std::size_t bytes) noexcept {
  return ::read(file, to, bytes) == static_cast<ssize_t>(bytes);
}

HEIST_COLD_BODY std::uint64_t os_perf::counter([[maybe_unused]] std::uint32_t index) noexcept {
#if HEIST_X86_64
  return static_cast<std::uint64_t>(__builtin_ia32_rdpmc(static_cast<int>(index)));
#else
  return 0;
#endif
}

HEIST_COLD_BODY std::string os_perf::cpuinfo() const {
  return text_of("/proc/cpuinfo", 4096);
}

HEIST_COLD_BODY std::string os_perf::paranoid() const {
  return text_of("/proc/sys/kernel/perf_event_paranoid", 16);
}

HEIST_COLD_BODY std::size_t os_perf::page_bytes() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace heist::detail
