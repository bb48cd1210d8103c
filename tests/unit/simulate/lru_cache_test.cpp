// heist/tools/simulate/lru_cache.hpp against a list that is searched from the front.
#include "heist/tools/simulate/lru_cache.hpp"

#include <algorithm>  // find_if
#include <cstddef>
#include <cstdint>
#include <list>

#include "heist/core/base/random.hpp"
#include "support/catch.hpp"

namespace {

/// The contract of lru_cache, implemented as simply as possible.
class naive_cache {
 public:
  explicit naive_cache(std::size_t capacity) : capacity_{capacity} {}
  bool use(std::uint32_t block, std::uint32_t version) {
    auto const at = find(block);
    bool const hit = at != all_.end() && at->version == version;
    if (at != all_.end()) all_.erase(at);
    all_.push_front({block, version});
    if (all_.size() > capacity_) all_.pop_back();
    return hit;
  }
  void write(std::uint32_t block, std::uint32_t version) {
    if (auto const at = find(block); at != all_.end()) at->version = version;
  }
  std::size_t size() const { return all_.size(); }

 private:
  struct entry {
    std::uint32_t block, version;
  };
  std::list<entry>::iterator find(std::uint32_t block) {
    return std::find_if(all_.begin(), all_.end(), [=](entry const& e) { return e.block == block; });
  }
  std::size_t capacity_;
  std::list<entry> all_;  // newest first
};

}  // namespace

TEST_CASE("lru_cache: hits and misses are those of the simple model", "[sim]") {
  for (std::uint32_t const capacity : {0u, 1u, 2u, 3u, 7u, 64u, 100u}) {
    heist::sim::lru_cache cache{capacity};
    naive_cache model{capacity};
    heist::fast_random random{capacity + 1};
    std::uint32_t version = 0;
    std::size_t hits = 0;
    for (int i = 0; i != 20'000; ++i) {
      // Half of them near each other, so that there are hits; multiples of 4096 collide in bad hashes.
      std::uint32_t const block =
          random.below(2) == 0 ? random.below(2 * capacity + 2) : 4096 * random.below(2 * capacity + 2);
      if (random.below(10) == 0) {
        ++version;
        cache.write(block, version);
        model.write(block, version);
      }
      std::uint32_t const wanted = random.below(4) == 0 ? version : 0;
      bool const hit = cache.use(block, wanted);
      REQUIRE(hit == model.use(block, wanted));
      REQUIRE(cache.size() == model.size());
      hits += hit;
    }
    CHECK((hits != 0) == (capacity != 0));
  }
}
