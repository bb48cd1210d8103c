// Tests heist's own behaviour under oneTBB's names: waits that park, exceptions, cancelled groups, arenas, elements of
// tasks, policies with memory.
#define HEIST_COMPAT_POLICY heist::policy::cab

#include <heist/locality.hpp>  // before the layer, which makes an executor with the policy

#include <oneapi/tbb.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <execution>  // must compile beside the layer
#include <functional>
#include <list>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

struct guard : heist_test::watchdog {
  explicit guard(char const* name)
      : watchdog{name, 120s, [] { return tbb::detail::market::instance().implicit().workers().state_text(); }} {}
};

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  tbb::task_group both;
  both.run([&] { a = fib(n - 1); });
  b = fib(n - 2);
  both.wait();
  return a + b;
}

}  // namespace

TEST_CASE("tbb_loops_in_loops_park") {
  guard const g{"loops"};
  std::atomic<int> n{0};
  tbb::parallel_for(0, 20, [&](int) {
    tbb::parallel_for(tbb::blocked_range<int>(0, 20), [&](tbb::blocked_range<int> const& r) {
      for (int i : {r.begin()})
        tbb::parallel_for(
            0, 2, [&](int) { n += i >= 0; }, tbb::static_partitioner{});
      n += 2 * (static_cast<int>(r.size()) - 1);
    });
  });
  CHECK(n == 800);
}

TEST_CASE("tbb_loops_of_one_affinity_partitioner_are_runs_of_a_region") {
  guard const g{"affinity"};
  tbb::affinity_partitioner kept;
  std::vector<int> v(10'000);
  for (int i = 0; i != 5; ++i) {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, v.size(), 100),
        [&](auto const& r) {
          for (auto at = r.begin(); at != r.end(); ++at) ++v[at];
        },
        kept);
  }
  CHECK(std::accumulate(v.begin(), v.end(), 0) == 50'000);
}

TEST_CASE("tbb_the_first_exception_ends_a_loop_and_is_rethrown") {
  guard const g{"exceptions"};
  std::atomic<int> begun{0};
  CHECK_THROWS_AS(tbb::parallel_for(0, 1'000'000,
                                    [&](int i) {
                                      ++begun;
                                      if (i == 7) throw std::out_of_range{"seven"};
                                    }),
                  std::out_of_range);
  CHECK(begun < 1'000'000);
  tbb::task_group_context again;
  for (int i = 0; i != 3; ++i) {
    CHECK_THROWS_AS(tbb::parallel_for(
                        0, 10, [](int) { throw 1; }, again),
                    int);
    CHECK(again.is_group_execution_cancelled());
    again.reset();
  }
  int sum = 0;
  auto const failing = [](tbb::blocked_range<int> const& r, int s) {
    if (r.begin() > 50) throw std::runtime_error{"half"};
    return s + static_cast<int>(r.size());
  };
  CHECK_THROWS_AS(sum = tbb::parallel_reduce(tbb::blocked_range<int>(0, 100), 0, failing, std::plus<>{}),
                  std::runtime_error);
  std::vector<int> order{3, 1, 2};
  CHECK_THROWS_AS(tbb::parallel_sort(order, [](int, int) -> bool { throw 1; }), int);
  CHECK_THROWS_AS(tbb::parallel_invoke([] {}, [] { throw 1; }, [] {}), int);
  std::list<int> const items{1, 2, 3};
  CHECK_THROWS_AS(tbb::parallel_for_each(items, [](int) { throw 1; }), int);
  CHECK(sum == 0);
}

TEST_CASE("tbb_a_cancelled_group_ends_the_loops_in_it_but_not_isolated_ones") {
  guard const g{"cancelled"};
  tbb::task_group_context outer, isolated{tbb::task_group_context::isolated};
  std::atomic<int> inner{0}, apart{0};
  tbb::parallel_for(
      0, 1,
      [&](int) {
        outer.cancel_group_execution();
        CHECK(tbb::is_current_task_group_canceling());
        tbb::parallel_for(0, 1000, [&](int) { ++inner; });
        tbb::parallel_for(
            0, 1000, [&](int) { ++apart; }, isolated);
      },
      outer);
  CHECK(inner == 0);
  CHECK(apart == 1000);
  tbb::parallel_for(
      0, 10, [&](int) { ++inner; }, outer);
  CHECK(inner == 0);
}

