// A ready list gives its most urgent first, however many there are, and grows; the model has its threads.
#include "heist/core/sync/ready_list.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <set>

#include "support/catch.hpp"

namespace {

struct item {
  std::uint64_t how = 0;
};
using list = heist::detail::ready_list<item>;

}  // namespace

TEST_CASE("ready_list: the most urgent of all that are in it comes first") {
  std::mt19937_64 random{20261124};
  for (int round = 0; round != 200; ++round) {
    list ready;
    std::deque<item> items;
    std::multiset<std::uint64_t> expected;
    std::uint64_t const kinds = round % 2 == 0 ? 8 : ~std::uint64_t{0};  // many alike, or all different
    for (int step = 0; step != 400; ++step) {
      bool const more = random() % 5 < (step < 200 ? 4u : 1u);
      if (more || expected.empty()) {
        items.push_back({random() % kinds});
        REQUIRE(ready.push(items.back().how, items.back()));
        expected.insert(items.back().how);
      } else {
        REQUIRE(ready.take().how == *expected.begin());
        expected.erase(expected.begin());
      }
    }
    for (std::uint64_t const how : expected) REQUIRE(ready.take().how == how);
  }
}

TEST_CASE("ready_list: what is of a more urgent class elsewhere is taken, and its place filled") {
  auto const urgency = [](std::uint64_t level, std::uint64_t rank) { return level << 56 | rank; };
  list mine, other;
  item late{urgency(5, 1)}, soon{urgency(3, 9)}, alike{urgency(3, 1)};
  REQUIRE(mine.push(late.how, late));
  REQUIRE(other.push(soon.how, soon));
  CHECK(&mine.take_or_exchange(other) == &soon);
  CHECK(&other.take() == &late);

  REQUIRE(mine.push(soon.how, soon));
  REQUIRE(other.push(alike.how, alike));
  CHECK(&mine.take_or_exchange(other) == &soon);  // same class: each list keeps its own item
  CHECK(&other.take() == &alike);
}
