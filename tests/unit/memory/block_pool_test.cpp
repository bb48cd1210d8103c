// heist::detail::block_pool: objects come and go, across pools, and every block is freed once.
#include "heist/core/memory/block_pool.hpp"

#include <array>
#include <cstdint>
#include <memory>  // destroy_at
#include <new>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using heist::detail::block_freelist;
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

// As core/executor/pooled.hpp does.
template <class T>
constexpr bool fits = block_pool::fits(sizeof(T), alignof(T));
template <class T, class... Args>
T* make(block_pool& pool, Args... args) {
  if constexpr (!fits<T>) {
    return new T(args...);
  } else {
    return ::new (pool.allocate(sizeof(T))) T(args...);
  }
}
template <class T>
void destroy(block_pool& pool, T* object) {
  if constexpr (!fits<T>) {
    delete object;
  } else {
    std::destroy_at(object);
    pool.give(object, sizeof(T));
  }
}

template <std::size_t Bytes>
void come_and_go(block_pool& pool) {
  std::vector<object<Bytes>*> all;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2000; ++i) all.push_back(make<object<Bytes>>(pool, i));
    for (auto* o : all) REQUIRE(o->intact());
    for (auto* o : all) destroy(pool, o);
    all.clear();
  }
}

}  // namespace

TEST_CASE("block_pool: objects of every size keep their bytes to themselves", "[memory]") {
  block_freelist freelist;
  block_pool pool{freelist};
  come_and_go<1>(pool);
  come_and_go<60>(pool);
  come_and_go<61>(pool);
  come_and_go<124>(pool);
  come_and_go<252>(pool);
  come_and_go<253>(pool);
  come_and_go<5000>(pool);
}

TEST_CASE("block_pool: what is aligned more than usual is aligned", "[memory]") {
  block_freelist freelist;
  block_pool pool{freelist};
  static_assert(!fits<over_aligned>);
  auto* const o = make<over_aligned>(pool);
  CHECK(reinterpret_cast<std::uintptr_t>(o) % 64 == 0);
  destroy(pool, o);
}

TEST_CASE("block_pool: blocks made by one worker and freed by another come back through the depot", "[memory]") {
  block_freelist freelist;
  std::vector<object<40>*> handed;
  block_pool makes{freelist};
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 3000; ++i) handed.push_back(make<object<40>>(makes, i));
    std::thread{[&] {
      block_pool frees{freelist};
      for (auto* o : handed) {
        if (o->intact()) destroy(frees, o);
      }
    }}.join();
    handed.clear();
  }
  auto* const o = make<object<40>>(makes, 1);
  CHECK(o->intact());
  destroy(makes, o);
}

TEST_CASE("block_pool: several pools share one depot at the same time", "[memory]") {
  block_freelist freelist;
  std::vector<std::thread> threads;
  std::array<bool, 3> right{true, true, true};
  std::array<std::vector<object<40>*>, 3> left_over;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      block_pool pool{freelist};
      std::vector<object<40>*> mine;
      for (int i = 0; i < 20000; ++i) {
        mine.push_back(make<object<40>>(pool, i));
        if (mine.size() == 1500) {
          for (auto* o : mine) {
            right[t] = right[t] && o->intact();
            destroy(pool, o);
          }
          mine.clear();
        }
      }
      left_over[t] = mine;
    });
  }
  for (auto& t : threads) t.join();
  block_pool last{freelist};
  for (std::size_t t = 0; t < 3; ++t) {
    CHECK(right[t]);
    for (auto* o : left_over[t]) destroy(last, o);
  }
}

TEST_CASE("block_pool: a depot that has too much frees it, a few blocks excepted, and stops when told to", "[memory]") {
  block_freelist freelist;
  CHECK_FALSE(freelist.has_too_much());
  auto const fill = [&] {
    block_pool pool{freelist};
    std::vector<object<40>*> all;
    for (int i = 0; i < 10000; ++i) all.push_back(make<object<40>>(pool, i));
    for (auto* o : all) destroy(pool, o);
  };
  fill();
  if (!fits<object<40>>) return;
  CHECK(freelist.has_too_much());
  int asked = 0;
  freelist.trim([&] { return ++asked < 3; });
  CHECK(asked == 3);
  CHECK(freelist.has_too_much());
  freelist.trim([] { return true; });
  CHECK_FALSE(freelist.has_too_much());
  fill();
  CHECK(freelist.has_too_much());
}
