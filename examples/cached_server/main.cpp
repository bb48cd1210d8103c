// A server: clients push requests into a bounded queue, and handlers answer them from a cache or a slow backend. The
// handlers give up requests whose deadline has passed. At the end the server closes and drains the queue.
#include <heist/async.hpp>  // with
#include <heist/executor.hpp>
#include <heist/sync.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>    // pow
#include <cstddef>  // size_t, ptrdiff_t
#include <cstdint>
#include <deque>
#include <memory>  // unique_ptr
#include <mutex>   // scoped_lock
#include <optional>
#include <random>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "../progress_line.hpp"

namespace {

using steady = std::chrono::steady_clock;
using us = std::chrono::microseconds;

struct options {
  std::size_t workers = 0, clients = 8, requests = 1000, handlers = 32, queue = 64, cache = 300, stop_after = 0;
  std::ptrdiff_t connections = 8;
  int backend_us = 200, deadline_ms = 20;
};
constexpr auto right_answer = [](std::uint64_t key) { return (key + 1) * 0x9e3779b97f4a7c15u; };

/// The last `capacity` answers. Readers do not wait for each other.
struct answer_cache {
  std::optional<std::uint64_t> find(std::uint64_t key) {
    std::shared_lock lock{mutex};
    auto const found = answers.find(key);
    return found == answers.end() ? std::nullopt : std::optional{found->second};
  }
  void keep(std::uint64_t key, std::uint64_t answer) {
    std::scoped_lock lock{mutex};
    if (!answers.emplace(key, answer).second) return;  // another task has stored it
    order.push_back(key);
    if (order.size() <= capacity) return;
    answers.erase(order.front());
    order.pop_front();
  }

  std::size_t const capacity;
  heist::shared_mutex mutex{"the cache"};
  std::unordered_map<std::uint64_t, std::uint64_t> answers{};
  std::deque<std::uint64_t> order{};
};

struct request {
  std::uint64_t key;
  steady::time_point arrived;
};
/// The counts of one handler.
struct tally {
  std::size_t hits = 0, misses = 0, late = 0, wrong = 0;
  std::uint64_t longest = 0;                ///< microseconds
  std::array<std::size_t, 32> latencies{};  ///< at i: requests of less than 2^i us, and at least half of that

  void add(tally const& t) {
    hits += t.hits, misses += t.misses, late += t.late, wrong += t.wrong, longest = std::max(longest, t.longest);
    for (std::size_t i = 0; i != latencies.size(); ++i) latencies[i] += t.latencies[i];
  }
};

class server {
 public:
  explicit server(options const& o) : o_{o} {}

  /// Serves all requests. Returns true if all of them are accounted for.
  bool run() {
    std::vector<heist::future<tally>> handlers;
    for (std::size_t i = 0; i != o_.handlers; ++i) handlers.push_back(ex_.submit([this] { return handle(); }));
    std::vector<heist::future<void>> clients;
    for (std::size_t i = 0; i != o_.clients; ++i) clients.push_back(ex_.submit([this, i] { ask(i); }));
    examples::progress_line line{examples::show_progress::on_terminals};
    for (auto& c : clients) {
      while (!c.wait_for(std::chrono::milliseconds{100}))
        if (line.due()) line.show(fmt::format("{} of {} requests taken", taken_.load(), o_.clients * o_.requests));
      c.get();
    }
    line.clear();
    queue_.close();  // the handlers drain it, and end
    tally all;
    for (auto& h : handlers) all.add(h.get());
    return report(all);
  }

 private:
  /// A client. It waits while the queue is full, and asks for low keys more often.
  void ask(std::size_t number) {
    std::mt19937_64 random{number};
    std::uniform_real_distribution<double> part{0, 1};
    for (std::size_t i = 0; i != o_.requests; ++i) {
      auto const key = static_cast<std::uint64_t>(std::pow(part(random), 3) * 1000);
      ++(queue_.push({key, steady::now()}) ? accepted_ : rejected_);
    }
  }

