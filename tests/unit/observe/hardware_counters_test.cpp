// heist/locality/counters/hardware_counters.hpp: every refusal has its sentence, and both ways to read work. The tests
// use a simulated system and, as far as this machine allows, the real one.
#include "heist/locality/counters/hardware_counters.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/texts.hpp"

using heist::basic_hardware_counters;
using heist::counter_source;
using heist::counter_values;
using heist::hardware_counters;
using heist::detail::perf_event;
using heist::detail::private_misses_of;
using heist_test::has;

namespace {

std::string cpu(char const* vendor, int family, int model) {
  return "processor\t: 0\nvendor_id\t: " + std::string(vendor) + "\ncpu family\t: " + std::to_string(family) +
         "\nmodel\t\t: " + std::to_string(model) + "\nmodel name\t: Some CPU 4\nflags\t\t: fpu\n";
}
std::string const zen5 = cpu("AuthenticAMD", 26, 2);

struct fake_file {
  perf_event event;
  int leader = -1;
  std::uint64_t value = 0;  // as the kernel would say
  perf_event_mmap_page page{};
  std::vector<std::uint64_t> registers;  // the results of rdpmc, one read after the other
  std::size_t reads = 0;
};

/// An operating system that does as the test says.
struct fake_system {
  std::string cpuinfo = zen5, paranoid = "2\n";
  std::map<std::uint64_t, int> rejects_call;  // error by config; by type below
  std::map<std::uint32_t, int> rejects_type;
  bool maps = false;       // does mmap work?
  bool group_runs = true;  // does the pinned group have counters?
  int fail_reads = 0;
  std::map<int, fake_file> files;
  int next_file = 7, closed = 0, mapped = 0, unmapped = 0, kernel_reads = 0;
  void (*in_the_middle)(fake_system&, fake_file&) = nullptr;  // runs between two looks at the lock

  fake_file* with(std::uint64_t config) {
    for (auto& [number, f] : files)
      if (f.event.config == config) return &f;
    return nullptr;
  }
};

struct fake_calls {
  static constexpr bool reads_in_user_mode = true;
  fake_system* system = nullptr;

  int open(perf_event event, int leader) noexcept {
    if (auto const e = system->rejects_call.find(event.config); e != system->rejects_call.end()) return -e->second;
    if (auto const e = system->rejects_type.find(event.type); e != system->rejects_type.end()) return -e->second;
    auto const number = system->next_file++;
    system->files[number].event = event;
    system->files[number].leader = leader;
    return number;
  }
  void close(int file) noexcept {
    ++system->closed;
    system->files.erase(file);
  }
  perf_event_mmap_page const volatile* map(int file) noexcept {
    if (!system->maps) return nullptr;
    ++system->mapped;
    return &system->files.at(file).page;
  }
  void unmap(perf_event_mmap_page const volatile*) noexcept { ++system->unmapped; }
  bool read(int file, void* to, std::size_t bytes) noexcept {
    ++system->kernel_reads;
    if (!system->group_runs || system->fail_reads > 0) return --system->fail_reads, false;
    std::vector<std::uint64_t> group{0};
    for (auto const& [number, f] : system->files)
      if (number == file || f.leader == file) group.push_back(f.value);
    group[0] = group.size() - 1;
    if (bytes != group.size() * sizeof group[0]) return false;
    std::copy(group.begin(), group.end(), static_cast<std::uint64_t*>(to));
    return true;
  }
  std::uint64_t counter(std::uint32_t index) noexcept {
    for (auto& [number, f] : system->files) {
      if (f.page.index != index + 1) continue;
      auto const value = f.registers[f.reads < f.registers.size() ? f.reads : f.registers.size() - 1];
      ++f.reads;
      if (system->in_the_middle != nullptr) system->in_the_middle(*system, f);
      return value;
    }
    std::abort();  // asked for a counter that no page shows
  }
  std::string cpuinfo() const { return system->cpuinfo; }
  std::string paranoid() const { return system->paranoid; }
};
using fake_counters = basic_hardware_counters<fake_calls>;

static_assert(counter_source<fake_counters>);

/// The least that a source must be: users and tests may bring their own.
struct archetype {
  archetype() = default;
  archetype(archetype const&) = delete;
  counter_values read() noexcept { return {}; }
  bool available() const noexcept { return true; }
  char const* why() const { return ""; }
};
static_assert(counter_source<archetype>);
struct read_may_throw : archetype {
  counter_values read() { return {}; }
};
struct no_reason : archetype {
  void why() const {}
};
static_assert(!counter_source<read_may_throw>);
static_assert(!counter_source<no_reason>);
static_assert(!counter_source<int>);

constexpr std::uint64_t l1 = 1 << 16, instructions = 1;  // the other two events' config

/// Shows all files in counters of 48 bits, at `value` each.
void show_counters(fake_system& s, std::uint64_t value) {
  std::uint32_t index = 1;
  for (auto& [number, f] : s.files) {
    f.page.cap_user_rdpmc = 1;
    f.page.pmc_width = 48;
    f.page.index = index++;
    f.page.offset = 0;
    f.registers = {value};
    f.reads = 0;
  }
}

}  // namespace

