// This file includes only doors of heist, and uses every name of README's table.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/measure.hpp>
#include <heist/observe.hpp>
#include <heist/run_loop.hpp>
#include <heist/simulate.hpp>
#include <heist/subgraph.hpp>
#include <heist/sync.hpp>
#include <heist/thread_limit.hpp>
#include <heist/topology.hpp>

#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

namespace {

std::string text_of(std::string const& path) {
  std::ifstream file{std::string{HEIST_SOURCE_DIR} + "/" + path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The identifiers in backquotes in the right column of README's table of common tasks.
std::set<std::string> names_of_table(std::string const& readme) {
  std::set<std::string> names;
  std::istringstream lines{readme.substr(readme.find("| you want | you write |"))};
  for (std::string line; std::getline(lines, line) && line.starts_with("|");) {
    bool code = false;
    std::string name;
    for (char const c : line.substr(line.find('|', 1))) {
      bool const part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      if (part && code) name += c;
      if (!part && name.size() > 2) names.insert(name);
      if (!part) name.clear();
      if (c == '`') code = !code;
    }
  }
  return names;
}

namespace policy = heist::policy;

/// Types that a line of the table names and that need no run: it is enough that they are there.
using named =
    std::tuple<heist::executor<policy::with_order<policy::random, heist::order::child_first>>*,
               heist::executor<policy::with_join<policy::random, heist::join::leapfrog>>*,
               heist::executor<policy::with_join<policy::random, heist::join::park>>*,
               heist::executor<policy::with_join<policy::random, heist::join::spin>>*, heist::executor<policy::cats>*,
               heist::executor<policy::sampling>*, heist::executor<policy::victim_set>*,
               heist::executor<policy::hierarchical>*, heist::executor<policy::random, heist::time_breakdown>*,
               heist::executor<policy::with_idle<policy::random, heist::idle::adaptive>>*, heist::first_touch_check*>;
static_assert(std::tuple_size_v<named> == 11);

}  // namespace

TEST_CASE("README's table: tasks and graphs", "[doors]") {
  heist::executor ex{1};
  heist_test::watchdog const timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g, inner;
  std::vector<int> order;
  auto a = g.emplace([&] { order.push_back(0); });
  auto b = g.emplace([&] { order.push_back(1); });
  auto c = g.emplace([&] { order.push_back(2); });
  auto d = g.emplace([&] { order.push_back(3); });
  a.precede(b, c);
  d.succeed(b, c);
  auto x = g.emplace([] { return 1; });
  auto y = g.emplace([] { return 2; });
  auto sum = g.emplace([](int from_x, int from_y) { return from_x + from_y; }, x, y);
  auto choice = g.emplace_condition([] { return 7; });
  d.precede(choice);
  inner.emplace([] {});
  auto part = g.compose(inner);
  heist::limiter two{2};
  part.limit(two);
  bool stopped = false;
  g.emplace([&](heist::context ctx) { stopped = ctx.stop_requested(); });
  ex.run(g).get();
  CHECK(order.front() == 0);
  CHECK(order.back() == 3);
  CHECK(sum.result() == 3);
  CHECK_FALSE(stopped);
  ex.run_n(g, 2).get();
  ex.run_until(g, [] { return true; }).get();
  CHECK(order.size() == 16);
  std::stop_source source;
  auto run = ex.run(g, heist::with{.stop = source.get_token()});
  run.request_stop();
  run.wait();
  std::stop_token stop_token;
  ex.run(g, heist::with{.stop = stop_token}).get();
  std::ostringstream out;
  g.dot(out);
  CHECK(out.str().starts_with("digraph"));
}

TEST_CASE("README's table: tasks on their own, forks, regions", "[doors]") {
  heist::executor<policy::cab> ex{{.workers = 2, .squads = heist::squad_by::l3}};
  heist_test::watchdog const timeout_guard{ex, std::chrono::seconds{20}};
  CHECK(ex.submit([] { return 1; }).get() == 1);
  int posted = 0;
  ex.post([&] { ++posted; });
  ex.wait_idle();
  CHECK(posted == 1);
  heist::region r{{.branching = 2, .bytes = 1u << 20}};
  int const both = ex.invoke([&](heist::context ctx) {
    heist::scope s{ctx};
    s.fork([&] { ++posted; });
    s.join();
    return ctx.invoke(r, [](heist::context in) {
      in.footprint(64);
      auto const [f, g] = in.fork_join([] { return 1; }, [] { return 2; });
      return f + g;
    });
  });
  CHECK(both == 3);
  CHECK(posted == 2);
}

TEST_CASE("README's table: schedules, and pages", "[doors]") {
  heist::executor<policy::replay> ex{1};
  heist_test::watchdog const timeout_guard{ex, std::chrono::seconds{20}};
  heist::region r;
  auto const kernel = [](heist::context ctx) {
    ctx.fork_join([] {}, [](heist::context c) { (void)c.may_be_stolen(); });
  };
  ex.invoke(r, kernel);
  heist::steal_tree tree = r.tree();
  tree.prune(85);
  for (auto mode :
       {heist::replay_mode::strict_ordered, heist::replay_mode::strict_unordered, heist::replay_mode::relaxed})
    r.follow(tree, mode), ex.invoke(r, kernel);
  heist::redistribute(ex, r, [](auto) {});
  r.follow_designations();
  ex.invoke(r, [](heist::context ctx) {
    ctx.assign_continuation(0);
    ctx.fork_join([] {}, [] {});
  });
  r.adapt();
  ex.invoke(r, kernel);
}

TEST_CASE("README's table: what is measured, drawn and simulated", "[doors]") {
  heist::executor<policy::random, heist::recorder> ex{
      {.workers = 1, .machine = heist::topology::parse("package:2 l3:1 core:4 pu:1")}};
  heist_test::watchdog const timeout_guard{ex, std::chrono::seconds{20}};
  auto const kernel = [](auto ctx) { ctx.fork_join([] {}, [] {}); };
  CHECK(heist::measure_work_span(ex, kernel).profile.work > 0);
  auto const recorded = heist::record_program(ex, kernel).program;
  auto const report = heist::simulate<policy::hierarchical>(heist::sim::to_program(recorded), {.workers = 128});
  CHECK(report.workers == 128);
  heist::task_graph g;
  g.emplace([] {}).priority(heist::priority::high);
  heist::executor<policy::random, heist::recorder> watched{1};
  watched.run(g).get();
  CHECK(heist::record_graph(g, watched.observer()).tasks.size() == 1);
  std::ostringstream out;
  heist::write_chrome_trace(out, ex.observer());
  CHECK(out.str().find("thread_name") != std::string::npos);
  std::ostringstream drawn;
  heist::write_dot(drawn, g, watched.observer());
  CHECK(drawn.str().find("digraph") != std::string::npos);
  heist::mutex m;
  heist::no_migrate here;
  m.lock();
  m.unlock();
}

namespace {

heist::coroutine<int> twice(heist::executor<>& ex) {
  co_await heist::resume_on(ex);
  int const x = co_await ex.submit([] { return 21; });
  co_return 2 * x;
}
heist::coroutine<int> at_once(heist::executor<>& ex) {
  co_await heist::resume_on(ex);
  auto [a, b] = co_await heist::when_all(twice(ex), twice(ex));
  co_return a + b;
}

}  // namespace

TEST_CASE("README's table: work found as it runs", "[doors]") {
  heist::executor ex{2};
  heist_test::watchdog const timeout_guard{ex, std::chrono::seconds{20}};
  heist::shared_future<int> const a = ex.submit([] { return 20; }).share();
  CHECK(ex.submit(heist::after(a), [](int x) { return x + 1; }).then([](int x) { return 2 * x; }).get() == 42);
  CHECK(heist::when_all(ex.submit([] { return 1; }), ex.submit([] { return 2; })).get() == std::tuple{1, 2});
  a.raise_priority();
  std::vector<heist::shared_future<int>> const some{a, a};
  CHECK(heist::when_any(some).get() < some.size());
  heist::task_graph g;
  heist::event<int> answer = g.emplace_event<int>();
  std::vector<heist::task<int>> const in{g.emplace([] { return 1; })};
  auto const sum = g.emplace([](auto const& all, int y) { return all[0] + y; }, heist::each(in), answer);
  auto const kept = g.emplace([](int&& x) { return x; }, heist::take(g.emplace([] { return 7; })));
  bool cleaned = false;
  g.emplace_always([&] { cleaned = true; });
  auto run = ex.run(g);
  answer.set_value(41);
  run.get();
  CHECK((sum.result() == 42 && kept.result() == 7 && cleaned));
  heist::flow f{ex};
  heist::datum<int> x{f, 1};
  f.task([](int& v) { v += 1; }, heist::update(x));
  f.wait();
  CHECK(x.value() == 2);
  int next = 0, seen = 0;
  heist::pipeline p{2, heist::serial_stage([&](heist::token& t) {
                      if (next == 5) t.stop();
                      return next++;
                    }),
                    heist::parallel_stage([](int v) { return v * v; }), heist::serial_stage([&](int v) { seen += v; })};
  ex.run(p).get();
  CHECK(seen == 30);
  CHECK(heist::sync_wait(twice(ex)) == 42);
  CHECK(heist::sync_wait(at_once(ex)) == 84);
  CHECK(ex.run_here([] { return 1; }) == 1);
  CHECK(ex.submit([](auto ctx) { return ctx.blocking([] { return 2; }); }).get() == 2);
  heist::executor_ref any{ex};
  CHECK(any.submit([] { return 3; }).get() == 3);
  CHECK(heist::default_executor().worker_count() != 0);
}

TEST_CASE("README's table: locks, semaphores, channels, deadlines", "[doors]") {
  heist::executor ex{2};
  heist::mutex m;
  heist::channel<int> c{64};
  auto const soon = std::chrono::steady_clock::now() + std::chrono::hours{1};
  auto f = ex.submit(heist::with{.deadline = soon}, [&] {
    std::scoped_lock lock{m};
    heist::barrier round{1};
    round.arrive_and_wait();
    c.push(1);
  });
  CHECK(c.pop() == 1);
  f.get();
}

TEST_CASE("the cookbook's table: a part of a graph", "[doors]") {
  heist::executor ex{2};
  heist::task_graph g;
  int runs = 0;
  auto a = g.emplace([&] { ++runs; }), b = g.emplace([&] { ++runs; });
  heist::subgraph part{a, b};
  ex.run(part).get();
  CHECK(runs == 2);
}

TEST_CASE("the cookbook's table: tasks for the main thread", "[doors]") {
  heist::executor ex{2};
  heist::run_loop loop;
  heist::task_graph g;
  std::thread::id where;
  g.emplace([&] { where = loop.submit([] { return std::this_thread::get_id(); }).get(); });
  auto run = ex.run(g);
  loop.run_until(run);
  run.get();
  CHECK(where == std::this_thread::get_id());
}

TEST_CASE("the cookbook's table: the calling thread is a worker", "[doors]") {
  heist::executor ex{heist::options{.workers = 1, .caller_is_worker = true}};
  CHECK(ex.run_here([] { return std::this_thread::get_id(); }) == std::this_thread::get_id());
}

TEST_CASE("the cookbook's table: tasks in the order in which a task submits them", "[doors]") {
  heist::executor ex{1};
  std::vector<int> order;
  ex.submit([&] {
      for (int i = 0; i != 3; ++i) ex.post(heist::with{.fifo = true}, [&order, i] { order.push_back(i); });
    }).get();
  ex.wait_idle();
  CHECK(order == std::vector<int>{0, 1, 2});
}

TEST_CASE("README's table: algorithms", "[doors]") {
  heist::executor ex{2};
  std::vector<double> v{3, 1, 2};
  heist::sort(ex, v);
  heist::for_each(ex, v, [](double& x) { x += 1; });
  heist::for_each_index(ex, std::size_t{0}, v.size(), [&](std::size_t i) { v[i] += 1; });
  CHECK(heist::reduce(ex, v, 0.0) == 12.0);
}

TEST_CASE("README's table: a policy that chooses", "[doors]") {
  heist::executor<heist::policy::automatic> ex{2};
  heist::region r;
  for (int i = 0; i != 8; ++i) ex.invoke(r, [](auto ctx) { ctx.fork_join([] {}, [] {}); });
  CHECK(!r.explain().empty());
}

TEST_CASE("every name of the tables of README and cookbook is used above", "[doors]") {
  std::string const here = text_of("tests/unit/doors/names_test.cpp");
  auto names = names_of_table(text_of("README.md"));
  CHECK(names.size() > 20);
  names.merge(names_of_table(text_of("docs/cookbook.md")));
  CHECK(names.size() > 60);
  // Words of C++, of arguments, and of links.
  std::set<std::string> const other{
      "auto", "std", "cout", "which_policy", "example_which_policy", "bytes", "done", "initialiser",
      // a door of its own, with MPI; a target; names of files
      "distributed", "rank", "compiled", "html", "json", "report", "trace", "cmake", "quick",  // of a command
      // have tests of their own: not every compiler has senders
      "execution", "execution_scheduler", "parallel_backend"};
  for (auto const& name : names) {
    INFO(name);
    CHECK((other.contains(name) || here.find(name) != std::string::npos));
  }
}
