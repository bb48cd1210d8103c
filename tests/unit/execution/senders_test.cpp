// std::execution on an executor: built beside stdexec by hand (HEIST_STDEXEC_DIR), and skipped with a sentence where there
// is none.
#include "heist/execution.hpp"

#include "support/catch.hpp"

#if defined(__cpp_lib_senders) || __has_include(<stdexec/execution.hpp>)

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ex = heist::detail::execution;

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