TEST_CASE("counters: what is counted for the last private cache follows from the processor", "[observe]") {
  auto const raw = [](std::string const& cpuinfo) {
    std::vector<std::uint64_t> configs;
    for (auto const& e : private_misses_of(cpuinfo).events)
      if (e.type == PERF_TYPE_RAW) configs.push_back(e.config);
    return configs;
  };
  using list = std::vector<std::uint64_t>;
  CHECK(raw(cpu("AuthenticAMD", 16, 4)) == list{0x027e});  // the paper's Opteron 8380: event 7Eh, mask 02h
  CHECK(raw(cpu("AuthenticAMD", 23, 49)) == list{0x0864, 0xff71, 0xff72});
  CHECK(raw(cpu("HygonGenuine", 24, 0)) == list{0x0864, 0xff71, 0xff72});
  CHECK(raw(cpu("AuthenticAMD", 25, 17)) == list{0x0864, 0x1f71, 0x1f72});
  CHECK(raw(zen5) == list{0x0864, 0x1f71, 0x1f72});
  CHECK(raw(cpu("GenuineIntel", 6, 0x3f)) == list{0x07f1});
  CHECK(raw(cpu("GenuineIntel", 6, 0x55)) == list{0x1ff1});
  CHECK(raw(cpu("GenuineIntel", 6, 0x8f)) == list{0x1f25});
  CHECK(private_misses_of(zen5).name == "L2 misses, raw event 0x0864 + 0x1f71 + 0x1f72");
  for (auto const& unknown : {cpu("GenuineIntel", 6, 0x1c), cpu("GenuineIntel", 15, 4), cpu("AuthenticAMD", 21, 1),
                              cpu("Other", 26, 2), std::string(), std::string("cpu family\t:\nmodel"),
                              std::string("vendor_id: GenuineIntel\ncpu family\t: x\n")}) {
    auto const events = private_misses_of(unknown);
    REQUIRE(events.events == std::vector<perf_event>{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}});
    CHECK(events.name == "cache misses as the kernel defines them");
  }
}

TEST_CASE("counters: every refusal says what, why and how to fix it", "[observe]") {
  struct {
    int error;
    char const *paranoid, *why, *cure;
  } const refusals[] = {
      {EACCES, "3\n", "perf_event_paranoid is 3", "sysctl kernel.perf_event_paranoid=2"},
      {EPERM, "4\n", "perf_event_paranoid is 4", "CAP_PERFMON"},
      {EACCES, "2\n", "seccomp profile of a container", "allows perf_event_open"},
      {EPERM, "-1\n", "seccomp profile of a container", "allows perf_event_open"},
      {EPERM, "", "seccomp profile of a container", "allows perf_event_open"},
      {ENOSYS, "2\n", "has no performance events", "CONFIG_PERF_EVENTS"},
      {ENOENT, "2\n", "usual in virtual machines", "a PMU"},
      {ENODEV, "2\n", "usual in virtual machines", "a PMU"},
      {ENXIO, "2\n", "usual in virtual machines", "a PMU"},
      {EOPNOTSUPP, "2\n", "usual in virtual machines", "a PMU"},
      {EMFILE, "2\n", "too many open files", "ulimit -n"},
      {ENFILE, "2\n", "too many open files", "ulimit -n"},
      {EBUSY, "2\n", "NMI watchdog", "nmi_watchdog=0"},
      {ENOSPC, "2\n", "NMI watchdog", "nmi_watchdog=0"},
      {EINVAL, "2\n", "not known here", "up-to-date kernel"},
      {E2BIG, "2\n", "not known here", "up-to-date kernel"},
  };
  for (auto const& r : refusals) {
    fake_system s;
    s.paranoid = r.paranoid;
    for (std::uint32_t const type : {PERF_TYPE_RAW, PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE})
      s.rejects_type[type] = r.error;
    fake_counters c(fake_calls{&s});
    INFO(c.why());
    CHECK_FALSE(c.available());
    CHECK(has(c.why(), "perf_event_open was refused for "));
    CHECK(has(c.why(), std::strerror(r.error)));
    CHECK(has(c.why(), r.why));
    CHECK(has(c.why(), "fix it by "));
    CHECK(has(c.why(), r.cure));
    CHECK(c.why().back() != '.');
    CHECK(c.read() == counter_values{});
    CHECK(s.files.empty());
  }
}

