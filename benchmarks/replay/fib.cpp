#include "fib.hpp"

#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>  // make_shared, shared_ptr
#include <string>
#include <utility>  // exchange, move
#include <vector>

#include "../locality/timing.hpp"

namespace replay {

namespace {

using heist::replay_mode;

std::uint64_t serial_fib(unsigned n) {
  return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2);
}

/// The kernel; on the worker `slow` it does everything three times.
struct fib_kernel {
  unsigned cutoff;
  std::size_t slow = none;

  static constexpr std::size_t none = ~std::size_t{0};

  template <class Context>
  std::uint64_t operator()(Context ctx, unsigned n) const {
    if (n < cutoff || n < 2) return leaf(ctx.worker_id(), n);
    auto const [a, b] = ctx.fork_join([this, n](Context c) { return (*this)(c, n - 1); },
                                      [this, n](Context c) { return (*this)(c, n - 2); });
    return a + b;
  }

 private:
  std::uint64_t leaf(std::size_t worker, unsigned n) const {
    unsigned volatile same = n;  // keeps the compiler from computing the result once for all calls
    if (worker == slow) {
      for (int extra = 0; extra < 2; ++extra) {
        if (serial_fib(same) == ~std::uint64_t{0}) return 0;
      }
    }
    return serial_fib(same);
  }
};

using replaying = heist::executor<heist::policy::replay>;

/// A run of the kernel in a region, along a tree or free.
std::uint64_t run_in(replaying& ex, heist::region& r, fib_kernel const& kernel, unsigned n) {
  return ex.invoke(r, [&](auto ctx) { return kernel(ctx, n); });
}

/// The tree of the fastest of some runs on so many workers.
heist::steal_tree record(heist::options o, std::size_t workers, fib_kernel const& kernel, unsigned n) {
  constexpr int runs = 5;
  o.workers = workers;
  replaying ex{o};
  heist::region r;
  heist::steal_tree best;
  double fastest = 0;
  for (int i = 0; i < runs; ++i) {
    locality::stopwatch const watch;
    run_in(ex, r, kernel, n);
    double const seconds = watch.seconds();
    if (i > 0 && seconds >= fastest) continue;
    fastest = seconds;
    best = r.tree();
  }
  return best;
}

struct named_mode {
  char const* name;
  replay_mode mode;
};
constexpr named_mode modes[] = {{"strict_ordered", replay_mode::strict_ordered},
                                {"strict_unordered", replay_mode::strict_unordered},
                                {"relaxed", replay_mode::relaxed}};

class measurement {
 public:
  explicit measurement(fib_options const& o) : options_{o}, ex_{o.executor}, plain_{o.executor} {}

  bool run() {
    std::size_t const p = ex_.worker_count();
    unsigned const n = options_.n, larger = n + options_.larger;
    fib_kernel const even{options_.cutoff}, slowed{options_.cutoff, p - 1};
    heist::steal_tree const tree = record(options_.executor, p, even, n);

    begin(fmt::format("fib({}), sequential below {}, on {} workers", n, options_.cutoff, p));
    add("not recorded", n, [=, this] { return plain_.invoke([&](auto ctx) { return even(ctx, n); }); });
    add_free("recorded", even, n);
    for (auto const& [name, mode] : modes) add_following(name, even, n, tree, mode);
    measure();

    begin(fmt::format("the tree of fib({}) followed at fib({})", n, larger));
    add_free("native", even, larger);
    for (auto const& [name, mode] : modes) add_following(name, even, larger, tree, mode);
    measure();

    if (p > 1) {
      begin(fmt::format("the tree of {} workers followed with {}: fib({})", p - 1, p, n));
      add_free("native", even, n);
      add_following("relaxed", even, n, record(options_.executor, p - 1, even, n), replay_mode::relaxed);
      measure();
    }

    begin(fmt::format("fib({}), worker {} slowed threefold", n, p - 1));
    add_free("none slowed", even, n);
    add_free("stolen at random", slowed, n);
    for (auto const& [name, mode] : modes) add_following(name, slowed, n, tree, mode);
    measure();
    double const shared = static_cast<double>(p) / (static_cast<double>(p) - 2.0 / 3.0);
    fmt::print("in perfect balance the slowed run takes {:.3f} of the other's time\n", shared);
    return right_;
  }

 private:
  void begin(std::string title) {
    title_ = std::move(title);
    rows_.clear();
  }

  void add(std::string name, unsigned n, std::function<std::uint64_t()> run) {
    rows_.push_back({.name = std::move(name), .expected = fib(n), .run = std::move(run)});
  }
  void add_free(std::string name, fib_kernel kernel, unsigned n) {
    add_in(std::move(name), kernel, n, std::make_shared<heist::region>());
  }
  void add_following(std::string name, fib_kernel kernel, unsigned n, heist::steal_tree const& tree, replay_mode mode) {
    auto const r = std::make_shared<heist::region>();
    r->follow(tree, mode);
    add_in(std::move(name), kernel, n, r);
  }
  void add_in(std::string name, fib_kernel kernel, unsigned n, std::shared_ptr<heist::region> const& r) {
    add(std::move(name), n, [=, this] { return run_in(ex_, *r, kernel, n); });
    rows_.back().region = r;
  }

  /// All rows take turns.
  void measure() {
    for (std::size_t round = 0; round <= options_.rounds; ++round) {
      for (row& r : rows_) {
        locality::stopwatch const watch;
        r.right = r.run() == r.expected && r.right;
        if (round > 0) r.seconds.push_back(watch.seconds());
      }
    }
    fmt::print("\n{}\n{:20} {:>10} {:>8} {:>8} {:>20}\n", title_, "", "ms", "ratio", "steals", "tree bytes / worker");
    double const reference = locality::median(rows_.front().seconds);
    for (row const& r : rows_) {
      double const seconds = locality::median(r.seconds);
      std::string line = fmt::format("{:20} {:>10.3f} {:>8.3f}", r.name, 1e3 * seconds, seconds / reference);
      if (r.region)
        line +=
            fmt::format(" {:>8} {:>20}", r.region->tree().steal_count(), r.region->tree().bytes() / ex_.worker_count());
      fmt::print("{}{}\n", line, r.right ? "" : "  WRONG");
      if (r.region && !r.region->explain().empty()) fmt::print("{:22}{}\n", "", r.region->explain());
      right_ = right_ && r.right;
    }
  }

  static std::uint64_t fib(unsigned n) {
    std::uint64_t a = 0, b = 1;
    for (; n > 0; --n) b += std::exchange(a, b);
    return a;
  }

  struct row {
    std::string name;
    std::uint64_t expected = 0;
    std::function<std::uint64_t()> run;
    std::shared_ptr<heist::region> region = {};  ///< none: not recorded
    std::vector<double> seconds = {};
    bool right = true;
  };

  fib_options const& options_;
  replaying ex_;
  heist::executor<heist::policy::with_order<heist::policy::random, heist::order::child_first>> plain_;
  std::string title_;
  std::vector<row> rows_;
  bool right_ = true;
};

}  // namespace

bool measure_fib(fib_options const& o) {
  return measurement{o}.run();
}

}  // namespace replay
