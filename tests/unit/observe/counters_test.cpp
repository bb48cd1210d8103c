// heist/tools/observe/counters.hpp
#include "heist/tools/observe/counters.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

TEST_CASE("counters_count_per_worker") {
  heist::counters c;
  CHECK(c.worker_count() == 0);
  CHECK(c.total() == heist::event_counts{});
  c.start(3);
  heist::task_view const t;
  for (int i = 0; i < 5; ++i) c.task_begin(0, t), c.task_end(0, t);
  c.task_begin(2, t);
  c.steal(2, 0);
  c.sleep(1);
  c.sleep(1);
  c.wake(1);
  c.park(0, &t);
  c.resume(2, &t);
  CHECK(c.of(0) == heist::event_counts{5, 0, 0, 0, 1, 0});
  CHECK(c.of(1) == heist::event_counts{0, 0, 2, 1, 0, 0});
  CHECK(c.of(2) == heist::event_counts{1, 1, 0, 0, 0, 1});
  CHECK(c.total() == heist::event_counts{6, 1, 2, 1, 1, 1});
  c.start(1);
  CHECK(c.total() == heist::event_counts{});
}

TEST_CASE("counters_table_has_a_line_per_worker_and_a_sum") {
  heist::counters c;
  c.start(2);
  for (int i = 0; i < 12; ++i) c.task_begin(1, {});
  c.steal(1, 0);
  CHECK(c.table() ==
        "worker         tasks      steals      sleeps       wakes       parks     resumes\n"
        "0                  0           0           0           0           0           0\n"
        "1                 12           1           0           0           0           0\n"
        "all               12           1           0           0           0           0\n");
}

TEST_CASE("counters_may_be_read_while_workers_count") {
  constexpr std::size_t workers = 3, tasks = 20000;
  heist::counters c;
  c.start(workers);
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < workers; ++w)
    threads.emplace_back([&c, w] {
      for (std::size_t i = 0; i < tasks; ++i) c.task_begin(w, {});
    });
  std::uint64_t seen = 0;
  for (int i = 0; i < 100; ++i) {
    auto const now = c.total().tasks;
    CHECK(now >= seen);
    seen = now;
  }
  for (auto& t : threads) t.join();
  CHECK(c.total().tasks == workers * tasks);
}
