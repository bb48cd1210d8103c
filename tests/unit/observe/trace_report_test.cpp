// heist/tools/observe/trace_report.hpp: a report states the recorded facts.
#include "heist/tools/observe/trace_report.hpp"

#include <errno.h>  // program_invocation_short_name

#include <algorithm>  // count
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "heist/executor.hpp"
#include "heist/graph.hpp"
#include "heist/pipeline.hpp"
#include "heist/region.hpp"
#include "heist/tools/observe/chrome_trace.hpp"
#include "heist/tools/observe/counters.hpp"
#include "heist/tools/observe/task_edges.hpp"
#include "support/catch.hpp"
#include "support/trace_config.hpp"

namespace {

heist::task_view task(void const* id, char const* name = nullptr) {
  return {heist::task_kind::task, id, name};
}

std::string page_of(heist::recorder const& r, heist::task_edges const* edges = nullptr) {
  std::ostringstream out;
  heist::write_report(out, r, edges);
  return out.str();
}

std::size_t count(std::string const& text, std::string const& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++n;
  return n;
}

/// Long enough for its time to be seen.
void pass_time() {
  auto const until = heist::recorder::now() + 20'000;
  while (heist::recorder::now() < until) {
  }
}

void tell(heist::task_edges& edges, std::vector<int> const& tasks,
          std::vector<std::pair<std::size_t, std::size_t>> const& between) {
  edges.graph_begins();
  for (int const& t : tasks) edges.has_task(&t);
  for (auto const& [from, to] : between) edges.has_edge(&tasks[from], &tasks[to]);
  edges.graph_ends();
}

void run(heist::recorder& r, std::size_t worker, int const& t, char const* name) {
  r.task_begin(worker, task(&t, name));
  pass_time();
  r.task_end(worker, task(&t, name));
}

}  // namespace