TEST_CASE("tbb_task_groups_nest_and_can_be_used_again") {
  guard const g{"groups"};
  CHECK(fib(12) == 144);
  tbb::task_group group;
  for (int round = 0; round != 3; ++round) {
    group.run([] { throw std::runtime_error{"of a task"}; });
    CHECK_THROWS_AS(group.wait(), std::runtime_error);
    std::atomic<int> n{0};
    for (int i = 0; i != 100; ++i) group.run([&] { ++n; });
    CHECK(group.run_and_wait([&] { ++n; }) == tbb::complete);
    CHECK(n == 101);
    group.run([&] { group.cancel(); });
    CHECK(group.wait() == tbb::canceled);
  }
  {
    tbb::task_group unwaited;
    for (int i = 0; i != 10; ++i) unwaited.run([] {});
  }
}

TEST_CASE("tbb_feeders_grow_a_loop") {
  guard const g{"feeder"};
  std::atomic<int> n{0};
  std::vector<std::string> const roots(3, "aaaa");
  tbb::parallel_for_each(roots, [&](std::string s, tbb::feeder<std::string>& more) {
    ++n;
    s.pop_back();
    if (!s.empty()) more.add(s), more.add(std::move(s));
  });
  CHECK(n == 3 * 15);
}

TEST_CASE("tbb_arenas_have_their_own_workers_and_give_results_back") {
  guard const g{"arenas"};
  tbb::task_arena three(3);
  CHECK(three.execute([] { return tbb::this_task_arena::max_concurrency(); }) == 3);
  int value = 1;
  int& same = three.execute([&]() -> int& { return value; });
  CHECK(&same == &value);
  CHECK_THROWS_AS(three.execute([] { throw 1; }), int);
  std::atomic<bool> done{false};
  three.enqueue([&] { done = true, done.notify_all(); });
  done.wait(false);
  tbb::task_group group;
  std::atomic<int> wrong{0};
  three.execute([&] {
    for (int i = 0; i != 10; ++i) group.run([&] { wrong += tbb::this_task_arena::max_concurrency() != 3; });
    tbb::task_arena one(1);
    one.execute([&] { wrong += tbb::this_task_arena::max_concurrency() != 1; });
    wrong += tbb::this_task_arena::max_concurrency() != 3;  // also after a wait in another one
  });
  group.wait();
  CHECK(wrong == 0);
  CHECK(tbb::this_task_arena::current_thread_index() == tbb::task_arena::not_initialized);
}

TEST_CASE("tbb_the_least_limit_in_force_counts") {
  guard const g{"limits"};
  tbb::global_control const two{tbb::global_control::max_allowed_parallelism, 2};
  {
    tbb::global_control const one{tbb::global_control::max_allowed_parallelism, 1};
    std::atomic<int> now{0}, most{0};
    tbb::parallel_for(0, 100, [&](int) {
      int const here = ++now;
      for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) continue;
      --now;
    });
    CHECK(most == 1);
  }
  CHECK(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) == 2);
}

TEST_CASE("tbb_arenas_share_the_limit") {
  guard const g{"arenas share the limit"};
  tbb::global_control const one{tbb::global_control::max_allowed_parallelism, 1};
  std::atomic<int> now{0}, most{0};
  auto const work = [&](int) {
    int const here = ++now;
    for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) continue;
    for (int i = 0; i != 1000; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
    --now;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i) {
    threads.emplace_back([&work] {
      tbb::task_arena mine(2);
      mine.execute([&] { tbb::parallel_for(0, 1000, work); });
    });
  }
  for (auto& t : threads) t.join();
  CHECK(most == 1);
}

TEST_CASE("tbb_an_enqueued_task_runs_while_a_thread_of_the_program_waits") {
  guard const g{"enqueued beside a wait"};
  tbb::task_arena here(2), there(2);
  std::atomic<bool> runs{false};
  here.execute([&] {
    there.enqueue([&] { runs = true; });
    while (!runs) std::this_thread::yield();
  });
  CHECK(runs);
}

