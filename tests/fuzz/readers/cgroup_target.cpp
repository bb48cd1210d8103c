// CPU quotas of control groups. The input is a file tree whose files are divided by lines of "---": the process's
// cgroups, the mounts, cpu.max, cpu.cfs_quota_us, cpu.cfs_period_us.
#include <fmt/format.h>
#include <unistd.h>  // getpid

#include <cmath>  // isfinite
#include <filesystem>
#include <fstream>
#include <map>

#include "all_targets.hpp"
#include "heist/core/topology/cpu_quota.hpp"

namespace fuzz {
namespace {

namespace topology = heist::topology;
namespace files = std::filesystem;

/// Removed at the end.
class file_tree {
 public:
  file_tree() : root_(files::temp_directory_path() / fmt::format("heist_fuzz_readers_{}", ::getpid())) {
    for (auto const* const folder : {"proc/self", "sys/fs/cgroup/a/b", "sys/fs/cgroup/cpu/a"})
      files::create_directories(root_ / folder);
  }
  file_tree(file_tree const&) = delete;
  file_tree& operator=(file_tree const&) = delete;
  ~file_tree() {
    std::error_code ignored;
    files::remove_all(root_, ignored);
  }

  void write(std::string const& name, std::string_view text) {
    auto const [it, is_new] = texts_.try_emplace(name, text);
    if (!is_new && it->second == text) return;
    it->second = text;
    std::ofstream(root_ / name, std::ios::binary | std::ios::trunc) << text;
  }
  std::string root() const { return root_.string(); }

 private:
  files::path root_;
  std::map<std::string, std::string> texts_;
};

std::string_view take_part(std::string_view& rest) {
  constexpr std::string_view separator = "\n---\n";
  auto const end = rest.find(separator);
  auto const part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + separator.size());
  return part;
}

/// As the kernel writes paths in mountinfo.
std::string escaped(std::string_view text) {
  std::string out;
  for (char const c : text)
    out += c == ' ' || c == '\t' || c == '\n' || c == '\\' ? fmt::format("\\{:03o}", static_cast<unsigned>(c))
                                                           : std::string(1, c);
  return out;
}

outcome run(std::string_view input) {
  static file_tree tree;
  auto rest = input;
  tree.write("proc/self/cgroup", take_part(rest));
  auto const mounts = take_part(rest);
  tree.write("proc/self/mountinfo", mounts);
  auto const max = take_part(rest), quota_us = take_part(rest), period_us = take_part(rest);
  for (auto const* const folder : {"", "a/", "a/b/"}) tree.write(fmt::format("sys/fs/cgroup/{}cpu.max", folder), max);
  for (auto const* const folder : {"", "a/"}) {
    tree.write(fmt::format("sys/fs/cgroup/cpu/{}cpu.cfs_quota_us", folder), quota_us);
    tree.write(fmt::format("sys/fs/cgroup/cpu/{}cpu.cfs_period_us", folder), period_us);
  }

  auto const whole = mounts.substr(0, mounts.find('\n'));
  require(topology::detail::unescape(escaped(whole)) == whole, "a path changes when escaped and read");
  std::string_view left = mounts;
  for (topology::detail::cgroup_mount mount; topology::detail::next_cgroup_mount(left, mount);)
    require(mount.top.size() <= mounts.size() && mount.path.size() <= mounts.size(), "a mount is longer than its line");
  memory_budget const budget{65536 + 64 * input.size()};
  auto const quota = topology::cpu_quota(tree.root());
  require(!budget.exceeded(), "the reader allocates out of proportion to its input");
  if (!quota) return {false, 1};
  require(std::isfinite(*quota) && *quota > 0, "a quota is no amount of time");
  for (std::size_t pus : {0, 1, 3, 64}) {
    topology::machine m;
    m.pus.resize(pus);
    auto const n = topology::usable_cpus(m, quota);
    require(n >= 1 && n <= std::max<std::size_t>(pus, 1), "a quota gives more CPUs than there are, or none");
    require(n == std::max<std::size_t>(pus, 1) || (static_cast<double>(n) >= *quota && n - 1 < *quota),
            "a quota is not rounded up");
  }
  return {true, 1};
}

}  // namespace

target const cgroup_target{"cgroup", 2048, 2000, true, run};

}  // namespace fuzz
