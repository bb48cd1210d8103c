// From one worker to all: programs whose time is the way of the data. Their arrays are several times as large as the caches.
#include <heist/algorithm.hpp>
#include <heist/heist.hpp>
#include <heist/topology.hpp>

#include <unistd.h>

#include <algorithm>  // clamp, min
#include <barrier>
#include <cstddef>  // size_t
#include <cstdint>
#include <fstream>
#include <memory>  // unique_ptr
#include <numeric>
#include <thread>
#include <vector>

#include "../../examples/kernels/kernel.hpp"
#include "../locality/heat.hpp"
#include "../workers.hpp"
#include "measuring.hpp"
#include "problem.hpp"

namespace measure {
namespace {

/// The memory that this process may still use, as far as the system and its control group tell.
double usable_memory() {
  double bytes = static_cast<double>(::sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  for (auto const* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double limit = 0;
    if (std::ifstream in{file}; in >> limit) bytes = std::min(bytes, limit);
  }
  return bytes;
}

/// Bytes of an array: four times all last-level caches, 48 MiB at least, and a 16th of the memory at most.
std::size_t array_bytes(bool tiny) {
  if (tiny) return std::size_t{1} << 16;
  auto const& m = heist::topology::this_machine();
  double const told = static_cast<double>(m.l3_bytes != 0 ? m.l3_bytes * m.l3_count() : m.l2_bytes * m.l2_count());
  double const caches = std::min(told, static_cast<double>(m.core_count() * most_cache_of_core));
  double const mib = 1 << 20;
  return static_cast<std::size_t>(std::min(std::clamp(4 * caches, 48 * mib, 1024 * mib), usable_memory() / 16));
}

/// Runs f(first, last) for `workers` equal parts of n on as many threads, which begin together. Returns the seconds.
template <class F>
double on_threads(std::size_t workers, std::size_t n, F const& f) {
  std::barrier<> gate{static_cast<std::ptrdiff_t>(workers + 1)};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] {
      gate.arrive_and_wait();
      f(n * i / workers, n * (i + 1) / workers);
      gate.arrive_and_wait();
    });
  }
  gate.arrive_and_wait();
  stopwatch const watch;
  gate.arrive_and_wait();
  return watch.seconds();
}

/// Memory that all CPUs write first, each its part, so that on a machine with several nodes each holds a part.
template <class T>
class array {
 public:
  template <class F>
  array(std::size_t n, F const& value) : n_{n}, values_{new T[n]} {
    on_threads(bench::usable_workers(), n, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) values_[i] = value(i);
    });
  }
  std::size_t size() const { return n_; }
  T* data() { return values_.get(); }
  T* begin() { return values_.get(); }
  T* end() { return values_.get() + n_; }
  T& operator[](std::size_t i) { return values_[i]; }

 private:
  std::size_t n_;
  std::unique_ptr<T[]> values_;
};

std::string mib(std::size_t bytes) {
  return fmt::format("{:.3g} MiB", static_cast<double>(bytes) / (1 << 20));
}

/// a = b + 3 c. As in STREAM, the bytes are those of the three arrays.
class triad {
 public:
  explicit triad(bool tiny)
      : n_{array_bytes(tiny) / sizeof(double)},
        a_{n_, [](std::size_t) { return 0.0; }},
        b_{n_, [](std::size_t i) { return static_cast<double>(i); }},
        c_{n_, [](std::size_t i) { return static_cast<double>(i % 1000); }} {}
  std::string size() const { return "three arrays of " + mib(n_ * sizeof(double)); }
  std::size_t bytes() const { return 3 * n_ * sizeof(double); }
  void prepare() { a_[n_ / 2] = a_[n_ - 1] = -1; }
  void serial() { part(0, n_); }
  template <class Executor>
  void parallel(Executor& ex) {
    double* const a = a_.data();
    double const *const b = b_.data(), *const c = c_.data();
    heist::for_each_index(ex, std::size_t{0}, n_, [=](std::size_t i) { a[i] = b[i] + 3 * c[i]; });
  }
  double threads(std::size_t workers) {
    return on_threads(workers, n_, [this](std::size_t first, std::size_t last) { part(first, last); });
  }
  std::string check() {
    for (std::size_t i = 0; i < n_; i += 4099) {
      if (!right(i)) return fmt::format("element {} is wrong", i);
    }
    return right(n_ / 2) && right(n_ - 1) ? std::string{} : "the last run has not reached all elements";
  }

 private:
  void part(std::size_t first, std::size_t last) {
    double* const a = a_.data();
    double const *const b = b_.data(), *const c = c_.data();
    for (std::size_t i = first; i < last; ++i) a[i] = b[i] + 3 * c[i];
  }
  bool right(std::size_t i) { return a_[i] == static_cast<double>(i) + 3 * static_cast<double>(i % 1000); }

  std::size_t n_;
  array<double> a_, b_, c_;
};

