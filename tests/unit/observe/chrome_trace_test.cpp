// heist/tools/observe/chrome_trace.hpp: the output is JSON and contains the recorded events.
#include "heist/tools/observe/chrome_trace.hpp"
#include "heist/async.hpp"
#include "heist/executor.hpp"
#include "heist/graph.hpp"
#include "heist/sync.hpp"
#include "heist/tools/observe/counters.hpp"
#include "heist/tools/observe/trace_report.hpp"

#include <algorithm>  // sort
#include <cmath>      // llround
#include <cstddef>
#include <cstdint>
#include <cstdio>  // remove
#include <fstream>
#include <iterator>  // size
#include <mutex>     // scoped_lock
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/trace_config.hpp"

namespace {

using heist::task_kind;
using nlohmann::json;

json trace_of(heist::recorder const& r) {
  std::ostringstream out;
  heist::write_chrome_trace(out, r);
  return json::parse(out.str());
}

std::vector<json> select(json const& trace, std::string const& phase, int worker, std::string const& category = "") {
  std::vector<json> result;
  for (auto const& e : trace)
    if (e.at("ph") == phase && e.at("tid") == worker && (category.empty() || e.value("cat", "") == category))
      result.push_back(e);
  return result;
}

heist::task_view task(void const* id, char const* name = nullptr, task_kind kind = task_kind::task) {
  return {kind, id, name};
}

std::vector<std::string> broken(json const& trace) {
  return heist_test::trace_config::broken(trace);
}

std::pair<std::int64_t, std::int64_t> nanoseconds(json const& slice) {
  auto const begin = std::llround(slice.at("ts").get<double>() * 1000);
  return {begin, begin + std::llround(slice.value("dur", 0.0) * 1000)};
}

}  // namespace

TEST_CASE("trace_has_a_named_row_for_each_worker") {
  heist::recorder r;
  r.start(2);
  auto const trace = trace_of(r);
  REQUIRE(trace.is_array());
  std::vector<std::string> names;
  for (auto const& e : trace)
    if (e.at("name") == "thread_name") names.push_back(e.at("args").at("name"));
  CHECK(names == std::vector<std::string>{"worker 0", "worker 1"});
  CHECK(trace_of(heist::recorder{}).is_array());
}

TEST_CASE("trace_slices_are_tasks_with_name_kind_and_time") {
  heist::recorder r;
  r.start(1);
  int a = 0, b = 0;
  r.task_begin(0, task(&a, "outer"));
  r.task_begin(0, task(&b, nullptr, task_kind::async));
  r.task_end(0, task(&b, nullptr, task_kind::async));
  r.task_end(0, task(&a, "outer"));
  auto const trace = trace_of(r);
  auto const slices = select(trace, "X", 0);
  REQUIRE(slices.size() == 2);
  CHECK(slices[0].at("name") == "async");
  CHECK(slices[0].at("cat") == "async");
  CHECK(slices[1].at("name") == "outer");
  CHECK(slices[1].at("cat") == "task");
  auto const [begin, end] = nanoseconds(slices[1]);
  CHECK(begin == r.event_at(0, 0).ns - r.start_ns());
  CHECK(end == r.event_at(0, 3).ns - r.start_ns());
  CHECK(broken(trace) == std::vector<std::string>{});
}

TEST_CASE("trace_of_a_parked_task_goes_on_where_it_resumes") {
  heist::recorder r;
  r.start(2);
  int outer = 0, inner = 0, other = 0, fiber = 0;
  r.task_begin(0, task(&outer, "outer"));
  r.task_begin(0, task(&inner, "inner"));
  r.park(0, &fiber);
  r.task_begin(0, task(&other, "other"));
  r.task_end(0, task(&other, "other"));
  r.resume(1, &fiber);
  r.task_end(1, task(&inner, "inner"));
  r.task_end(1, task(&outer, "outer"));
  auto const trace = trace_of(r);
  auto const left = select(trace, "X", 0);
  auto const right = select(trace, "X", 1);
  REQUIRE(left.size() == 3);
  REQUIRE(right.size() == 2);
  CHECK(left[0].at("name") == "inner");
  CHECK(left[0].at("args").at("parks") == true);
  CHECK_FALSE(left[0].at("args").contains("waits_for"));
  CHECK(left[1].at("name") == "outer");
  CHECK(left[2].at("name") == "other");
  CHECK_FALSE(left[2].at("args").contains("parks"));
  CHECK(right[0].at("name") == "inner");
  CHECK(right[1].at("name") == "outer");
  CHECK(left[1].at("args").at("id") == right[1].at("args").at("id"));
  CHECK(nanoseconds(right[1]).first >= nanoseconds(left[1]).second);
  CHECK(broken(trace) == std::vector<std::string>{});
}