TEST_CASE("counters: one event that is refused closes those that were opened, and is named", "[observe]") {
  for (auto const& [config, name] : std::map<std::uint64_t, std::string>{
           {0x1f72, "L2 misses, raw event"}, {l1, "L1 data cache read misses"}, {instructions, "instructions"}}) {
    fake_system s;
    s.maps = true;
    s.rejects_call[config] = EACCES;
    fake_counters c(fake_calls{&s});
    CHECK_FALSE(c.available());
    CHECK(has(c.why(), "refused for " + name));
    CHECK(s.files.empty());
    CHECK(s.closed == s.next_file - 7);
    CHECK(s.mapped == s.closed);
    CHECK(s.unmapped == s.mapped);
  }
}

TEST_CASE("counters: raw events that the machine does not have give way to the kernel's cache misses", "[observe]") {
  for (int const error : {ENOENT, EINVAL, EOPNOTSUPP}) {
    fake_system s;
    s.rejects_type[PERF_TYPE_RAW] = error;
    fake_counters c(fake_calls{&s});
    REQUIRE(c.available());
    CHECK(c.event() == "cache misses as the kernel defines them");
    s.with(PERF_COUNT_HW_CACHE_MISSES)->value = 5;
    s.with(l1)->value = 6;
    s.with(instructions)->value = 7;
    CHECK(c.read() == counter_values{5, 6, 7});
  }
  fake_system s;
  s.rejects_type[PERF_TYPE_RAW] = EACCES;  // asking again would not help
  fake_counters c(fake_calls{&s});
  CHECK_FALSE(c.available());
}

TEST_CASE("counters: one group, read by the kernel where user mode may not", "[observe]") {
  for (bool const maps : {false, true}) {  // pages that show no counter are as good as none
    fake_system s;
    s.maps = maps;
    std::optional<fake_counters> optional(std::in_place, fake_calls{&s});
    auto& c = *optional;
    REQUIRE(c.available());
    CHECK(c.why().empty());
    CHECK(c.event() == "L2 misses, raw event 0x0864 + 0x1f71 + 0x1f72");
    REQUIRE(s.files.size() == 5);
    for (auto const& [number, f] : s.files) CHECK(f.leader == (number == 7 ? -1 : 7));
    s.with(0x0864)->value = 1;
    s.with(0x1f71)->value = 20;
    s.with(0x1f72)->value = 300;
    s.with(l1)->value = 4000;
    s.with(instructions)->value = 50000;
    auto const before = c.read();
    CHECK(before == counter_values{321, 4000, 50000});
    s.with(0x1f71)->value += 2;
    s.with(instructions)->value += 9;
    CHECK(c.read() - before == counter_values{2, 0, 9});

    s.fail_reads = 1;  // the last values again, and no difference
    s.with(instructions)->value += 1;
    CHECK(c.read() - before == counter_values{2, 0, 9});
    CHECK(c.read() - before == counter_values{2, 0, 10});

    CHECK(s.closed == 0);
    optional.reset();
    CHECK(s.files.empty());
    CHECK(s.mapped == (maps ? 5 : 0));
    CHECK(s.unmapped == s.mapped);
  }
}

TEST_CASE("counters: a machine that counts nothing is available and says zero", "[observe]") {
  fake_system s;
  fake_counters c(fake_calls{&s});
  CHECK(c.available());
  CHECK(c.read() == counter_values{});
}

TEST_CASE("counters: a group that gets no counters is refused", "[observe]") {
  fake_system s;
  s.group_runs = false;
  fake_counters c(fake_calls{&s});
  CHECK_FALSE(c.available());
  CHECK(has(c.why(), "NMI watchdog"));
  CHECK(s.files.empty());
}

