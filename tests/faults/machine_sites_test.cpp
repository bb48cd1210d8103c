// hwloc and the files of the kernel refuse calls or return garbage. Some machine is found all the same, with a note
// that names the missing data. No resource leaks, and the next attempt is right.
#include "faults/interposer.hpp"
// The interposers come first.
#include "faults/interposed_files.hpp"
#include "faults/interposed_hwloc.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>  // mkdtemp
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "faults/child_process.hpp"
#include "faults/failing_new.hpp"
#include "faults/sweep.hpp"
#include "heist/core/topology/cpu_quota.hpp"
#include "heist/core/topology/hwloc_machine.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"

namespace {

namespace topology = heist::topology;
using heist_test::fault;
using heist_test::run_child;

/// A machine that can be worked with: of this process's CPUs, or of one if it cannot know them.
void some_machine() {
  auto const m = topology::discover();
  CHILD_REQUIRE(m.pu_count() >= 1);
  CHILD_REQUIRE(m.core_count() >= 1);
  CHILD_REQUIRE(topology::usable_cpus(m, {}) >= 1);
  static auto* const real_getaffinity = heist_test::real<int(pid_t, std::size_t, cpu_set_t*)>("sched_getaffinity");
  cpu_set_t set;
  CHILD_REQUIRE(real_getaffinity(0, sizeof set, &set) == 0);
  CHILD_REQUIRE(m.pu_count() <= static_cast<std::size_t>(CPU_COUNT(&set)));
}

/// The note of discover() on a machine when the n-th call of a site fails; discover() never throws.
std::string note_without(std::string_view expected, std::size_t site) {
  std::string said;
  auto const report = run_child([&] {
    fault const f{site, 1, heist_test::forever};
    auto const m = topology::discover();
    CHILD_REQUIRE(f.failed() > 0);
    std::printf("%s\n", m.note.c_str());
    CHILD_REQUIRE(m.pu_count() >= 1);
    CHILD_REQUIRE(m.note.find(expected) != std::string::npos);
  });
  must_be_clean(report, std::string{expected});
  return report.output;
}

/// A root directory that lives as long as the test.
class file_tree {
 public:
  file_tree() {
    std::string path = (std::filesystem::temp_directory_path() / "heist_faults_XXXXXX").string();
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  file_tree(file_tree const&) = delete;
  file_tree& operator=(file_tree const&) = delete;
  ~file_tree() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  void write(std::string const& name, std::string_view text) const {
    auto const path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string text() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

struct tree_file {
  char const* name;
  char const* text;
};
/// Version 2, two groups deep: 2.5 CPUs below 1.5. Version 1: half a CPU.
constexpr tree_file version_2[] = {
    {"proc/self/cgroup", "0::/outer/inner\n"},
    {"proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"},
    {"sys/fs/cgroup/outer/cpu.max", "150000 100000\n"},
    {"sys/fs/cgroup/outer/inner/cpu.max", "250000 100000\n"},
};
constexpr tree_file version_1[] = {
    {"proc/self/cgroup", "7:cpuset:/x\n4:cpu,cpuacct:/group\n0::/y\n"},
    {"proc/self/mountinfo",
     "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n41 31 0:38 / /u rw - cgroup2 cgroup2 rw\n"},
    {"sys/fs/cgroup/cpu/group/cpu.cfs_quota_us", "50000\n"},
    {"sys/fs/cgroup/cpu/group/cpu.cfs_period_us", "100000\n"},
};

template <std::size_t N>
void for_each_file_garbled(tree_file const (&files)[N], double whole) {
  file_tree const root;
  auto const restore = [&] {
    for (auto const& f : files) root.write(f.name, f.text);
  };
  restore();
  REQUIRE(topology::cpu_quota(root.text()) == whole);
  // Every read fails in turn, every file cannot be opened in turn.
  for (char const* const what : {"open", "read"}) {
    std::size_t const site = what == std::string_view{"open"} ? site_of("file open") : site_of("file read");
    sweep(std::string{"quota: file "} + what, site,
          [&] {
            auto const quota = topology::cpu_quota(root.text());
            CHILD_REQUIRE(!quota || *quota > 0);
            CHILD_REQUIRE(topology::usable_cpus(topology::parse("core:8 pu:1"), quota) >= 1);
          },
          {.may_reject = false});
  }
  // A read that ends early, at every byte of every file; and bytes that mean nothing.
  long visible = 0;
  for (auto const& f : files) {
    std::string_view const text{f.text};
    for (std::size_t length = 0; length != text.size(); ++length) {
      for (std::string_view const tail : {"", "\xff\x01", " 99999999999999999999 -1\n", "\n\n:::\n - \n"}) {
        root.write(f.name, std::string{text.substr(0, length)} + std::string{tail});
        auto const quota = topology::cpu_quota(root.text());
        CHECK((!quota || *quota > 0));
        CHECK(topology::usable_cpus(topology::parse("core:8 pu:1"), quota) >= 1);
        ++visible;
      }
    }
    restore();
    CHECK(topology::cpu_quota(root.text()) == whole);
  }
  std::printf("quota: %ld garbled trees\n", visible);
}

}  // namespace

TEST_CASE("sites: the n-th answer of hwloc is a refusal", "[faults]") {
  sweep("hwloc version", site_of("hwloc version"), some_machine, {.may_reject = false});
  sweep("hwloc init", site_of("hwloc init"), some_machine, {.may_reject = false});
  sweep("hwloc load", site_of("hwloc load"), some_machine, {.may_reject = false});
  sweep("hwloc this system", site_of("hwloc this system"), some_machine, {.may_reject = false});
  sweep("hwloc bitmap", site_of("hwloc bitmap"), some_machine, {.may_reject = false});
  sweep("hwloc cpubind", site_of("hwloc cpubind"), some_machine, {.may_reject = false});
  sweep("hwloc restrict", site_of("hwloc restrict"), some_machine, {.may_reject = false});
  sweep("hwloc included", site_of("hwloc included"), some_machine, {.may_reject = false});
  sweep("hwloc objects", site_of("hwloc objects"), some_machine, {.may_reject = false});
  sweep("hwloc distances", site_of("hwloc distances"), some_machine, {.may_reject = false});
}

TEST_CASE("sites: hwloc's refusals become notes that say what is missing", "[faults]") {
  note_without("hwloc does not start", site_of("hwloc version"));
  note_without("hwloc does not start", site_of("hwloc init"));
  note_without("cannot read this machine", site_of("hwloc load"));
  note_without("cannot apply the affinity mask", site_of("hwloc bitmap"));
  note_without("cannot apply the affinity mask", site_of("hwloc cpubind"));
  note_without("cannot apply the affinity mask", site_of("hwloc restrict"));
  note_without("finds no PUs", site_of("hwloc objects"));
  note_without("environment variables", site_of("hwloc this system"));
}

TEST_CASE("sites: the affinity mask cannot be read where hwloc is of no use", "[faults]") {
  auto const without_hwloc = [] {
    fault const f{site_of("hwloc load"), 1, heist_test::forever};
    some_machine();
  };
  sweep("affinity read", site_of("affinity read"), without_hwloc, {.may_reject = false});
  sweep("affinity mask", site_of("affinity mask"), without_hwloc, {.may_reject = false});
}

TEST_CASE("sites: the n-th allocation fails while the machine is found out", "[faults]") {
  sweep("new: discover", site_new, some_machine);
  // Distances between nodes are memory that hwloc lends.
  sweep("new: distances", site_new, [] {
    topology::detail::hwloc_handle const hwloc;
    CHILD_REQUIRE(hwloc && ::hwloc_topology_set_synthetic(hwloc.get(), "numa:2 core:2 pu:1") == 0);
    CHILD_REQUIRE(::hwloc_topology_load(hwloc.get()) == 0);
    hwloc_obj_t nodes[2] = {::hwloc_get_obj_by_type(hwloc.get(), HWLOC_OBJ_NUMANODE, 0),
                            ::hwloc_get_obj_by_type(hwloc.get(), HWLOC_OBJ_NUMANODE, 1)};
    hwloc_uint64_t latencies[4] = {10, 21, 21, 10};
    auto const handle = ::hwloc_distances_add_create(
        hwloc.get(), nullptr, HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
    CHILD_REQUIRE(handle != nullptr);
    CHILD_REQUIRE(::hwloc_distances_add_values(hwloc.get(), handle, 2, nodes, latencies, 0) == 0);
    CHILD_REQUIRE(::hwloc_distances_add_commit(hwloc.get(), handle, 0) == 0);
    bool rejected = false;
    std::size_t known = 0;
    try {
      known = topology::detail::machine_builder(hwloc.get()).build().numa_distances.size();
    } catch (std::bad_alloc const&) {
      rejected = true;
    }
    CHILD_REQUIRE(live_distances == 0);
    if (rejected) throw std::bad_alloc{};
    CHILD_REQUIRE(known == 4);
  });
  sweep("new: descriptions", site_new, [] {
    auto const m = topology::parse("package:2 l3:1(size=1MiB) core:2 pu:2");
    CHILD_REQUIRE(topology::make_squads(m, heist::squad_by::package, 8).members.size() == 2);
  });
}

TEST_CASE("sites: control groups whose files cannot be opened, read, or understood", "[faults]") {
  SECTION("version 2") {
    for_each_file_garbled(version_2, 1.5);
  }
  SECTION("version 1") {
    for_each_file_garbled(version_1, 0.5);
  }
}

TEST_CASE("sites: the real control group's files cannot be read", "[faults]") {
  for (std::size_t const site : {site_of("file open"), site_of("file read")}) {
    sweep("this process's quota", site,
          [] {
            auto const quota = topology::cpu_quota();
            CHILD_REQUIRE(!quota || *quota > 0);
          },
          {.may_reject = false});
  }
}

TEST_CASE("sites: a description of a machine cannot be opened or read", "[faults]") {
  file_tree const root;
  root.write("machine.xml",
             "<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Machine\"><object type=\"Core\">"
             "<object type=\"PU\" os_index=\"0\"/></object></object></topology>\n");
  auto const load = [path = root.text() + "/machine.xml"] { CHILD_REQUIRE(topology::load_xml(path).pu_count() == 1); };
  sweep("xml: file open", site_of("file open"), load);
  sweep("xml: file read", site_of("file read"), load);
  sweep("xml: new", site_new, load);
}
