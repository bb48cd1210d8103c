// heist::detail::block_pool: objects come and go, across pools, and every block is freed once.
#include "heist/memory/block_pool.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using heist::detail::block_depot;
using heist::detail::block_pool;

namespace {

template <std::size_t Bytes>
struct object {
  explicit object(int n) : n{n} { bytes.fill(static_cast<unsigned char>(n)); }
  bool intact() const {
    for (auto const b : bytes) {
      if (b != static_cast<unsigned char>(n)) return false;
    }
    return true;
  }
  int n;
  std::array<unsigned char, Bytes> bytes;
};

struct alignas(64) over_aligned {
  int n = 1;
};

struct thrower {
  thrower() { throw std::runtime_error{"no"}; }
};

template <std::size_t Bytes>
void come_and_go(block_pool& pool) {
  std::vector<object<Bytes>*> all;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2000; ++i) all.push_back(pool.make<object<Bytes>>(i));
    for (auto* o : all) REQUIRE(o->intact());
    for (auto* o : all) pool.destroy(o);
    all.clear();
  }
}

}  // namespace

TEST_CASE("block_pool: objects of every size keep their bytes to themselves", "[memory]") {
  block_depot depot;
  block_pool pool{depot};
  come_and_go<1>(pool);
  come_and_go<60>(pool);
  come_and_go<61>(pool);
  come_and_go<124>(pool);
  come_and_go<252>(pool);
  come_and_go<253>(pool);
  come_and_go<5000>(pool);
}

TEST_CASE("block_pool: what is aligned more than usual is aligned", "[memory]") {
  block_depot depot;
  block_pool pool{depot};
  static_assert(!block_pool::pooled<over_aligned>);
  auto* const o = pool.make<over_aligned>();
  CHECK(reinterpret_cast<std::uintptr_t>(o) % 64 == 0);
  pool.destroy(o);
}

TEST_CASE("block_pool: a constructor that throws leaks no block", "[memory]") {
  block_depot depot;
  block_pool pool{depot};
  for (int i = 0; i < 10; ++i) CHECK_THROWS_AS(pool.make<thrower>(), std::runtime_error);
}

TEST_CASE("block_pool: blocks made by one worker and freed by another come back through the depot", "[memory]") {
  block_depot depot;
  std::vector<object<40>*> handed;
  block_pool makes{depot};
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 3000; ++i) handed.push_back(makes.make<object<40>>(i));
    std::thread{[&] {
      block_pool frees{depot};
      for (auto* o : handed) {
        if (o->intact()) frees.destroy(o);
      }
    }}.join();
    handed.clear();
  }
  auto* const o = makes.make<object<40>>(1);
  CHECK(o->intact());
  makes.destroy(o);
}

TEST_CASE("block_pool: several pools share one depot at the same time", "[memory]") {
  block_depot depot;
  std::vector<std::thread> threads;
  std::array<bool, 3> right{true, true, true};
  std::array<std::vector<object<40>*>, 3> left_over;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      block_pool pool{depot};
      std::vector<object<40>*> mine;
      for (int i = 0; i < 20000; ++i) {
        mine.push_back(pool.make<object<40>>(i));
        if (mine.size() == 1500) {
          for (auto* o : mine) {
            right[t] = right[t] && o->intact();
            pool.destroy(o);
          }
          mine.clear();
        }
      }
      left_over[t] = mine;
    });
  }
  for (auto& t : threads) t.join();
  block_pool last{depot};
  for (std::size_t t = 0; t < 3; ++t) {
    CHECK(right[t]);
    for (auto* o : left_over[t]) last.destroy(o);
  }
}
