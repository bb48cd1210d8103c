// heist/core/topology/cpu_quota.hpp: CPU limits of control groups, shown as made-up file trees.
#include "heist/core/topology/cpu_quota.hpp"

#include <cstdlib>  // mkdtemp
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "heist/core/topology/synthetic.hpp"
#include "support/catch.hpp"

namespace {

namespace topology = heist::topology;

/// A root directory that lives as long as the test.
class fake_root {
 public:
  fake_root() {
    std::string path = (std::filesystem::temp_directory_path() / "heist_quota_XXXXXX").string();
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  fake_root(fake_root const&) = delete;
  fake_root& operator=(fake_root const&) = delete;
  ~fake_root() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  fake_root& file(std::string const& name, std::string const& text) {
    auto const path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return *this;
  }
  fake_root& process(std::string const& cgroups, std::string const& mounts) {
    return file("proc/self/cgroup", cgroups).file("proc/self/mountinfo", mounts);
  }
  std::optional<double> quota() const { return topology::cpu_quota(path_.string()); }

 private:
  std::filesystem::path path_;
};

constexpr char const* v2_mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char const* v1_mounts =
    "29 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

}  // namespace

TEST_CASE("no_files_no_limit") {
  CHECK_FALSE(fake_root().quota());
  CHECK_FALSE(fake_root().file("proc/self/cgroup", "0::/\n").quota());
  CHECK_FALSE(fake_root().process("0::/a\n", v2_mount).quota());
  CHECK_FALSE(fake_root().process("", "").quota());
}

TEST_CASE("version_2_limit_is_the_least_up_the_hierarchy") {
  fake_root root;
  root.process("0::/user.slice/job/step\n", v2_mount);
  root.file("sys/fs/cgroup/user.slice/job/step/cpu.max", "max 100000\n");
  CHECK_FALSE(root.quota());
  root.file("sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000\n");
  CHECK(root.quota() == 1.5);
  root.file("sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n");
  CHECK(root.quota() == 0.5);
  root.file("sys/fs/cgroup/user.slice/job/step/cpu.max", "20000 100000\n");
  CHECK(root.quota() == 0.2);
  root.file("sys/fs/cgroup/user.slice/other/cpu.max", "1000 100000\n");
  CHECK(root.quota() == 0.2);
}

TEST_CASE("version_2_root_of_a_container") {
  // With a cgroup namespace the process sees itself at the root.
  fake_root root;
  root.process("0::/\n", v2_mount).file("sys/fs/cgroup/cpu.max", "200000 100000\n");
  CHECK(root.quota() == 2.0);
}

TEST_CASE("version_1_limit") {
  fake_root root;
  root.process("5:cpuset:/\n4:cpu,cpuacct:/batch/job\n1:name=systemd:/x\n0::/\n", v1_mounts);
  CHECK_FALSE(root.quota());
  root.file("sys/fs/cgroup/cpu,cpuacct/batch/job/cpu.cfs_quota_us", "-1\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/batch/job/cpu.cfs_period_us", "100000\n");
  CHECK_FALSE(root.quota());
  root.file("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "250000\n");
  CHECK_FALSE(root.quota());  // no period
  root.file("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us", "100000\n");
  CHECK(root.quota() == 2.5);
}

TEST_CASE("version_1_in_a_container_that_mounts_a_part") {
  fake_root root;
  root.process("4:cpu:/docker/abc/inner\n", "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  root.file("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "70000")
      .file("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000");
  CHECK(root.quota() == 0.7);
  // The name of the group means nothing below this mount: ask the mount point.
  root.process("4:cpu:/docker/abcdef\n", "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  CHECK_FALSE(root.quota());
  root.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "30000").file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "10000");
  CHECK(root.quota() == 3.0);
}

TEST_CASE("both_versions_the_least_counts") {
  fake_root root;
  root.process("4:cpu,cpuacct:/a\n0::/b\n", v1_mounts);
  root.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "400000");
  root.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  root.file("sys/fs/cgroup/unified/b/cpu.max", "300000 100000");
  CHECK(root.quota() == 3.0);
}

TEST_CASE("nonsense_limits_nothing") {
  for (auto const* text : {"", "\n", "max", "100000", "abc def", "0 100000", "100000 0", "-5 100000", "100000 -1",
                           "99999999999999999999999 100000"}) {
    INFO(text);
    CHECK_FALSE(fake_root().process("0::/\n", v2_mount).file("sys/fs/cgroup/cpu.max", text).quota());
  }
  for (auto const* mounts : {"garbage", "- - -", "1 2 3 - cgroup2", " - cgroup2 x y\n", "\n\n\n"})
    CHECK_FALSE(fake_root().process("0::/\n::\n:\nx", mounts).file("cpu.max", "1 2").quota());
  CHECK_FALSE(fake_root().process("0::/../../etc\n", v2_mount).file("sys/etc/cpu.max", "1 2").quota());
}

TEST_CASE("mount_points_may_have_spaces") {
  fake_root root;
  root.process("0::/a b\n", "30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  root.file("my groups/a b/cpu.max", "100000 200000\n");
  CHECK(root.quota() == 0.5);
}

TEST_CASE("usable_cpus_is_at_least_one_and_at_most_the_machine") {
  auto const m = topology::parse("core:4 pu:2");
  CHECK(topology::usable_cpus(m, std::nullopt) == 8);
  CHECK(topology::usable_cpus(m, 0.01) == 1);
  CHECK(topology::usable_cpus(m, 2.0) == 2);
  CHECK(topology::usable_cpus(m, 2.1) == 3);
  CHECK(topology::usable_cpus(m, 100.0) == 8);
  CHECK(topology::usable_cpus(topology::machine{}, std::nullopt) == 1);
  CHECK(topology::usable_cpus(m) >= 1);
}

TEST_CASE("only_octal_digits_are_an_escape") {
  CHECK(topology::detail::unescape("a\\040b\\134") == "a b\\");
  for (auto const* text : {"\\04", "\\0x9", "\\08 ", "\\400", "\\\\\\", "\\1zz"})
    CHECK(topology::detail::unescape(text) == text);
}

TEST_CASE("a_group_with_a_name_that_no_file_can_have_is_out_of_sight") {
  std::string group = "0::";
  for (int i = 0; i < 1'000'000; ++i) group += "/x";  // asking for each part of it would copy 10^12 characters
  CHECK(fake_root().process(group + "\n", v2_mount).file("sys/fs/cgroup/cpu.max", "1 2").quota() == 0.5);
}
