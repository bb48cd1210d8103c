// Every algorithm, interrupted at a random point by an exception or a stop. The exception arrives or the result is
// right, no element is lost that must stay, and no iteration runs any more.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "heist/algorithm.hpp"
#include "heist/executor.hpp"
#include "heist/tiers.hpp"
#include "support/catch.hpp"
#include "unit/algorithm/every_executor.hpp"

using heist::context;

namespace {

struct interruption {};

/// Counts the calls of users' functions; one of them throws, or asks to stop.
class countdown {
 public:
  countdown(int after, bool throws) : left_{after}, throws_{throws} {}
  void burn() {
    if (--left_ != 0) return;
    if (throws_) throw interruption{};
    stop_.request_stop();
  }
  bool has_blown() const { return left_ <= 0; }
  bool throws() const { return throws_; }
  heist::loop_options options() const { return {.stop = throws_ ? std::stop_token{} : stop_.get_token()}; }

 private:
  std::atomic<int> left_;
  bool const throws_;
  std::stop_source stop_;
};

/// An algorithm on `v`, whose functions burn the fuse; true if it says that it has come to its end and is right.
using algorithm = std::function<bool(context, std::vector<std::string>&, countdown&)>;

constexpr std::size_t n = 9000;

std::vector<std::string> strings() {
  std::vector<std::string> v(n);
  for (std::size_t i = 0; i != n; ++i) v[i] = "a string on the heap, number " + std::to_string(i * 7919 % n);
  return v;
}
bool is_even(std::string const& s) {
  return (s.back() - '0') % 2 == 0;
}

std::vector<std::pair<char const*, algorithm>> algorithms() {
  using strings_type = std::vector<std::string>;
  auto const pred = [](countdown& f) {
    return [&f](std::string const& s) {
      f.burn();
      return is_even(s);
    };
  };
  auto const less = [](countdown& f) {
    return [&f](std::string const& a, std::string const& b) {
      f.burn();
      return a < b;
    };
  };
  auto const length = [](countdown& f) {
    return [&f](std::string const& s) {
      f.burn();
      return s.size();
    };
  };
  std::size_t const all = [] {
    std::size_t sum = 0;
    for (auto const& s : strings()) sum += s.size();
    return sum;
  }();
  return {
      {"for_each",
       [=](context c, strings_type& v, countdown& f) {
         return heist::for_each(
             c, v, [&f](std::string&) { f.burn(); }, f.options());
       }},
      {"for_each of loops",
       [=](context c, strings_type& v, countdown& f) {
         return heist::for_each_index(
             c, std::size_t{0}, std::size_t{30},
             [&](context inner, std::size_t) {
               heist::for_each_n(inner, v.begin(), 300, [&f](std::string&) { f.burn(); });
               inner.submit([&f] { f.burn(); }).get();
             },
             f.options());
       }},
      {"transform_reduce",
       [=](context c, strings_type& v, countdown& f) {
         return heist::transform_reduce(c, v, std::size_t{0}, std::plus{}, length(f), f.options()) == all;
       }},
      {"transform_inclusive_scan",
       [=](context c, strings_type& v, countdown& f) {
         std::vector<std::size_t> out(n);
         heist::transform_inclusive_scan(c, v, out.begin(), std::plus{}, length(f), f.options());
         return out.back() == all;
       }},
      {"find_if",
       [=](context c, strings_type& v, countdown& f) {
         auto const no = [&f](std::string const&) {
           f.burn();
           return false;
         };
         return heist::find_if(c, v, no, f.options()) == v.end();
       }},
      {"count_if",
       [=](context c, strings_type& v, countdown& f) {
         return heist::count_if(c, v, pred(f), f.options()) == std::ranges::count_if(v, is_even);
       }},
      {"max_element",
       [=](context c, strings_type& v, countdown& f) {
         return heist::max_element(c, v, less(f), {}, f.options()) == std::ranges::max_element(v);
       }},
      {"copy_if",
       [=](context c, strings_type& v, countdown& f) {
         strings_type out(n);
         return heist::copy_if(c, v, out.begin(), pred(f), f.options()) - out.begin() ==
                std::ranges::count_if(v, is_even);
       }},
      {"partition",
       [=](context c, strings_type& v, countdown& f) {
         return heist::partition(c, v, pred(f), f.options()) - v.begin() == std::ranges::count_if(v, is_even);
       }},
      {"sort",
       [=](context c, strings_type& v, countdown& f) {
         heist::sort(c, v, less(f), {}, f.options());
         return std::ranges::is_sorted(v);
       }},
      {"stable_sort",
       [=](context c, strings_type& v, countdown& f) {
         heist::stable_sort(c, v, less(f), {}, f.options());
         return std::ranges::is_sorted(v);
       }},
      {"nth_element",
       [=](context c, strings_type& v, countdown& f) {
         heist::nth_element(c, v, v.begin() + 4000, less(f), {}, f.options());
         return std::ranges::count_if(v, [&](auto const& s) { return s < v[4000]; }) == 4000;
       }},
      {"partial_sort",
       [=](context c, strings_type& v, countdown& f) {
         heist::partial_sort(c, v, v.begin() + 4000, less(f), {}, f.options());
         return std::is_sorted(v.begin(), v.begin() + 4000);
       }},
      {"histogram",
       [=](context c, strings_type& v, countdown& f) {
         auto const counts = heist::histogram(c, v, 100, length(f), f.options());
         return std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == n;
       }},
      {"group_by",
       [=](context c, strings_type& v, countdown& f) {
         auto const groups = heist::group_by(c, v, length(f), f.options());
         std::size_t sum = 0;
         for (auto const& g : groups) sum += g.elements.size();
         return sum == n;
       }},
      {"merge",
       [=](context c, strings_type& v, countdown& f) {
         auto sorted = v;
         std::ranges::sort(sorted);
         strings_type out(2 * n);
         heist::merge(c, sorted, sorted, out.begin(), less(f), {}, {}, f.options());
         return std::ranges::is_sorted(out);
       }},
      {"equal",
       [=](context c, strings_type& v, countdown& f) {
         auto const same = [&f](std::string const& a, std::string const& b) {
           f.burn();
           return a == b;
         };
         return heist::equal(c, v, v, same, {}, {}, f.options());
       }},
  };
}

void interrupt_all(context c, unsigned seed) {
  auto const given = strings();
  auto sorted = given;
  std::ranges::sort(sorted);
  std::mt19937 random{seed};
  for (auto const& [name, run] : algorithms()) {
    for (bool const throws : {true, false}) {
      countdown f{static_cast<int>(random() % (random() % 2 == 0 ? 300 : 30'000)) + 1, throws};
      INFO(name << (throws ? " throws" : " stops"));
      auto v = given;
      bool interrupted = false, right = false;
      try {
        right = run(c, v, f);
      } catch (interruption const&) {
        interrupted = true;
        CHECK(throws);
      } catch (heist::stopped_error const&) {
        interrupted = true;
        CHECK_FALSE(throws);
      }
      CHECK((right || f.has_blown()));                   // a complete result is right
      CHECK((interrupted == f.has_blown() || !throws));  // an exception is never lost; a stop may come too late
      CHECK((!interrupted || f.has_blown()));
      std::ranges::sort(v);
      CHECK(v == sorted);  // and no element ever
    }
  }
}

}  // namespace

TEST_CASE("interrupted: every algorithm at random points, in tasks of every order, alone and with others", "[algo]") {
  using heist::policy::random;
  using child_first = heist::policy::with_order<random, heist::order::child_first>;
  for (unsigned seed = 0; seed != (heist_test::slow ? 1u : 2u); ++seed) {
    auto const body = [seed](context c) { interrupt_all(c, seed); };
    heist_test::in_executor<random>("one worker", {.workers = 1}, body);
    heist_test::in_executor<random>("parent-first", {.workers = 3}, body);
    heist_test::in_executor<child_first>("child-first", {.workers = 3}, body);
    heist_test::in_region<heist::policy::replay>("replay", {.workers = 2}, body);
  }
}

TEST_CASE("interrupted: from outside, where the calling thread works", "[algo]") {
  heist::executor ex{2};
  std::mt19937 random{9};
  for (int round = 0; round != 60; ++round) {
    bool const throws = round % 2 == 0;
    countdown f{static_cast<int>(random() % 4000) + 1, throws};
    std::vector<int> v(3000);
    bool ended = false, thrown = false;
    try {
      ended = heist::for_each(
          ex, v,
          [&f](int& x) {
            f.burn();
            x = 1;
          },
          f.options());
    } catch (interruption const&) {
      thrown = true;
    }
    CHECK(thrown == (throws && f.has_blown()));
    if (ended) CHECK(std::ranges::count(v, 1) == 3000);
  }
}