  /// A handler. Each handler works on one request at a time.
  tally handle() {
    tally mine;
    while (std::optional<request> const r = queue_.pop()) {
      if (++taken_ == o_.stop_after) queue_.close();  // the handlers still serve accepted requests
      bool is_hit = false;
      auto const due = r->arrived + std::chrono::milliseconds{o_.deadline_ms};
      try {
        auto const answer = ex_.submit(heist::with{.deadline = due}, [&] { return answer_to(r->key, is_hit); }).get();
        mine.wrong += answer != right_answer(r->key);
      } catch (heist::stopped_error const&) {
        ++mine.late;
        continue;
      }
      ++(is_hit ? mine.hits : mine.misses);
      auto const took = static_cast<std::uint64_t>(std::chrono::duration_cast<us>(steady::now() - r->arrived).count());
      mine.longest = std::max(mine.longest, took);
      ++mine.latencies[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(took)), 31)];
    }
    return mine;
  }

  std::uint64_t answer_to(std::uint64_t key, bool& is_hit) {
    auto const known = cache_.find(key);
    if ((is_hit = known.has_value())) return *known;
    connections_.acquire();
    std::unique_ptr<decltype(connections_), give_back> const connection{&connections_};
    // No task sets the event: the task parks for that time, or until its deadline. One key in 50 takes ten times as
    // long.
    static_cast<void>(backend_.wait_for(us{key % 50 == 7 ? 10 * o_.backend_us : o_.backend_us}));
    cache_.keep(key, right_answer(key));
    return right_answer(key);
  }

  bool report(tally const& all) {
    auto const served = all.hits + all.misses;
    fmt::print("requests  {} accepted, {} refused after the shutdown\n", accepted_.load(), rejected_.load());
    fmt::print("served    {}: {} from the cache, {} from the backend\n", served, all.hits, all.misses);
    fmt::print("late      {} missed their deadline of {} ms\n", all.late, o_.deadline_ms);
    fmt::print("longest   {:.3f} ms from request to answer\n\n", static_cast<double>(all.longest) / 1000);
    auto const most = *std::max_element(all.latencies.begin(), all.latencies.end());
    for (std::size_t i = 0; i != all.latencies.size(); ++i) {
      if (std::size_t const n = all.latencies[i]; n != 0)
        fmt::print("less than {:>8} us {:>8}  {:#<{}}\n", std::uint64_t{1} << i, n, "", 1 + n * 49 / most);
    }
    bool const right = accepted_ == served + all.late && accepted_ + rejected_ == o_.clients * o_.requests &&
                       accepted_ == taken_ && all.wrong == 0;
    fmt::print("\n{}\n", right ? "every request is accounted for" : "WRONG: a request is lost, or its answer is wrong");
    return right;
  }

  struct give_back {
    void operator()(heist::counting_semaphore<>* s) const { s->release(); }
  };

  options const o_;
  heist::channel<request> queue_{o_.queue};
  answer_cache cache_{o_.cache};
  heist::counting_semaphore<> connections_{o_.connections};
  heist::manual_reset_event backend_;
  std::atomic<std::size_t> accepted_{0}, rejected_{0}, taken_{0};
  heist::executor<> ex_{{.workers = o_.workers}};  // last: it ends before the objects that its tasks use
};

}  // namespace

int main(int argc, char** argv) try {
  options o;
  CLI::App app{"A simulated server: a bounded queue, a shared cache, deadlines, an orderly shutdown."};
  auto const number = [&app](char const* name, auto& value, char const* help, int least, int most) {
    app.add_option(name, value, help)->type_name("N")->check(CLI::Range(least, most))->capture_default_str();
  };
  number("--workers", o.workers, "worker threads; 0: as many as this process may use CPUs", 0, 1024);
  number("--clients", o.clients, "tasks that send requests", 1, 10'000);
  number("--requests", o.requests, "requests of each client", 1, 10'000'000);
  number("--handlers", o.handlers, "requests that are worked at at once", 1, 10'000);
  number("--queue", o.queue, "requests that may wait; beyond, clients wait", 1, 1'000'000);
  number("--cache", o.cache, "answers that are kept", 1, 1'000'000'000);
  number("--connections", o.connections, "requests that the backend serves at once", 1, 1'000'000);
  number("--backend-time", o.backend_us, "microseconds that the backend takes", 0, 10'000'000);
  number("--deadline", o.deadline_ms, "milliseconds after which a request is given up", 0, 1'000'000);
  number("--stop-after", o.stop_after, "shut down after so many requests; 0: after the last one", 0, 1'000'000'000);
  CLI11_PARSE(app, argc, argv);
  return server{o}.run() ? 0 : 1;
} catch (std::exception const& e) {
  fmt::print(stderr, "cached_server: {}\n", e.what());
  return 1;
}
