// A program that stands still in the ways that its arguments name, or crashes in a task. gdb stops it at
// stands_still().
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <heist/heist.hpp>
#include <heist/sync.hpp>

namespace {

/// Where the debugger stops the program.
[[gnu::noinline]] void stands_still() {
  asm volatile("" ::: "memory");
}

/// Core files that gdb writes lack stacks with guard pages.
bool has_guards = true;

heist::options two_workers() {
  return {.workers = 2, .guard_pages = has_guards};
}

/// Returns when a text of the executor names `what`, and all of its workers sleep.
template <class Executor>
void wait_until_still(Executor& ex, std::string_view what) {
  while (ex.state_text().find(what) == std::string::npos || ex.sleeping_workers() != ex.worker_count())
    std::this_thread::yield();
}

/// A graph whose event no thread fulfils, and a task outside that waits for the run.
struct event_case {
  heist::executor<> ex{two_workers()};
  heist::task_graph graph{"orders"};
  heist::event<int> reply = graph.emplace_event<int>();
  heist::graph_run run;
  heist::future<void> waits;

  event_case() {
    reply.name("reply");
    auto const load = graph.emplace([] { return 1; }).name("load");
    auto const price = graph.emplace([](int a, int b) { return a + b; }, load, reply).name("price");
    graph.emplace([](int) {}, price).name("send");
    run = ex.run(graph);
    waits = ex.submit(heist::with{.name = "report"}, [this] { run.wait(); });
    wait_until_still(ex, "report waits for");
  }
};

/// Two tasks of a graph. Each holds the limiter that the other wants.
struct limiters_case {
  heist::executor<> ex{two_workers()};
  heist::limiter tape{1}, disk{1};
  heist::task_graph graph{"devices"};
  heist::graph_run run;

  limiters_case() {
    auto const first = graph.emplace([] {}).name("mount tape").acquire(tape);
    auto const second = graph.emplace([] {}).name("mount disk").acquire(disk);
    auto const both = graph.placeholder().name("both mounted").succeed(first, second);
    graph.emplace([] {}).name("copy to disk").acquire(disk).release(tape).release(disk).succeed(both);
    graph.emplace([] {}).name("copy to tape").acquire(tape).release(tape).release(disk).succeed(both);
    run = ex.run(graph);
    wait_until_still(ex, "tasks wait for each other in a circle");
  }
};

/// A task that adds to a flow whose window is full.
struct flow_case {
  heist::executor<> ex{two_workers()};
  heist::manual_reset_event go;
  heist::flow flow{ex, {.window = 4}};
  heist::datum<int> sum{flow, 0};
  heist::future<void> adds;

  flow_case() {
    adds = ex.submit(heist::with{.name = "producer"}, [this] {
      for (int i = 0; i != 100; ++i) flow.task([this](int&) { go.wait(); }, heist::update(sum));
    });
    wait_until_still(ex, "producer waits for");
  }
};

/// A coroutine that waits for a channel, and a task that waits for the coroutine.
struct coroutine_case {
  heist::executor<> ex{two_workers()};
  heist::channel<int> numbers{2};
  heist::future<int> sum;

  static heist::coroutine<int> receive(heist::executor<>& on, heist::channel<int>& from) {
    co_await heist::resume_on(on);
    int all = 0;
    while (auto const n = co_await from.pop_async()) all += *n;
    co_return all;
  }
  coroutine_case() {
    sum = ex.submit(heist::with{.name = "adder"}, [this] { return heist::sync_wait(receive(ex, numbers)); });
    wait_until_still(ex, "a coroutine waits for");
  }
};

/// Two tasks that lock two mutexes in different orders.
struct mutexes_case {
  heist::executor<> ex{two_workers()};
  heist::mutex accounts{"accounts"}, journal{"journal"};
  heist::latch both{2};
  heist::task_graph graph{"bank"};
  heist::graph_run run;

  void transfer(int amount) {
    int const fee = amount / 100;
    std::scoped_lock first{accounts};
    both.arrive_and_wait();
    std::scoped_lock second{journal};
    std::printf("%d\n", fee);
  }
  void audit() {
    std::scoped_lock first{journal};
    both.arrive_and_wait();
    std::scoped_lock second{accounts};
  }
  mutexes_case() {
    graph.emplace([this] { transfer(700); }).name("transfer");
    graph.emplace([this] { audit(); }).name("audit");
    run = ex.run(graph);
    wait_until_still(ex, "which is held by task audit");
  }
};

/// A task that waits for its child, which waits for a future.
struct join_case {
  heist::executor<> ex{two_workers()};
  heist::manual_reset_event go;
  heist::latch begun{1};
  heist::future<int> never;
  heist::future<void> waits;

  join_case() {
    never = ex.submit(heist::with{.name = "server"}, [this] { return go.wait(), 1; });
    waits = ex.submit(heist::with{.name = "parent"}, [this](heist::context c) {
      auto const first = [this] { begun.wait(); };
      auto const second = [this] {
        begun.count_down();
        never.wait();
      };
      c.fork_join(first, second);
    });
    wait_until_still(ex, "waits for the tasks that it has forked");
  }
};

/// A task of a graph that uses a null pointer, while other tasks are queued behind it.
void crash() {
  heist::executor<> ex{1};
  heist::manual_reset_event go;
  auto const waits = ex.submit(heist::with{.name = "client"}, [&] { go.wait(); });
  wait_until_still(ex, "client waits for");
  heist::task_graph graph{"image"};
  int* volatile pixels = nullptr;
  auto const decode = graph.emplace([] {}).name("decode");
  graph
      .emplace([&](heist::context c) {
        auto const saved = c.submit(heist::with{.name = "save"}, [] {});
        while (ex.state_text().find("waits for a run of the graph image") == std::string::npos)
          std::this_thread::yield();
        *pixels = 1;
      })
      .name("scale")
      .succeed(decode);
  graph.emplace([] {}).name("rotate").succeed(decode);
  ex.run(graph).wait();
}

template <class Case>
void make(std::string_view name, std::string_view wanted, Case*& made) {
  if (name == wanted) made = new Case;
}

}  // namespace

// The debugger prints them.
event_case* event_one;
limiters_case* limiters_one;
flow_case* flow_one;
coroutine_case* coroutine_one;
mutexes_case* mutexes_one;
join_case* join_one;

int main(int argc, char** argv) {
  bool aborts = false;
  for (int i = 1; i != argc; ++i) {
    std::string_view const name = argv[i];
    if (name == "abort") aborts = true;
    if (name == "unguarded") has_guards = false;
    if (name == "crash") crash();
    make(name, "event", event_one);
    make(name, "limiters", limiters_one);
    make(name, "flow", flow_one);
    make(name, "coroutine", coroutine_one);
    make(name, "mutexes", mutexes_one);
    make(name, "join", join_one);
  }
  stands_still();
  if (aborts) std::abort();
  std::_Exit(0);
}
