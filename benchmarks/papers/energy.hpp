// The energy that the processor packages use, where the kernel lets a user read it (powercap).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>  // error_code
#include <utility>       // move
#include <vector>

namespace papers {

/// Counts from when it is made. Counters that come round once are understood; they do so after some minutes or more.
class energy_meter {
 public:
  /// `folder`: that of powercap, /sys/class/powercap. A package is a folder intel-rapl:N; its parts are in it, too.
  explicit energy_meter(std::filesystem::path const& folder) {
    std::error_code none;
    for (auto const& entry : std::filesystem::directory_iterator{folder, none}) {
      std::string const name = entry.path().filename().string();
      bool const is_package = name.starts_with("intel-rapl:") && name.find(':') == name.rfind(':');
      auto const start = number_in(entry.path() / "energy_uj"), range = number_in(entry.path() / "max_energy_range_uj");
      if (is_package && start && range) packages_.push_back({entry.path() / "energy_uj", *start, *range});
    }
  }

  /// Joules of all packages; none if no counter can be read.
  std::optional<double> joules() const {
    if (packages_.empty()) return std::nullopt;
    double all = 0;
    for (auto const& p : packages_) {
      auto const now = number_in(p.counter);
      if (!now) return std::nullopt;
      all += 1e-6 * static_cast<double>(*now >= p.start ? *now - p.start : *now + p.range - p.start);
    }
    return all;
  }

 private:
  struct package {
    std::filesystem::path counter;
    std::uint64_t start, range;
  };
  static std::optional<std::uint64_t> number_in(std::filesystem::path const& file) {
    std::ifstream in{file};
    std::uint64_t n = 0;
    if (!(in >> n)) return std::nullopt;
    return n;
  }

  std::vector<package> packages_;
};

}  // namespace papers