class sum {
 public:
  explicit sum(bool tiny)
      : values_{array_bytes(tiny) / sizeof(double), [](std::size_t i) { return static_cast<double>(i % 1024); }},
        expected_{std::reduce(values_.begin(), values_.end(), 0.0)} {}
  std::string size() const { return "an array of " + mib(values_.size() * sizeof(double)); }
  std::size_t bytes() const { return values_.size() * sizeof(double); }
  void prepare() { result_ = -1; }
  void serial() { result_ = std::reduce(values_.begin(), values_.end(), 0.0); }
  template <class Executor>
  void parallel(Executor& ex) {
    result_ = heist::reduce(ex, values_.begin(), values_.end(), 0.0);
  }
  std::string check() { return kernels::expect_equal(result_, expected_); }  // whole numbers: exact in any order

 private:
  array<double> values_;
  double expected_, result_ = -1;
};

class prefix_sums {
 public:
  explicit prefix_sums(bool tiny)
      : n_{array_bytes(tiny) / sizeof(std::uint64_t) / 2},
        in_{n_, [](std::size_t i) { return std::uint64_t{i % 7}; }},
        out_{n_, [](std::size_t) { return std::uint64_t{0}; }} {}
  std::string size() const { return "two arrays of " + mib(n_ * sizeof(std::uint64_t)); }
  std::size_t bytes() const { return 2 * n_ * sizeof(std::uint64_t); }
  void prepare() { out_[n_ - 1] = 0; }
  void serial() { std::inclusive_scan(in_.begin(), in_.end(), out_.begin()); }
  template <class Executor>
  void parallel(Executor& ex) {
    heist::inclusive_scan(ex, in_.begin(), in_.end(), out_.begin());
  }
  std::string check() {
    for (std::size_t i = 1; i < n_; i += 4099) {
      if (out_[i] != out_[i - 1] + in_[i]) return fmt::format("element {} is wrong", i);
    }
    return out_[n_ - 1] == std::reduce(in_.begin(), in_.end(), std::uint64_t{0}) ? std::string{} : "the sum is wrong";
  }

 private:
  std::size_t n_;
  array<std::uint64_t> in_, out_;
};

/// Reads an array in random order. The bytes are a cache line for each element.
class gather {
 public:
  explicit gather(bool tiny)
      : from_{array_bytes(tiny) / sizeof(double), [](std::size_t i) { return static_cast<double>(i); }},
        n_{tiny ? 5'000u : 1'000'000u},
        index_{n_, [this](std::size_t i) { return kernels::random_numbers{i}.below(from_.size()); }},
        to_{n_, [](std::size_t) { return 0.0; }} {}
  std::string size() const { return fmt::format("{} elements of {}", n_, mib(from_.size() * sizeof(double))); }
  std::size_t bytes() const { return n_ * 64; }
  void prepare() { to_[n_ - 1] = -1; }
  void serial() {
    for (std::size_t i = 0; i < n_; ++i) to_[i] = from_[index_[i]];
  }
  template <class Executor>
  void parallel(Executor& ex) {
    heist::for_each_index(ex, std::size_t{0}, n_, [this](std::size_t i) { to_[i] = from_[index_[i]]; });
  }
  std::string check() {
    for (std::size_t i = 0; i < n_; ++i) {
      if (to_[i] != static_cast<double>(index_[i])) return fmt::format("element {} is wrong", i);
    }
    return {};
  }

 private:
  array<double> from_;
  std::size_t n_;
  array<std::size_t> index_;
  array<double> to_;
};

/// A step of five-point heat on a plate in memory.
class stencil {
 public:
  explicit stencil(bool tiny) : rows_{tiny ? 100u : 2048u}, plate_{rows_} { plate_.prepare(); }
  std::string size() const { return fmt::format("two plates of {0} x {0} numbers", rows_); }
  std::size_t bytes() const { return 2 * rows_ * rows_ * sizeof(double); }
  void prepare() {}
  void serial() { plate_.compute(sweep_++, plate_.rows(0)); }
  template <class Executor>
  void parallel(Executor& ex) {
    heist::for_each_index(ex, std::size_t{1}, rows_ - 1, [this](std::size_t i) { plate_.compute(sweep_, {i, i + 1}); });
    ++sweep_;
  }
  std::string check() { return plate_.check(sweep_); }

 private:
  std::size_t rows_, sweep_ = 0;
  locality::heat_plate plate_;
};

}  // namespace

std::vector<row> memory_rows() {
  return {problem_row<triad>("memory", "triad", "a = b + 3 c, and on plain threads, each with an equal part"),
          problem_row<sum>("memory", "reduce", "heist::reduce, the sum of an array"),
          problem_row<prefix_sums>("memory", "scan", "heist::inclusive_scan, all prefix sums of an array"),
          problem_row<gather>("memory", "gather", "elements of an array in random order"),
          problem_row<stencil>("memory", "stencil", "five-point heat, each row an iteration of a loop")};
}

}  // namespace measure