TEST_CASE("report_counts_busy_time_once_and_steals_by_squad") {
  heist::recorder r;
  r.start(3);
  int outer = 0, inner = 0, fiber = 0;
  r.task_begin(0, task(&outer, "outer"));
  r.task_begin(0, task(&inner, "inner"));
  pass_time();
  r.task_end(0, task(&inner, "inner"));
  r.park(0, &fiber);
  r.sleep(2);
  pass_time();
  r.wake(2);
  r.steal(1, 0);
  r.steal(2, 0);
  r.steal(2, 0);
  r.resume(1, &fiber);
  pass_time();
  r.task_end(1, task(&outer, "outer"));

  auto const s = heist::summarize(r, nullptr, {0, 0, 1});
  CHECK(s.tasks == 2);
  CHECK(s.parks == 1);
  CHECK(s.steal_count() == 3);
  CHECK(s.steals_within_squads() == 1);
  CHECK(s.steals[2][0] == 2);
  REQUIRE(s.workers.size() == 3);
  CHECK(s.workers[0].busy_ns >= 20'000);
  CHECK(s.workers[1].busy_ns >= 20'000);
  CHECK(s.workers[2].busy_ns == 0);
  CHECK(s.workers[2].asleep_ns >= 20'000);
  for (auto const& w : s.workers) CHECK(w.busy_ns + w.asleep_ns <= s.elapsed_ns);
  REQUIRE(s.longest.size() == 2);
  CHECK(s.longest[0].name == "outer");
  CHECK(s.longest[0].worker == 1);
  CHECK(s.longest[0].busy_ns == s.workers[0].busy_ns + s.workers[1].busy_ns);
  CHECK(s.longest[0].end_ns - s.longest[0].begin_ns > s.longest[0].busy_ns);  // it was parked
  CHECK(s.utilisation() > 0);
  CHECK(s.utilisation() < 1);
  CHECK(s.critical_path.empty());  // no edges were reported
  CHECK(s.text().find("3 steals, 1 of them within squads") != std::string::npos);
}

TEST_CASE("report_says_of_what_it_is") {
  heist::recorder r;
  r.start(1);
  int t = 0;
  run(r, 0, t, "only");
  CHECK(heist::summarize(r).recorded.empty());  // a program's own output is the same in each run
  CHECK(heist::summarize(r).text().find(" on 1 worker: 1 tasks") != std::string::npos);
  auto const page = page_of(r);
  CHECK(page.find(program_invocation_short_name) != std::string::npos);
  CHECK(count(page, "class=\"tick\"") == 11);
  CHECK(page.find("addEventListener(\"wheel\"") != std::string::npos);
}

TEST_CASE("report_of_several_passes_holds_like_against_like") {
  std::vector<int> t(4);
  heist::task_edges edges;
  tell(edges, t, {{0, 1}});
  heist::recorder r;
  r.start(1);
  for (int pass = 0; pass != 50; ++pass) {
    run(r, 0, t[0], "a");
    run(r, 0, t[1], "b");
  }
  auto const chain = heist::summarize(r, &edges);
  CHECK(chain.critical_path.size() == 2);
  CHECK(chain.critical_passes == 50);
  CHECK(chain.critical_all_ns == chain.critical_work_ns);  // it is all of the work
  CHECK(chain.critical_all_ns >= chain.critical_ns);
  CHECK(chain.parallelism() == 1);
  CHECK(chain.text().find("in the longest of 50 passes") != std::string::npos);
  CHECK(chain.text().find(": a chain") != std::string::npos);
  CHECK(chain.least_ns(1) == chain.critical_all_ns);
  CHECK(chain.most_ns(3) == chain.critical_all_ns);  // more workers give nothing
  CHECK(page_of(r, &edges).find("Its 50 passes together") != std::string::npos);
  // Two tasks beside each other: each pass has the longer one, and what both were busy is more.
  r.start(1);
  for (int pass = 0; pass != 50; ++pass) {
    run(r, 0, t[0], "a");
    run(r, 0, t[1], "b");
    run(r, 0, t[2], "beside");
  }
  auto const wide = heist::summarize(r, &edges);
  CHECK(wide.critical_passes == 50);
  CHECK(wide.critical_work_ns > wide.critical_all_ns);
  CHECK(wide.parallelism() > 1);
  if (wide.parallelism() >= 1.01) CHECK(wide.text().find(": a chain") == std::string::npos);
  CHECK(wide.least_ns(1) == wide.critical_work_ns);
  CHECK(wide.most_ns(1) == wide.critical_work_ns);
  CHECK(wide.least_ns(100) == wide.critical_all_ns);
  CHECK(wide.most_ns(2) < wide.critical_work_ns);
  CHECK(wide.most_ns(2) > wide.critical_all_ns);
  CHECK(wide.least_ns(0) == wide.least_ns(1));
  CHECK(wide.text().find("\nwithout overhead 1 worker takes ") != std::string::npos);
}

TEST_CASE("report_finds_a_task_that_nothing_precedes_and_nothing_follows") {
  std::vector<int> t(3);
  heist::task_edges edges;
  tell(edges, t, {{0, 1}});
  heist::recorder r;
  heist::trace_summary s;
  for (int attempt = 0; attempt != 200 && s.critical_path.size() != 1; ++attempt) {
    r.start(1);
    run(r, 0, t[0], "a");
    run(r, 0, t[1], "b");
    r.task_begin(0, task(&t[2], "alone"));
    for (int i = 0; i != 10; ++i) pass_time();
    r.task_end(0, task(&t[2], "alone"));
    s = heist::summarize(r, &edges);
  }
  REQUIRE(s.critical_path.size() == 1);
  CHECK(s.critical_path[0].name == "alone");
  CHECK(s.critical_ns == s.critical_all_ns);
  CHECK(s.text().find("critical path: 1 task, ") != std::string::npos);
}

TEST_CASE("report_finds_the_longest_chain_also_where_another_predecessor_ended_last") {
  std::vector<int> t(4);
  heist::task_edges edges;
  tell(edges, t, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  heist::recorder r;
  heist::trace_summary s;
  for (int attempt = 0; attempt != 200 && (s.critical_path.size() != 3 || s.critical_path[1].name != "long");
       ++attempt) {
    r.start(1);
    run(r, 0, t[0], "first");
    r.task_begin(0, task(&t[1], "long"));
    for (int i = 0; i != 10; ++i) pass_time();
    r.task_end(0, task(&t[1], "long"));
    run(r, 0, t[2], "short");  // of one worker, so it ends later
    run(r, 0, t[3], "last");
    s = heist::summarize(r, &edges);
  }
  REQUIRE(s.critical_path.size() == 3);
  CHECK(s.critical_path[1].name == "long");
  CHECK(s.critical_path[2].name == "last");
  CHECK(s.critical_ns == s.critical_all_ns);
}

TEST_CASE("report_finds_the_chain_of_tasks_that_was_busy_longest") {
  std::vector<int> t(4);
  heist::task_edges edges;
  tell(edges, t, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  heist::recorder r;
  heist::trace_summary s;
  // Where the system takes the processor away from "early", the chain to it is the longest.
  for (int attempt = 0; attempt != 200 && (s.critical_path.size() != 3 || s.critical_path[1].name != "late");
       ++attempt) {
    r.start(2);
    run(r, 0, t[0], "first");
    run(r, 1, t[2], "early");
    for (int i = 0; i != 5; ++i) pass_time();
    r.task_begin(0, task(&t[1], "late"));
    for (int i = 0; i != 5; ++i) pass_time();
    r.task_end(0, task(&t[1], "late"));
    run(r, 1, t[3], "last");
    s = heist::summarize(r, &edges);
  }
  REQUIRE(s.critical_path.size() == 3);
  CHECK(s.critical_path[0].name == "first");
  CHECK(s.critical_path[1].name == "late");  // the last one waited for it
  CHECK(s.critical_path[2].name == "last");
  CHECK(s.critical_ns == s.critical_path[0].busy_ns + s.critical_path[1].busy_ns + s.critical_path[2].busy_ns);
  CHECK(s.critical_passes == 1);
  CHECK(s.critical_all_ns == s.critical_ns);
  CHECK(s.critical_work_ns > s.critical_ns);
  auto const page = page_of(r, &edges);
  CHECK(count(page, "class=\"critical\"") == 3);
  CHECK(page.find("Critical path: 3 tasks") != std::string::npos);
}

TEST_CASE("edges_hold_until_another_graph_has_tasks_with_the_same_names") {
  std::vector<int> t(2);
  heist::task_edges edges;
  heist::recorder r;
  r.start(1);
  tell(edges, t, {{0, 1}});
  run(r, 0, t[0], "a");
  run(r, 0, t[1], "b");
  run(r, 0, t[1], "b");  // has waited for no task since
  tell(edges, t, {});
  run(r, 0, t[0], "a");
  run(r, 0, t[1], "b");
  std::ostringstream out;
  heist::write_chrome_trace(out, r, &edges);
  CHECK(count(out.str(), "\"ph\":\"s\",\"name\":\"edge\"") == 1);
  CHECK(count(out.str(), "\"ph\":\"f\",\"name\":\"edge\"") == 1);
}

TEST_CASE("an_edge_has_its_arrow_when_the_successor_start_time_before_the_end_was_told") {
  std::vector<int> t(2);
  heist::task_edges edges;
  tell(edges, t, {{0, 1}});
  heist::recorder r;
  r.start(2);
  for (int round = 0; round != 3; ++round) {
    r.task_begin(0, task(&t[0], "a"));
    pass_time();
    run(r, 1, t[1], "b");
    pass_time();
    r.task_end(0, task(&t[0], "a"));
  }
  std::ostringstream out;
  heist::write_chrome_trace(out, r, &edges);
  CHECK(count(out.str(), "\"ph\":\"s\",\"name\":\"edge\"") == 3);
  CHECK(count(out.str(), "\"ph\":\"f\",\"name\":\"edge\"") == 3);
  CHECK(heist_test::trace_config::broken(nlohmann::json::parse(out.str())) == std::vector<std::string>{});
  auto const path = heist::summarize(r, &edges).critical_path;
  REQUIRE(path.size() == 2);
  CHECK(path[0].name == "a");
  CHECK(path[1].name == "b");
}

TEST_CASE("trace_has_arrows_for_steals_and_resumes_and_counts_who_is_awake") {
  heist::recorder r;
  r.start(2);
  int t = 0, fiber = 0;
  r.sleep(1);
  r.task_begin(0, task(&t, "t"));
  r.park(0, &fiber);
  r.wake(1);
  r.steal(1, 0);
  r.resume(1, &fiber);
  r.task_end(1, task(&t, "t"));
  std::ostringstream out;
  heist::write_chrome_trace(out, r);
  for (char const* kind : {"steal", "resume"}) {
    CHECK(count(out.str(), std::string{"\"ph\":\"s\",\"name\":\""} + kind) == 1);
    CHECK(count(out.str(), std::string{"\"ph\":\"f\",\"name\":\""} + kind) == 1);
  }
  CHECK(count(out.str(), "workers awake") == 3);  // at first, asleep, awake
  CHECK(out.str().find("{\"awake\":1}") != std::string::npos);
}

TEST_CASE("steal_tree_says_what_was_taken_from_whom_and_merges_the_same_ways") {
  heist::recorder r;
  r.start(3);
  int a = 0, b = 0;
  run(r, 0, a, "a");
  r.steal(1, 0);
  run(r, 1, b, "b");
  run(r, 1, b, "b");
  r.steal(2, 1);
  run(r, 2, b, "b");
  r.steal(1, 0);  // the same way again
  run(r, 1, b, "b");
  r.steal(0, 2);  // the task that was taken from 0 comes back to it
  run(r, 0, b, "b");
  r.sleep(0);
  r.wake(0);
  run(r, 0, a, "a");  // from no victim

  auto const sum = heist::summarize(r);
  auto const& tree = sum.steal_tree;
  auto const none = heist::trace_summary::branch::none;
  REQUIRE(tree.size() == 4);
  std::size_t const workers[] = {0, 1, 2, 0}, from[] = {none, 0, 1, 2}, times[] = {0, 2, 1, 1}, tasks[] = {2, 3, 1, 1};
  std::int64_t busy = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(tree[i].worker == workers[i]);
    CHECK(tree[i].from == from[i]);
    CHECK(tree[i].times == times[i]);
    CHECK(tree[i].tasks == tasks[i]);
    CHECK(tree[i].busy_ns >= static_cast<std::int64_t>(20'000 * tasks[i]));
    busy += tree[i].busy_ns;
  }
  CHECK(busy == sum.workers[0].busy_ns + sum.workers[1].busy_ns + sum.workers[2].busy_ns);
  CHECK(sum.text().find("\n    worker 1 from 0, 2 times: 3 tasks, busy ") != std::string::npos);
  CHECK(page_of(r).find(">worker 2 from 1, once: 1 task, busy ") != std::string::npos);
}

TEST_CASE("steal_tree_of_two_workers_that_steal_each_other_forever_is_cut") {
  heist::recorder r;
  r.start(2);
  int t = 0;
  r.task_begin(0, task(&t));
  r.task_end(0, task(&t));
  for (int i = 0; i < 50'000; ++i) {
    r.steal(i % 2 == 0 ? 1 : 0, i % 2 == 0 ? 0 : 1);
    r.task_begin(i % 2 == 0 ? 1 : 0, task(&t));
    r.task_end(i % 2 == 0 ? 1 : 0, task(&t));
  }
  CHECK(heist::summarize(r).steal_tree.size() == 50'001);
  auto const page = page_of(r);
  CHECK(page.find("49992 more steals") != std::string::npos);  // eight levels stand there
  CHECK(count(page, " from ") < 100);
}

TEST_CASE("report_draws_the_graph_with_the_critical_path_in_red") {
  std::vector<int> t(5);
  heist::task_edges edges;
  heist::recorder r;
  std::string page;
  for (int attempt = 0; attempt != 200 && count(page, "\"box critical\"") != 3; ++attempt) {
    r.start(1);
    tell(edges, t, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
    run(r, 0, t[0], "<first>");
    run(r, 0, t[2], "short");
    r.task_begin(0, task(&t[1], "long"));
    for (int i = 0; i != 5; ++i) pass_time();
    r.task_end(0, task(&t[1], "long"));
    run(r, 0, t[3], "a name that is too long for a box");
    page = page_of(r, &edges);
  }
  CHECK(count(page, "\"box critical\"") == 3);
  CHECK(count(page, "\"box\"") == 2);
  CHECK(count(page, "\"edge critical\"") == 2);
  CHECK(count(page, "\"edge\"") == 2);
  CHECK(page.find("&lt;first&gt;</text>") != std::string::npos);
  CHECK(page.find(">a name that is too l...</text>") != std::string::npos);
  CHECK(count(page, "(not run)") == 2);  // title and text
}

TEST_CASE("report_draws_loops_and_no_huge_graphs") {
  std::vector<int> t(3);
  heist::task_edges edges;
  heist::recorder r;
  r.start(1);
  tell(edges, t, {{0, 1}, {1, 0}, {2, 2}});
  run(r, 0, t[0], "a");
  run(r, 0, t[1], "b");
  CHECK(count(page_of(r, &edges), "\"edge critical\"") == 1);

  std::vector<int> many(1000);
  heist::recorder other;  // of its own: the page shows the graph that took the longest, whatever this machine does
  other.start(1);
  tell(edges, many, {{0, 1}});
  run(other, 0, many[0], "a");
  run(other, 0, many[1], "b");
  CHECK(page_of(other, &edges).find("1000 tasks and 1 edges, too many to draw here") != std::string::npos);
}

TEST_CASE("report_is_one_page_that_loads_nothing_and_escapes_names") {
  heist::recorder r;
  r.start(1);
  int t = 0;
  run(r, 0, t, "<script>\"&\" \x01 \xff \xc3\xa4");
  auto const page = page_of(r);
  CHECK(count(page, "<script") == 1);  // its own
  CHECK(page.find("&lt;script&gt;&quot;&amp;&quot;") != std::string::npos);
  CHECK(page.find(" ? \xc3\xa4") != std::string::npos);  // bytes that are not UTF-8
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  CHECK(count(page, "<table>") == count(page, "</table>"));
  CHECK(count(page, "<tr>") == count(page, "</tr>"));
  CHECK(page.find("</html>") != std::string::npos);
}

TEST_CASE("report_draws_many_short_tasks_together") {
  heist::recorder r;
  r.start(1);
  int t = 0;
  for (int i = 0; i < 100'000; ++i) {
    r.task_begin(0, task(&t));
    r.task_end(0, task(&t));
  }
  CHECK(page_of(r).size() < 1'000'000);
  CHECK(heist::summarize(r).tasks == 100'000);
}

TEST_CASE("report_of_nothing_is_a_report") {
  heist::recorder r;
  r.start(1);
  CHECK(heist::summarize(r).tasks == 0);
  CHECK(page_of(r).find("0 tasks") != std::string::npos);
  CHECK(heist::summarize(heist::recorder{}).workers.empty());
}

TEST_CASE("report_counts_tasks_by_name_and_the_time_of_searching") {
  heist::recorder r;
  r.start(2);
  int a = 0, b = 0;
  for (int i = 0; i != 3; ++i) run(r, 0, a, "read");
  run(r, 0, b, nullptr);
  r.sleep(1);
  pass_time();
  r.wake(1);
  heist::trace_summary const sum = heist::summarize(r);
  REQUIRE(sum.names.size() == 2);
  CHECK(sum.names[0].busy_ns >= sum.names[1].busy_ns);
  bool const read_comes_first = sum.names[0].name == "read";  // false if the thread stood still during the other task
  auto const& read = sum.names[read_comes_first ? 0 : 1];
  CHECK(read.name == "read");
  CHECK(read.times == 3);
  CHECK(read.busy_ns >= 60'000);
  CHECK(read.longest_ns <= read.busy_ns - 40'000);
  CHECK(sum.names[read_comes_first ? 1 : 0].name == "task");
  for (std::size_t w : {0u, 1u}) {
    CHECK(sum.searching_ns(w) + sum.workers[w].busy_ns + sum.workers[w].asleep_ns == sum.elapsed_ns);
  }
  CHECK(count(sum.text(), " read: 3 times, longest ") == 1);
  CHECK(count(page_of(r), "<td class=\"name\">read</td><td>3</td>") == 1);
}

TEST_CASE("reports_show_stages_of_pipelines_and_regions_by_name") {
  heist::executor<heist::policy::random, heist::recorder> ex{2};
  heist::pipeline p{3,
                    heist::serial_stage(
                        [](heist::token& t) {
                          if (t.number() == 5) t.stop();
                        },
                        "read"),
                    heist::parallel_stage([] {}), heist::serial_stage([] {}, "write")};
  ex.run(p).get();
  heist::region sweep{{.name = "sweep"}};
  for (int i = 0; i != 2; ++i) ex.invoke(sweep, [](heist::context) {});
  ex.wait_idle();
  auto const times = [sum = heist::summarize(ex.observer())](std::string const& name) {
    for (auto const& n : sum.names)
      if (n.name == name) return n.times;
    return std::size_t{0};
  };
  CHECK(times("read") == 6);  // the last one says stop
  CHECK(times("stage 2") == 5);
  CHECK(times("write") == 5);
  CHECK(times("sweep") == 2);
}

TEST_CASE("a_recording_has_the_critical_path_of_the_graphs_of_its_executor") {
  auto const check = [](auto& ex, heist::recorder const& r) {
    heist::task_graph g;
    auto first = g.emplace([] {}).name("first");
    auto second = g.emplace([] {}).name("second");
    auto third = g.emplace([] {}).name("third");
    first.precede(second);
    second.precede(third);
    ex.run_n(g, 3).get();
    ex.wait_idle();
    heist::trace_summary const sum = heist::summarize(r);
    REQUIRE(sum.critical_path.size() == 3);
    CHECK(sum.critical_path.front().name == "first");
    CHECK(sum.critical_path.back().name == "third");
    CHECK(sum.critical_passes == 3);
    CHECK(page_of(r).find("Critical path: 3 tasks") != std::string::npos);
    std::ostringstream trace;
    heist::write_chrome_trace(trace, r);
    CHECK(count(trace.str(), "\"cat\":\"edge\"") != 0);
  };
  heist::executor<heist::policy::random, heist::recorder> ex{2};
  check(ex, ex.observer());
  using both = heist::tee<heist::counters, heist::recorder>;
  heist::executor<heist::policy::random, both> two{2};
  check(two, two.observer().second);
}