TEST_CASE("tbb_arenas_share_the_cores") {
  guard const g{"arenas share the cores"};
  int const cores = tbb::info::default_concurrency();
  std::atomic<int> now{0}, most{0}, ended{0};
  std::vector<std::unique_ptr<tbb::task_arena>> arenas;
  for (int i = 0; i != 3; ++i) {
    arenas.push_back(std::make_unique<tbb::task_arena>(cores));
    for (int k = 0; k != 100; ++k) {
      arenas.back()->enqueue([&] {
        int const here = ++now;
        for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) continue;
        for (int n = 0; n != 1000; ++n) std::atomic_signal_fence(std::memory_order_seq_cst);
        --now;
        ++ended;
      });
    }
  }
  while (ended != 300) std::this_thread::yield();
  CHECK(most <= std::max(cores, 2));  // one for the program's thread, if it were in an arena
}

TEST_CASE("tbb_a_task_keeps_its_element_over_its_waits") {
  guard const g{"elements"};
  tbb::enumerable_thread_specific<int> mine(0);
  std::atomic<int> wrong{0};
  tbb::parallel_for(0, 200, [&](int i) {
    mine.local() = i;
    tbb::parallel_for(0, 50, [](int) { std::this_thread::yield(); });
    wrong += mine.local() != i;
  });
  CHECK(wrong == 0);
  tbb::combinable<long> sum;
  tbb::parallel_for(0, 10'000, [&](int i) { sum.local() += i; });
  CHECK(sum.combine(std::plus<>{}) == 49'995'000);
}

TEST_CASE("tbb_pipelines_keep_the_order_limit_their_tokens_and_pass_exceptions_on") {
  guard const g{"pipelines"};
  for (std::size_t const tokens : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
    int next = 0;
    std::atomic<int> inside{0}, too_many{0};
    std::vector<int> seen;
    tbb::parallel_pipeline(
        tokens, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) {
                  if (next == 300) {
                    control.stop();
                    return 0;
                  }
                  if (++inside > static_cast<int>(tokens)) ++too_many;
                  return next++;
                }) & tbb::make_filter<int, std::string>(tbb::filter_mode::parallel, [](int i) {
                  return std::to_string(i);
                }) & tbb::make_filter<std::string, void>(tbb::filter_mode::serial_in_order, [&](std::string const& s) {
                  seen.push_back(std::stoi(s));
                  --inside;
                }));
    CHECK(too_many == 0);
    REQUIRE(seen.size() == 300);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
  }
  auto const fails = [] {
    int i = 0;
    tbb::parallel_pipeline(
        4, tbb::make_filter<void, int>(tbb::filter_mode::serial_out_of_order, [&](tbb::flow_control&) { return i++; }),
        tbb::make_filter<int, void>(tbb::filter_mode::serial_in_order, [](int n) {
          if (n == 10) throw std::runtime_error{"ten"};
        }));
  };
  CHECK_THROWS_AS(fails(), std::runtime_error);
}

TEST_CASE("tbb_pipelines_of_endless_input_end_with_an_exception_or_a_cancelled_group") {
  guard const g{"endless pipelines"};
  for (auto const mode : {tbb::filter_mode::parallel, tbb::filter_mode::serial_in_order}) {
    for (std::size_t const tokens : {std::size_t{1}, std::size_t{4}, std::size_t{300}}) {
      std::atomic<int> read{0};
      auto const input = tbb::make_filter<void, int>(mode, [&](tbb::flow_control&) { return ++read; });
      auto const run = [&](tbb::task_group_context& group, auto body) {
        tbb::parallel_pipeline(tokens, input & tbb::make_filter<int, void>(tbb::filter_mode::parallel, body), group);
      };
      tbb::task_group_context thrown, cancelled;
      CHECK_THROWS_AS(run(thrown,
                          [](int n) {
                            if (n == 50) throw std::runtime_error{"fifty"};
                          }),
                      std::runtime_error);
      run(cancelled, [&](int n) {
        if (n >= 500) cancelled.cancel_group_execution();
      });
      CHECK(read >= 500);
    }
  }
}

