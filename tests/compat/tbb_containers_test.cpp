// Tests oneTBB's own containers beside heist's layer: all of them in loops of the layer, whole and by their ranges.
#define TBB_PREVIEW_CONCURRENT_LRU_CACHE 1
#include <tbb/concurrent_vector.h>  // before anything of the layer, and once more with all of it

#include <oneapi/tbb.h>
#include <tbb/concurrent_lru_cache.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

namespace {

using range = tbb::blocked_range<int>;

/// Calls f(i) for each i below 1000, in parallel.
template <class F>
void for_each_number(F f) {
  tbb::parallel_for(range{0, 1'000}, [&](range const& r) {
    for (int i = r.begin(); i != r.end(); ++i) f(i);
  });
}

/// The sum of values(x) for the elements of a container, by parts of its range.
template <class Container, class F>
long sum_of(Container& container, F value) {
  return tbb::parallel_reduce(
      container.range(), 0L,
      [&](auto const& part, long sum) {
        for (auto& x : part) sum += value(x);
        return sum;
      },
      std::plus<>{});
}

constexpr long all = 499'500;
auto const of_value = [](auto const& x) { return x; };
auto const of_pair = [](auto const& x) { return x.second; };

}  // namespace

TEST_CASE("tbb_vectors_grow_in_loops_and_their_ranges_divide") {
  tbb::concurrent_vector<int> v;
  tbb::concurrent_vector<int, tbb::cache_aligned_allocator<int>> with_allocator;
  for_each_number([&](int i) { v.push_back(i), with_allocator.push_back(i); });
  CHECK(sum_of(v, of_value) == all);
  CHECK(sum_of(with_allocator, of_value) == all);
  tbb::concurrent_vector<int>::range_type whole = v.range();
  tbb::concurrent_vector<int>::range_type right{whole, tbb::split{}};
  CHECK(whole.size() + right.size() == 1'000);
  std::atomic<long> sum{0};
  tbb::parallel_for_each(v.begin(), v.end(), [&](int i) { sum += i; });
  CHECK(sum == all);
}

TEST_CASE("tbb_hash_maps_lock_their_elements_in_loops") {
  using allocator = tbb::tbb_allocator<std::pair<std::string const, int>>;
  using table = tbb::concurrent_hash_map<std::string, int, tbb::tbb_hash_compare<std::string>, allocator>;
  table counts;
  for_each_number([&](int i) {
    table::accessor found;
    counts.insert(found, std::to_string(i % 7));
    found->second += i;
  });
  CHECK(counts.size() == 7);
  CHECK(sum_of(counts, of_pair) == all);
}

TEST_CASE("tbb_maps_and_sets_take_elements_in_loops") {
  tbb::concurrent_map<int, int> sorted;
  tbb::concurrent_multiset<int> sorted_set;
  tbb::concurrent_unordered_map<int, int> hashed;
  tbb::concurrent_unordered_multiset<int> hashed_set;
  for_each_number([&](int i) {
    sorted.emplace(i, i);
    sorted_set.insert(i % 10);
    hashed.emplace(i, i);
    hashed_set.insert(i % 10);
  });
  CHECK(sum_of(sorted, of_pair) == all);
  CHECK(sum_of(hashed, of_pair) == all);
  CHECK(sum_of(sorted_set, of_value) == 4'500);
  CHECK(sum_of(hashed_set, of_value) == 4'500);
}

TEST_CASE("tbb_queues_pass_elements_between_tasks") {
  tbb::concurrent_queue<int> queue;
  tbb::concurrent_priority_queue<int> sorted;
  tbb::concurrent_bounded_queue<int> bounded;
  bounded.set_capacity(100);
  std::atomic<long> sum{0};
  for_each_number([&](int i) {
    queue.push(i), sorted.push(i), bounded.push(i);
    int taken = 0;
    bounded.pop(taken);
    sum += taken;
  });
  CHECK(sum == all);
  CHECK(queue.unsafe_size() == 1'000);
  int greatest = 0;
  REQUIRE(sorted.try_pop(greatest));
  CHECK(greatest == 999);
}

TEST_CASE("tbb_caches_of_recent_values_call_back_from_loops") {
  tbb::concurrent_lru_cache<int, int> squares{[](int i) { return i * i; }, 10};
  std::atomic<long> sum{0};
  for_each_number([&](int i) { sum += squares[i % 20].value(); });
  CHECK(sum == 50 * 2'470);
}

TEST_CASE("tbb_the_layers_own_names_remain_its_own_beside_containers") {
  tbb::enumerable_thread_specific<int> elements{1};
  tbb::spin_mutex lock;
  tbb::spin_rw_mutex shared;
  int plain = 0;
  for_each_number([&](int) {
    ++elements.local();
    tbb::spin_mutex::scoped_lock const held{lock};
    tbb::spin_rw_mutex::scoped_lock const held_too{shared, true};
    ++plain;
  });
  CHECK(plain == 1'000);
  tbb::task_group group;
  std::atomic<tbb::task::suspend_point> point{nullptr};
  group.run([&] { tbb::task::suspend([&](tbb::task::suspend_point p) { point = p, point.notify_all(); }); });
  point.wait(nullptr);
  tbb::task::resume(point);
  group.wait();
}