TEST_CASE("trace_says_what_a_parked_task_waits_for") {
  // By an observer of its own, and by one that is told beside it.
  using both = heist::tee<heist::counters, heist::recorder>;
  heist::executor<heist::policy::random, both> ex{2};
  heist::mutex m{"the log"};
  m.lock();
  auto f = ex.submit(heist::with{.name = "writer"}, [&] { std::scoped_lock const lock{m}; });
  auto const parked = [&] {
    bool seen = false;
    for (std::size_t w = 0; w != 2; ++w)
      ex.observer().second.for_each_event(w, [&](auto const& e) { seen |= e.what == heist::event_kind::park; });
    return seen;
  };
  while (!parked()) std::this_thread::yield();
  m.unlock();
  f.get();
  ex.wait_idle();
  auto const trace = trace_of(ex.observer().second);
  std::vector<std::string> waits;
  for (int w = 0; w != 2; ++w)
    for (auto const& slice : select(trace, "X", w))
      if (slice.contains("args") && slice.at("args").contains("waits_for")) {
        CHECK(slice.at("name") == "writer");
        waits.push_back(slice.at("args").at("waits_for"));
      }
  CHECK(waits == std::vector<std::string>{"a mutex the log"});
  auto const s = heist::summarize(ex.observer().second);
  REQUIRE(s.waits.size() == 1);
  CHECK(s.waits[0].name == "a mutex the log");
  CHECK(s.waits[0].times == 1);
  CHECK(s.waits[0].busy_ns > 0);
  CHECK(s.text().find("parked tasks have waited for:\n") != std::string::npos);
  std::ostringstream page;
  heist::write_report(page, ex.observer().second);
  CHECK(page.str().find("What parked tasks have waited for") != std::string::npos);
  CHECK(page.str().find("a mutex the log") != std::string::npos);
}

TEST_CASE("trace_has_a_box_for_each_run_of_a_composed_graph") {
  heist::executor<heist::policy::random, heist::recorder> ex{2};
  heist::task_graph inner, outer;
  inner.emplace([] {}).name("inside");
  auto part = outer.compose(inner);
  part.name("part");
  part.precede(outer.emplace([] {}).name("after"));
  ex.run_n(outer, 3).get();
  ex.wait_idle();
  auto const trace = trace_of(ex.observer());
  std::vector<std::int64_t> begins, ends, inside, after;
  for (auto const& e : trace) {
    if (e.at("name") == "part" && e.at("ph") == "b") begins.push_back(nanoseconds(e).first);
    if (e.at("name") == "part" && e.at("ph") == "e") ends.push_back(nanoseconds(e).first);
    if (e.at("name") == "inside" && e.at("ph") == "X") inside.push_back(nanoseconds(e).second);
    if (e.at("name") == "after" && e.at("ph") == "X") after.push_back(nanoseconds(e).first);
  }
  for (auto* times : {&begins, &ends, &inside, &after}) {
    std::sort(times->begin(), times->end());
    REQUIRE(times->size() == 3);
  }
  for (std::size_t i = 0; i != 3; ++i) {
    CHECK(begins[i] <= inside[i]);
    CHECK(inside[i] <= ends[i]);
    CHECK(ends[i] <= after[i]);
  }
}