TEST_CASE("tbb_groups_count_tasks_that_workers_and_threads_start") {
  guard const g{"counted tasks"};
  for (int round = 0; round != 20; ++round) {
    tbb::task_group group;
    std::atomic<int> ran{0};
    std::function<void(int)> const tree = [&](int depth) {
      ++ran;
      if (depth == 0) return;
      for (int i = 0; i != 3; ++i) group.run([&tree, depth] { tree(depth - 1); });
    };
    std::thread outside{[&] {
      for (int i = 0; i != 500; ++i) group.run([&] { ++ran; });
    }};
    group.run([&] { tree(6); });
    group.run_and_wait([&] { ++ran; });
    outside.join();
    group.wait();
    CHECK(ran == 1'093 + 500 + 1);
    for (int i = 0; i != 200; ++i) group.run([&] { ++ran; });  // a group can be used again
    group.wait();
    CHECK(ran == 1'093 + 500 + 1 + 200);
  }
}

TEST_CASE("tbb_graphs_wait_for_work_that_is_no_task_however_much_there_was") {
  guard const g{"reserved waits"};
  tbb::flow::graph graph;
  std::atomic<int> released{0};
  tbb::flow::function_node<int, int> node{graph, tbb::flow::unlimited, [&](int n) {
                                            graph.reserve_wait();
                                            ++released;
                                            graph.release_wait();
                                            return n;
                                          }};
  for (int round = 0; round != 3; ++round) {
    for (int i = 0; i != 500; ++i) node.try_put(i);
    graph.wait_for_all();
    CHECK(released == 500 * (round + 1));
  }
  graph.reserve_wait();
  std::thread outside{[&] {
    std::this_thread::sleep_for(5ms);
    ++released;
    graph.release_wait();
  }};
  graph.wait_for_all();
  CHECK(released == 1'501);
  outside.join();
}

TEST_CASE("tbb_pipelines_pass_on_what_one_reader_reads_while_another_one_stops") {
  guard const g{"readers that stop"};
  for (int round = 0; round != 20; ++round) {
    std::atomic<bool> stops{false}, has_stopped{false};
    std::atomic<int> read{0}, passed{0};
    tbb::parallel_pipeline(2,
                           tbb::make_filter<void, int>(tbb::filter_mode::parallel,
                                                       [&](tbb::flow_control& control) {
                                                         if (stops.exchange(true)) {
                                                           control.stop();
                                                           has_stopped = true;
                                                           return 0;
                                                         }
                                                         // The other reader ends before this one, if there are two workers.
                                                         auto const late = std::chrono::steady_clock::now() + 20ms;
                                                         while (!has_stopped && std::chrono::steady_clock::now() < late)
                                                           std::this_thread::yield();
                                                         std::this_thread::sleep_for(1ms);
                                                         return ++read;
                                                       }),
                           tbb::make_filter<int, void>(tbb::filter_mode::parallel, [&](int) { ++passed; }));
    CHECK(read == 1);
    CHECK(passed == 1);
  }
}

TEST_CASE("tbb_suspended_tasks_and_collaborative_calls_leave_their_workers") {
  guard const g{"suspended"};
  tbb::task_group group;
  std::atomic<tbb::task::suspend_point> point{nullptr};
  std::atomic<bool> resumed{false};
  group.run([&] {
    tbb::task::suspend([&](tbb::task::suspend_point p) { point = p, point.notify_all(); });
    resumed = true;
  });
  point.wait(nullptr);
  CHECK_FALSE(resumed);
  tbb::task::resume(point);
  group.wait();
  CHECK(resumed);

  tbb::collaborative_once_flag once;
  std::atomic<int> calls{0}, inner{0}, early{0};
  tbb::parallel_for(0, 50, [&](int) {
    tbb::collaborative_call_once(once, [&] {
      ++calls;
      tbb::parallel_for(0, 100, [&](int) { ++inner; });
    });
    early += inner != 100;
  });
  CHECK(early == 0);
  CHECK(calls == 1);
}

TEST_CASE("tbb_tasks_of_heist_belong_to_no_group_that_has_parked_there") {
  guard const g{"tasks of heist"};
  tbb::task_arena one(1);
  tbb::task_group group;
  std::atomic<tbb::task::suspend_point> point{nullptr};
  one.execute([&] {
    group.run([&] {
      group.cancel();
      tbb::task::suspend([&](tbb::task::suspend_point p) { point = p, point.notify_all(); });
    });
  });
  point.wait(nullptr);
  int n = 0;
  one.heist_executor()
      .submit([&] {
        n += tbb::is_current_task_group_canceling();
        tbb::parallel_for(0, 1, [&](int) { n += 2; });
      })
      .get();
  CHECK(n == 2);
  tbb::task::resume(point);
  CHECK(group.wait() == tbb::canceled);
}

TEST_CASE("tbb_a_stop_of_a_task_of_heist_ends_no_wait_for_tasks_that_use_its_data") {
  guard const g{"stops"};
  tbb::task_arena two(2);
  std::stop_source stop;
  std::atomic<int> begun{0}, ended{0};
  auto run = two.heist_executor().submit(heist::with{.stop = stop.get_token()}, [&] {
    tbb::task_arena other(2);
    std::vector<int> mine(100);
    tbb::task_group group;
    auto const use = [&] {
      ++begun, begun.notify_all();
      while (!stop.stop_requested()) std::this_thread::yield();
      std::this_thread::sleep_for(20ms);
      mine[50] = 1;
      ++ended;
    };
    other.execute([&] { group.run(use); });
    group.wait();
    mine[50] += ended;
  });
  begun.wait(0);
  stop.request_stop();
  run.wait();
  CHECK(ended == 1);
}

TEST_CASE("tbb_flow_graphs_pass_messages_limit_them_and_rethrow") {
  guard const g{"graphs"};
  namespace flow = tbb::flow;
  flow::graph all;
  std::atomic<int> now{0}, most{0};
  std::vector<int> got;
  flow::function_node<int, int> work(all, 2, [&](int i) {
    int const here = ++now;
    for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) continue;
    --now;
    return i * i;
  });
  flow::function_node<int> last(all, flow::serial, [&](int i) { got.push_back(i); });
  flow::make_edge(work, last);
  for (int i = 0; i != 100; ++i) work.try_put(i);
  all.wait_for_all();
  CHECK(got.size() == 100);
  CHECK(most <= 2);

  flow::join_node<std::tuple<int, std::string>> pairs(all);
  std::atomic<int> joined{0};
  flow::function_node<std::tuple<int, std::string>> use(
      all, flow::unlimited,
      [&](std::tuple<int, std::string> const& t) { joined += std::get<0>(t) == std::stoi(std::get<1>(t)); });
  flow::make_edge(pairs, use);
  for (int i = 0; i != 10; ++i) {
    flow::input_port<0>(pairs).try_put(i);
    flow::input_port<1>(pairs).try_put(std::to_string(i));
  }
  all.wait_for_all();
  CHECK(joined == 10);

  flow::function_node<int> fails(all, flow::unlimited, [](int) { throw std::runtime_error{"of a body"}; });
  fails.try_put(1);
  CHECK_THROWS_AS(all.wait_for_all(), std::runtime_error);
  CHECK(all.exception_thrown());
}

TEST_CASE("tbb_threads_of_the_program_share_the_workers") {
  guard const g{"threads"};
  std::vector<std::thread> threads;
  std::atomic<long> sum{0};
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i != 20; ++i) {
        sum += tbb::parallel_reduce(
            tbb::blocked_range<int>(0, 1000), 0L,
            [](auto const& r, long s) {
              for (int j = r.begin(); j != r.end(); ++j) s += j;
              return s;
            },
            std::plus<>{});
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(sum == 4 * 20 * 499'500L);
}

TEST_CASE("tbb_leaves_the_parallel_algorithms_of_the_standard_library_alone") {
  std::vector<int> v{3, 1, 2};
  std::sort(std::execution::par, v.begin(), v.end());
  CHECK(v == std::vector<int>{1, 2, 3});
}
