// std::execution on an executor: built beside stdexec by hand (HEIST_STDEXEC_DIR), and skipped with a sentence where
// there is none.
#include "heist/execution.hpp"

#include "support/catch.hpp"

#if defined(__cpp_lib_senders) || __has_include(<stdexec/execution.hpp>)

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ex = heist::detail::execution;
namespace tokens = heist::detail::stop_tokens;

namespace {

struct stoppable_env {
  tokens::inplace_stop_token token;
  tokens::inplace_stop_token query(tokens::get_stop_token_t) const noexcept { return token; }
};
enum class sent { nothing, value, stop };
/// Records which signal was sent, and on which thread.
struct told {
  std::atomic<sent> what{sent::nothing};
  std::thread::id by;
  void tell(sent s) noexcept {
    by = std::this_thread::get_id();
    what = s;
    what.notify_one();
  }
};
struct stoppable_receiver {
  using receiver_concept = ex::receiver_t;
  told* to;
  tokens::inplace_stop_token token;
  void set_value() && noexcept { to->tell(sent::value); }
  void set_stopped() && noexcept { to->tell(sent::stop); }
  stoppable_env get_env() const noexcept { return {token}; }
};
/// Has neither set_error nor set_stopped.
struct value_receiver {
  using receiver_concept = ex::receiver_t;
  told* to;
  void set_value() && noexcept { to->tell(sent::value); }
};

/// The status of a child of fork() that calls f, which returns its exit code.
template <class F>
int status_of_child(F f) {
  pid_t const child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);  // the error that ends the child prints a sentence
    std::signal(SIGABRT, SIG_DFL);
    ::_exit(f());
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("senders: schedule, then, continues_on, when_all on the executor's workers", "[senders]") {
  heist::executor pool{2};
  heist::execution_scheduler const on{pool};
  static_assert(ex::scheduler<heist::execution_scheduler>);
  CHECK((on == heist::execution_scheduler{pool}));
  for (int i = 0; i < 100; ++i) {
    auto [where, value] = ex::sync_wait(ex::schedule(on) | ex::then([i] { return std::this_thread::get_id(); }) |
                                        ex::let_value([i](std::thread::id& id) { return ex::just(id, i); }))
                              .value();
    CHECK(where != std::this_thread::get_id());
    CHECK(value == i);
    auto [a, b] =
        ex::sync_wait(ex::when_all(ex::schedule(on) | ex::then([] { return 1; }),
                                   ex::just(2) | ex::continues_on(on) | ex::then([](int x) { return x + 1; })))
            .value();
    CHECK((a == 1 && b == 3));
  }
  pool.wait_idle();
}

TEST_CASE("senders: schedule() sends no error, and stops only where the token can stop", "[senders]") {
  using sender = decltype(ex::schedule(std::declval<heist::execution_scheduler>()));
  using value = ex::completion_signatures<ex::set_value_t()>;
  using value_or_stop = ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>;
  STATIC_REQUIRE(std::is_same_v<ex::completion_signatures_of_t<sender, ex::env_of_t<value_receiver>>, value>);
  STATIC_REQUIRE(std::is_same_v<ex::completion_signatures_of_t<sender, stoppable_env>, value_or_stop>);

  heist::executor pool{1};
  heist::execution_scheduler const on{pool};
  tokens::inplace_stop_source source;
  for (bool const stopped : {false, true}) {
    told seen;
    auto op = ex::connect(ex::schedule(on), stoppable_receiver{&seen, source.get_token()});
    if (stopped) source.request_stop();
    ex::start(op);
    seen.what.wait(sent::nothing);
    CHECK(seen.what == (stopped ? sent::stop : sent::value));
    CHECK(seen.by != std::this_thread::get_id());
    pool.wait_idle();
  }
  told seen;
  auto op = ex::connect(ex::schedule(on), value_receiver{&seen});
  ex::start(op);
  pool.wait_idle();
  CHECK(seen.what == sent::value);
}

TEST_CASE("senders: an operation that starts when the executor has waited for all work is stopped", "[senders]") {
  std::atomic<bool> task_ends{false}, worker_ends{false};
  std::optional<heist::executor<>> pool;
  pool.emplace(heist::options{.workers = 1, .on_worker_stop = [&](std::size_t) { worker_ends.wait(false); }});
  heist::execution_scheduler const on{*pool};
  auto& core = heist::detail::executor_access::core_of(*pool);
  told inside, late;
  auto of_task = ex::connect(ex::schedule(on), value_receiver{&inside});
  pool->post([&] {
    task_ends.wait(false);
    ex::start(of_task);
  });
  std::thread ends{[&] { pool.reset(); }};
  task_ends = true;
  task_ends.notify_one();
  while (!core.work.closed()) std::this_thread::yield();
  auto op = ex::connect(ex::schedule(on), stoppable_receiver{&late, {}});
  ex::start(op);
  CHECK(late.what == sent::stop);
  CHECK(late.by == std::this_thread::get_id());
  worker_ends = true;
  worker_ends.notify_one();
  ends.join();
  CHECK(inside.what == sent::value);
}

#if !defined(__SANITIZE_THREAD__)  // it does not allow threads of a child
TEST_CASE("senders: a child of fork() is stopped, or ends where nothing can tell it", "[senders]") {
  heist::executor pool{1};
  heist::execution_scheduler const on{pool};
  told seen;
  int const stopped = status_of_child([&] {
    auto op = ex::connect(ex::schedule(on), stoppable_receiver{&seen, {}});
    ex::start(op);
    return seen.what == sent::stop ? 7 : 1;
  });
  CHECK((WIFEXITED(stopped) && WEXITSTATUS(stopped) == 7));
  int const ended = status_of_child([&] {
    auto op = ex::connect(ex::schedule(on), value_receiver{&seen});
    ex::start(op);
    return 0;
  });
  CHECK((WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT));
}
#endif

TEST_CASE("senders: coroutines and erased schedulers of std::execution run on the executor", "[senders]") {
  heist::executor pool{2};
  heist::execution_scheduler const on{pool};
  ex::task_scheduler const erased{on};
  auto const me = std::this_thread::get_id();
  auto [by] = ex::sync_wait(ex::schedule(erased) | ex::then([] { return std::this_thread::get_id(); })).value();
  CHECK(by != me);
  std::atomic<int> sum{0};
  ex::sync_wait(ex::schedule(erased) | ex::bulk(ex::par, 100, [&](int i) { sum += i; }));
  CHECK(sum == 4950);
  auto const coroutine = [me](heist::execution_scheduler elsewhere) -> ex::task<int> {
    bool const begun_there = std::this_thread::get_id() != me;
    int const n = co_await (ex::schedule(elsewhere) | ex::then([] { return 41; }));
    bool const back = std::this_thread::get_id() != me;
    co_return begun_there&& back ? n + 1 : 0;
  };
  heist::executor other{1};
  for (int i = 0; i < 100; ++i) {
    auto [n] = ex::sync_wait(ex::on(on, coroutine(heist::execution_scheduler{other}))).value();
    CHECK(n == 42);
  }
}

TEST_CASE("senders: exceptions are errors", "[senders]") {
  heist::executor pool{1};
  heist::execution_scheduler const on{pool};
  CHECK_THROWS_WITH(ex::sync_wait(ex::schedule(on) | ex::then([] { throw std::runtime_error{"sent"}; })), "sent");
  CHECK_THROWS_WITH(ex::sync_wait(ex::schedule(on) | ex::bulk(ex::par, 1000,
                                                              [](int i) {
                                                                if (i == 500) throw std::runtime_error{"in bulk"};
                                                              })),
                    "in bulk");
}

TEST_CASE("senders: bulk is a loop of the executor", "[senders]") {
  heist::executor pool{3};
  heist::execution_scheduler const on{pool};
  std::vector<int> out(100'000);
  std::atomic<bool> outside{false};
  auto const me = std::this_thread::get_id();
  auto [n] = ex::sync_wait(ex::just(2) | ex::continues_on(on) |
                           ex::bulk(ex::par, out.size(),
                                    [&](std::size_t i, int by) {
                                      out[i] = static_cast<int>(i) * by;
                                      if (std::this_thread::get_id() == me) outside = true;
                                    }))
                 .value();
  CHECK(n == 2);
  CHECK_FALSE(outside);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i != out.size(); ++i) wrong += out[i] != static_cast<int>(2 * i);
  CHECK(wrong == 0);
  // In its order where that is wanted; chunks; none.
  std::vector<int> order;
  ex::sync_wait(ex::schedule(on) | ex::bulk(ex::seq, 100, [&](int i) { order.push_back(i); }));
  CHECK((order.size() == 100 && order[7] == 7));
  std::atomic<long> sum{0};
  ex::sync_wait(ex::schedule(on) | ex::bulk_chunked(ex::par, 5000, [&](int lo, int hi) { sum += hi - lo; }));
  CHECK(sum == 5000);
  ex::sync_wait(ex::schedule(on) | ex::bulk(ex::par, 0, [&](int) { sum = 0; }));
  CHECK(sum == 5000);
}

TEST_CASE("senders: bulk of values and functions that are moved, and copied once where they are copied", "[senders]") {
  heist::executor pool{2};
  heist::execution_scheduler const on{pool};
  std::atomic<int> sum{0};
  auto [left] =
      ex::sync_wait(ex::just(std::make_unique<int>(3)) | ex::continues_on(on) |
                    ex::then([by = std::make_unique<int>(2)](std::unique_ptr<int> value) {
                      *value *= *by;
                      return value;
                    }) |
                    ex::bulk(ex::par, 100, [&sum](int, std::unique_ptr<int>& value) { sum += *value; }) |
                    ex::bulk_chunked(ex::par, 100, [&sum](int lo, int hi, std::unique_ptr<int>&) { sum += hi - lo; }))
          .value();
  CHECK(*left == 6);
  CHECK(sum == 700);
  int copies = 0;
  struct counted {
    int* n;
    explicit counted(int& of) : n{&of} {}
    counted(counted const& other) : n{other.n} { ++*n; }
    counted(counted&& other) noexcept = default;
    void operator()(int) const {}
  };
  ex::sync_wait(ex::schedule(on) | ex::bulk(ex::par, 10, counted{copies}));
  CHECK(copies == 0);
  auto const again = ex::schedule(on) | ex::bulk(ex::par, 10, counted{copies});
  ex::sync_wait(again);
  CHECK(copies == 1);
}

#else

TEST_CASE("senders: skipped", "[senders]") {
  WARN("skipped: neither <execution> has senders here nor is <stdexec/execution.hpp> found (HEIST_STDEXEC_DIR)");
}

#endif