TEST_CASE("a_composed_graph_that_is_skipped_ends_its_box_too") {
  heist::executor<heist::policy::random, heist::tee<heist::counters, heist::recorder>> ex{2};
  heist::task_graph inner, outer;
  inner.emplace([] {});
  outer.compose(inner).name("part");
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(ex.run(outer, heist::with{.stop = stop.get_token()}).get(), heist::stopped_error);
  ex.wait_idle();
  auto const trace = trace_of(ex.observer().second);
  int open = 0, boxes = 0;
  for (auto const& e : trace) {
    if (e.at("name") != "part") continue;
    boxes += e.at("ph") == "b";
    open += (e.at("ph") == "b") - (e.at("ph") == "e");
  }
  CHECK(boxes == 1);
  CHECK(broken(trace) == std::vector<std::string>{});
  CHECK(open == 0);
}

TEST_CASE("trace_shows_steals_and_sleep") {
  heist::recorder r;
  r.start(3);
  r.sleep(2);
  r.wake(2);
  r.steal(2, 1);
  r.sleep(0);
  r.wake(1);  // without a sleep
  auto const trace = trace_of(r);
  auto const steals = select(trace, "i", 2);
  REQUIRE(steals.size() == 1);
  CHECK(steals[0].at("name") == "steal");
  CHECK(steals[0].at("args").at("victim") == 1);
  CHECK(steals[0].at("s") == "t");
  CHECK(select(trace, "X", 2, "sleep").size() == 1);
  CHECK(select(trace, "X", 0, "sleep").size() == 1);  // still asleep at the end
  CHECK(select(trace, "X", 1).empty());
}

TEST_CASE("config_of_the_format_find_what_breaks_them") {
  auto const of = [](std::string const& events) {
    return broken(
        json::parse(R"([{"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"worker 0"}},)" + events + "]"));
  };
  std::string const slice = R"({"ph":"X","name":"a","pid":1,"tid":0,"ts":1.000,"dur":2.000})";
  CHECK(of(slice).empty());
  CHECK(of(slice + R"(,{"ph":"X","name":"b","pid":1,"tid":0,"ts":1.001,"dur":1.999})").empty());
  CHECK(of(slice + R"(,{"ph":"X","name":"b","pid":1,"tid":0,"ts":1.001,"dur":2.000})").size() == 1);
  CHECK(of(R"({"ph":"X","name":"b","pid":1,"tid":7,"ts":1.001,"dur":2.000})").size() == 1);
  CHECK(of(R"({"ph":"B","name":"b","pid":1,"tid":0,"ts":1.001})").size() == 1);
  std::string const start = R"(,{"ph":"s","name":"edge","cat":"edge","id":4,"pid":1,"tid":0,"ts":2.000})";
  std::string const end = R"(,{"ph":"f","name":"edge","cat":"edge","id":4,"pid":1,"tid":0,"ts":)";
  std::string const next = R"(,{"ph":"X","name":"b","pid":1,"tid":0,"ts":4.000,"dur":2.000})";
  CHECK(of(slice + next + start + end + "4.000}").empty());
  CHECK(of(slice + next + start).size() == 1);
  CHECK(of(slice + next + start + end + "1.000}").size() == 1);
  CHECK(of(slice + start + end + "4.000}").size() == 1);
  std::string const count = R"({"ph":"C","name":"awake","pid":1,"tid":0,"args":{"n":1},"ts":)";
  CHECK(of(count + "1}," + count + "2}").empty());
  CHECK(of(count + "2}," + count + "1}").size() == 1);
}

