// heist/tools/observe/recorder.hpp
#include "heist/tools/observe/recorder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace {

heist::task_view named(char const* name, void const* id = nullptr) {
  return {heist::task_kind::condition, id, name};
}

}  // namespace

TEST_CASE("recorder_keeps_events_in_order_with_all_they_say") {
  heist::recorder r;
  r.start(2);
  int task = 0, fiber = 0;
  r.wake(1);
  r.steal(1, 0);
  r.task_begin(1, named("t", &task));
  r.park(1, &fiber);
  r.resume(0, &fiber);
  r.task_end(0, named("t", &task));
  r.sleep(1);
  CHECK(r.worker_count() == 2);
  REQUIRE(r.event_count(0) == 2);
  REQUIRE(r.event_count(1) == 5);
  CHECK(r.event_at(1, 0).what == heist::event_kind::wake);
  CHECK(r.event_at(1, 1).what == heist::event_kind::steal);
  CHECK(r.event_at(1, 1).victim == 0);
  CHECK(r.event_at(1, 2).what == heist::event_kind::task_begin);
  CHECK(r.event_at(1, 2).id == &task);
  CHECK(r.event_at(1, 2).kind == heist::task_kind::condition);
  CHECK(std::string(r.event_at(1, 2).name) == "t");
  CHECK(r.event_at(1, 3).what == heist::event_kind::park);
  CHECK(r.event_at(1, 3).id == &fiber);
  CHECK(r.event_at(1, 4).what == heist::event_kind::sleep);
  CHECK(r.event_at(0, 0).what == heist::event_kind::resume);
  CHECK(r.event_at(0, 1).what == heist::event_kind::task_end);
  std::int64_t before = r.start_ns();
  r.for_each_event(1, [&](heist::recorded_event const& e) {
    CHECK(e.ns >= before);
    before = e.ns;
  });
}

TEST_CASE("recorder_copies_names_once") {
  heist::recorder r;
  r.start(1);
  std::string name = "first";
  r.task_begin(0, named(name.c_str()));
  name = "other";
  r.task_begin(0, named(name.c_str()));
  name = "first";
  r.task_begin(0, named(name.c_str()));
  r.task_begin(0, named(nullptr));
  r.task_begin(0, named(""));
  name = "gone!";
  CHECK(std::string(r.event_at(0, 0).name) == "first");
  CHECK(std::string(r.event_at(0, 1).name) == "other");
  CHECK(r.event_at(0, 2).name == r.event_at(0, 0).name);
  CHECK(r.event_at(0, 3).name == nullptr);
  CHECK(std::string(r.event_at(0, 4).name).empty());
}

TEST_CASE("recorder_drops_the_newest_when_it_is_full") {
  heist::recorder r(1500);  // becomes two chunks
  r.start(2);
  std::size_t const room = 2048;
  for (std::size_t i = 0; i < room + 10; ++i) r.steal(0, i);
  CHECK(r.event_count(0) == room);
  CHECK(r.released(0) == 10);
  CHECK(r.event_at(0, room - 1).victim == room - 1);
  CHECK(r.event_count(1) == 0);
  CHECK(r.released(1) == 0);
  heist::recorder none(0);
  none.start(1);
  none.sleep(0);
  CHECK(none.event_count(0) == 0);
  CHECK(none.released(0) == 1);
}

TEST_CASE("recorder_start_forgets") {
  heist::recorder r;
  r.start(2);
  r.sleep(1);
  r.start(3);
  CHECK(r.worker_count() == 3);
  CHECK(r.event_count(1) == 0);
}

TEST_CASE("recorder_may_be_read_while_workers_record") {
  constexpr std::size_t workers = 3, tasks = 5000;
  heist::recorder r;
  r.start(workers);
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < workers; ++w)
    threads.emplace_back([&r, w] {
      for (std::size_t i = 0; i < tasks; ++i) {
        std::string const name = "task " + std::to_string(i % 500);
        r.task_begin(w, named(name.c_str(), &r));
        r.task_end(w, named(name.c_str(), &r));
      }
    });
  bool good = true;
  for (int i = 0; i < 20; ++i)
    for (std::size_t w = 0; w < workers; ++w)
      r.for_each_event(w, [&](heist::recorded_event const& e) {
        if (e.what == heist::event_kind::task_begin) good = good && std::string(e.name).substr(0, 5) == "task ";
      });
  for (auto& t : threads) t.join();
  CHECK(good);
  for (std::size_t w = 0; w < workers; ++w) CHECK(r.event_count(w) == 2 * tasks);
}
