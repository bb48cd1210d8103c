// Algorithms that fail while elements are being moved: a child-first fork gets no stack, or a move throws.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "heist/algorithm.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

struct child_first : heist::policy::bundle<heist::victim::random, heist::idle::standard, heist::order::child_first> {};

/// Copied, because it has no move; the copy throws when it is told to.
struct copied {
  static inline std::atomic<int> left{0};
  int value = 0;
  explicit copied(int v) : value{v} {}
  copied(copied const& from) : value{from.value} { count(); }
  copied& operator=(copied const& from) {
    count();
    value = from.value;
    return *this;
  }
  static void count() {
    if (--left == 0) throw std::runtime_error{"no copy"};
  }
  friend bool operator<(copied const& a, copied const& b) { return a.value < b.value; }
};

}  // namespace

TEST_CASE("refused: child-first forks without a stack are calls, and no algorithm loses an element", "[algo]") {
  std::vector<std::string> given(50'000);
  for (std::size_t i = 0; i != given.size(); ++i)
    given[i] = "not a small string, number " + std::to_string(i * 7919 % given.size());
  auto sorted = given;
  std::ranges::sort(sorted);
  auto const last_is_7 = [](std::string const& s) { return s.back() == '7'; };
  auto const sevens = std::ranges::count_if(given, last_is_7);
  for (std::size_t fibers = 2; fibers != 10; ++fibers) {
    heist::executor<child_first> ex{heist::options{.workers = 2, .max_fibers = fibers}};
    heist_test::watchdog guard{"few stacks", 120s, [&] { return ex.state_text(); }};
    auto v = given;
    heist::stable_sort(ex, v);
    CHECK(v == sorted);
    v = given;
    heist::sort(ex, v);
    CHECK(v == sorted);
    v = given;
    v.erase(heist::remove_if(ex, v, last_is_7), v.end());
    CHECK(v.size() == given.size() - static_cast<std::size_t>(sevens));
    CHECK_FALSE(std::ranges::any_of(v, last_is_7));
    std::atomic<std::size_t> n{0};
    heist::for_each_index(ex, 0, 100'000, [&](int) { ++n; });
    CHECK(n == 100'000);
  }
}

TEST_CASE("refused: an exception of a move comes out of sorts", "[algo]") {
  heist::executor ex{2};
  for (std::size_t const n : {2, 20, 100, 1000}) {
    for (int at = 1; at < 400; at += at < 50 ? 1 : 37) {
      for (bool const stable : {false, true}) {
        std::vector<copied> v;
        v.reserve(n);
        copied::left = 0;
        for (std::size_t i = 0; i != n; ++i) v.emplace_back(static_cast<int>(i * 7919 % n));
        copied::left = at;
        bool thrown = false;
        try {
          stable ? heist::stable_sort(ex, v, std::less<>{}) : heist::sort(ex, v, std::less<>{});
        } catch (std::runtime_error const&) {
          thrown = true;
        }
        CHECK(thrown == (copied::left <= 0));
        CHECK(v.size() == n);
        if (!thrown) CHECK_FALSE(std::ranges::any_of(v, [](copied const& c) { return c.value < 0; }));
      }
    }
  }
}