TEST_CASE("trace_names_are_escaped") {
  struct {
    std::string name, expected;
  } const names[] = {
      {"plain", "plain"},
      {"quote \" and \\ back", "quote \" and \\ back"},
      {"line\nbreak\ttab\x01\x7f", "line\nbreak\ttab\x01\x7f"},
      {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"bad \xff\xc3 \xe2\x82", "bad ?? ??"},
      {"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "?????????"},
      {"</script>{}[],:", "</script>{}[],:"},
      {"", ""},
  };
  heist::recorder r;
  r.start(1);
  for (auto const& n : names) {
    r.task_begin(0, task(&n, n.name.c_str()));
    r.task_end(0, task(&n, n.name.c_str()));
  }
  auto const slices = select(trace_of(r), "X", 0);
  REQUIRE(slices.size() == std::size(names));
  for (std::size_t i = 0; i < slices.size(); ++i) CHECK(slices[i].at("name") == names[i].expected);
}

TEST_CASE("trace_of_random_bytes_as_names_is_json") {
  std::mt19937 random(5);
  heist::recorder r;
  r.start(1);
  for (int i = 0; i < 2000; ++i) {
    std::string name;
    for (auto n = random() % 12; n > 0; --n) name += static_cast<char>(1 + random() % 255);
    r.task_begin(0, task(&r, name.c_str()));
    r.task_end(0, task(&r, name.c_str()));
  }
  CHECK(select(trace_of(r), "X", 0).size() == 2000);
}

TEST_CASE("trace_copes_with_missing_events") {
  heist::recorder r(1024);
  r.start(2);
  int a = 0, b = 0, fiber = 0;
  r.task_end(0, task(&a));
  r.resume(0, &fiber);
  r.task_begin(0, task(&a, "a"));
  r.task_begin(0, task(&b, "b"));
  r.task_end(0, task(&a, "a"));  // the end of b is missing
  for (int i = 0; i < 2000; ++i) r.task_begin(1, task(&a, "never ends"));
  auto const trace = trace_of(r);
  CHECK(select(trace, "X", 0).size() == 2);
  CHECK(select(trace, "X", 1).size() == 1024);
  auto const marks = select(trace, "i", 1);
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].at("args").at("count") == 976);
  CHECK(broken(trace) == std::vector<std::string>{});
}

TEST_CASE("trace_slices_nest_whatever_the_schedule") {
  std::mt19937 random(3);
  constexpr std::size_t workers = 4;
  heist::recorder r;
  r.start(workers);
  struct frame {
    std::vector<int*> tasks;
  };
  std::vector<int> ids(64);
  std::vector<frame> running(workers), parked;
  std::vector<int> fibers(10000);
  std::vector<int*> keys;
  std::size_t next_fiber = 0, begun = 0, resumed_slices = 0;
  for (int i = 0; i < 5000; ++i) {
    auto const w = random() % workers;
    auto& f = running[w];
    auto const depth = f.tasks.size();
    switch (random() % 4) {
      case 0:
        if (depth < 5)
          f.tasks.push_back(&ids[random() % ids.size()]), r.task_begin(w, task(f.tasks.back(), "t")), ++begun;
        break;
      case 1:
        if (depth > 0) r.task_end(w, task(f.tasks.back(), "t")), f.tasks.pop_back();
        break;
      case 2:
        if (depth > 0) {
          keys.push_back(&fibers[next_fiber++]);
          r.park(w, keys.back());
          parked.push_back(std::move(f));
          f = {};
        }
        break;
      default:
        if (depth == 0 && !parked.empty()) {
          f = std::move(parked.back());
          parked.pop_back();
          r.resume(w, keys.back());
          keys.pop_back();
          resumed_slices += f.tasks.size();
        }
    }
  }
  auto const trace = trace_of(r);
  std::size_t slices = 0;
  for (int w = 0; w < static_cast<int>(workers); ++w) slices += select(trace, "X", w).size();
  CHECK(slices == begun + resumed_slices);
  CHECK(broken(trace) == std::vector<std::string>{});
}

TEST_CASE("trace_file_errors_name_the_file") {
  heist::recorder r;
  r.start(1);
  auto const message = [&](std::string const& path) {
    try {
      heist::write_chrome_trace(path, r);
    } catch (heist::error const& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(message("/no/such/directory/t.json").find("/no/such/directory/t.json: No such file") != std::string::npos);
  CHECK(message("/dev/full").find("/dev/full: No space left") != std::string::npos);
  std::string const path = "heist_trace_test.json";
  CHECK(message(path).empty());
  std::ifstream file(path);
  CHECK(json::parse(file).is_array());
  std::remove(path.c_str());
}