TEST_CASE("counters: user mode reads the register and adds the kernel's offset", "[observe]") {
  fake_system s;
  s.maps = true;
  fake_counters c(fake_calls{&s});
  REQUIRE(c.available());
  show_counters(s, 10);
  s.with(instructions)->page.offset = 1000;
  auto const kernel_reads = s.kernel_reads;
  CHECK(c.read() == counter_values{30, 10, 1010});
  CHECK(s.kernel_reads == kernel_reads);

  // Registers are narrower than 64 bits and may hold a negative number, which the offset makes up for.
  auto& f = *s.with(l1);
  f.registers = {(std::uint64_t{1} << 48) - 5};
  f.page.offset = 105;
  f.reads = 0;
  CHECK(c.read().l1_misses == 100);
  f.page.pmc_width = 40;
  f.registers = {(std::uint64_t{1} << 40) - 5};
  f.reads = 0;
  CHECK(c.read().l1_misses == 100);
  f.page.pmc_width = 64;
  f.registers = {~std::uint64_t{0}};
  f.reads = 0;
  CHECK(c.read().l1_misses == 104);
}

TEST_CASE("counters: an event that is in no counter, or not for user mode, is read by the kernel with all",
          "[observe]") {
  for (bool const no_index : {true, false}) {
    fake_system s;
    s.maps = true;
    fake_counters c(fake_calls{&s});
    show_counters(s, 10);
    for (auto& [number, f] : s.files) f.value = 77;
    if (no_index)
      s.with(l1)->page.index = 0;
    else
      s.with(l1)->page.cap_user_rdpmc = 0;
    CHECK(c.read() == counter_values{3 * 77, 77, 77});
  }
}

TEST_CASE("counters: what the kernel changes in the middle of a read is read again", "[observe]") {
  fake_system s;
  s.maps = true;
  fake_counters c(fake_calls{&s});
  show_counters(s, 10);
  auto& f = *s.with(instructions);
  f.registers = {10, 3};  // switched out and in: the register's old value is now in the offset
  s.in_the_middle = [](fake_system& system, fake_file& file) {
    if (file.event.config != instructions || file.reads != 1) return;
    file.page.lock = file.page.lock + 2;
    file.page.offset = 1000;
    system.in_the_middle = nullptr;
  };
  CHECK(c.read().instructions == 1003);
  CHECK(f.reads == 2);
}

namespace {

/// The real calls with events that every kernel counts: page faults in place of all hardware events.
struct page_faults : heist::detail::os_perf {
  int open(perf_event, int leader) noexcept {
    return os_perf::open({PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}, leader);
  }
};

std::size_t open_files() {
  std::size_t n = 0;
  for (int file = 0; file < 1000; ++file) {
    std::ifstream info("/proc/self/fdinfo/" + std::to_string(file));
    n += info.good();
  }
  return n;
}

}  // namespace

TEST_CASE("counters: the kernel's group of five real events, where it allows any", "[observe]") {
  auto const files = open_files();
  {
    basic_hardware_counters<page_faults> c;
    if (!c.available()) {
      WARN("software events: " + c.why());
      CHECK_FALSE(has(c.why(), "a group that is counted"));  // software events need no counters
      CHECK(has(c.why(), "fix it by"));
    } else {
      constexpr std::size_t pages = 64, bytes = pages * 4096;
      auto const before = c.read();
      auto* const memory = static_cast<char volatile*>(
          ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      ::madvise(const_cast<char*>(memory), bytes, MADV_NOHUGEPAGE);
      for (std::size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
      auto const touched = c.read() - before;
      ::munmap(const_cast<char*>(memory), bytes);
      CHECK(touched.l1_misses >= pages);
      CHECK(touched.l1_misses < 100 * pages);
      CHECK(touched.instructions == touched.l1_misses);
      CHECK(touched.private_misses % touched.l1_misses == 0);  // the sum of one or three
    }
  }
  CHECK(open_files() == files);
}

TEST_CASE("counters: on this very machine they count or say why not", "[observe]") {
  hardware_counters c;
  if (c.available()) {
    auto const before = c.read();
    int volatile sink = 0;
    for (int i = 0; i < 100000; ++i) sink = i;
    REQUIRE(sink == 99999);
    auto const spent = c.read() - before;
    CHECK((spent.instructions == 0 || spent.instructions >= 100000));  // some virtual machines count nothing
    CHECK(spent.instructions < 1000000000);
  } else {
    WARN(c.why());
    CHECK(has(c.why(), "fix it by"));
    CHECK(c.read() == counter_values{});
  }
}
