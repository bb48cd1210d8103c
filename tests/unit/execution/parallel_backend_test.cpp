// heist as the backend of std::execution's parallel scheduler: skipped with a sentence where there is none.
#include "heist/parallel_backend.hpp"

#include "support/catch.hpp"

#if defined(HEIST_HAS_PARALLEL_SCHEDULER)

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ex = heist::detail::execution;

namespace {

bool on_worker_of_default() {
  heist::detail::worker* const w = heist::detail::this_worker();
  return w != nullptr && &w->scheduler == &heist::detail::executor_access::core_of(heist::default_executor());
}

}  // namespace

TEST_CASE("parallel backend: work of the parallel scheduler runs on the default executor", "[parallel_backend]") {
  auto const on = ex::get_parallel_scheduler();
  CHECK((on == ex::get_parallel_scheduler()));
  for (int i = 0; i < 100; ++i) {
    auto [there] = ex::sync_wait(ex::schedule(on) | ex::then(on_worker_of_default)).value();
    CHECK(there);
  }
  std::vector<std::atomic<int>> seen(10'000);
  std::atomic<bool> outside{false};
  auto const count = [&](std::size_t lo, std::size_t hi) {
    if (!on_worker_of_default()) outside = true;
    for (; lo != hi; ++lo) ++seen[lo];
  };
  ex::sync_wait(ex::schedule(on) | ex::bulk_chunked(ex::par, seen.size(), count));
  ex::sync_wait(ex::schedule(on) | ex::bulk_unchunked(ex::par, seen.size(), [&](std::size_t i) { count(i, i + 1); }));
  ex::sync_wait(ex::schedule(on) | ex::bulk(ex::par, seen.size(), [&](std::size_t i) { count(i, i + 1); }));
  CHECK(std::all_of(seen.begin(), seen.end(), [](auto const& n) { return n == 3; }));
  CHECK_FALSE(outside);
  bool called = false;
  ex::sync_wait(ex::schedule(on) | ex::bulk_chunked(ex::par, 0, [&](int, int) { called = true; }));
  CHECK_FALSE(called);
}

#if !defined(__cpp_lib_senders)  // the proxies of stdexec have one function more

namespace {

/// Tells what the backend sends, and answers its query for a stop token.
template <class Proxy>
struct told_by_backend : Proxy {
  std::atomic<char> what{0};
  std::atomic<std::size_t> executed{0};
  std::exception_ptr error;
  heist::detail::stop_tokens::inplace_stop_source source;

  void set_value() noexcept override { tell('v'); }
  void set_error(std::exception_ptr e) noexcept override {
    error = std::move(e);
    tell('e');
  }
  void set_stopped() noexcept override { tell('s'); }
  char wait() {
    what.wait(0);
    heist::default_executor().wait_idle();
    return what;
  }

 protected:
  void __query_env(ex::__type_index, ex::__type_index value, void* to) const noexcept override {
    using token = heist::detail::stop_tokens::inplace_stop_token;
    if (value == ex::__mtypeid<token>) static_cast<std::optional<token>*>(to)->emplace(source.get_token());
  }

 private:
  void tell(char c) noexcept {
    what = c;
    what.notify_one();
  }
};
struct told_schedule final : told_by_backend<heist::detail::replacement::receiver_proxy> {};
struct told_bulk final : told_by_backend<heist::detail::replacement::bulk_item_receiver_proxy> {
  void execute(std::size_t lo, std::size_t hi) noexcept override { executed += hi - lo; }
};

}  // namespace

TEST_CASE("parallel backend: storage of any size and alignment serves", "[parallel_backend]") {
  auto const backend = heist::detail::replacement::query_parallel_scheduler_backend();
  alignas(16) std::array<std::byte, 128> storage{};
  for (std::size_t const from : {0, 1, 8}) {
    for (std::size_t const size : {0, 1, 16, 40, 64, 72, 120}) {
      std::span<std::byte> const given{storage.data() + from, size};
      told_schedule one;
      backend->schedule(one, given);
      CHECK(one.wait() == 'v');
      told_bulk chunks, each;
      backend->schedule_bulk_chunked(1000, chunks, given);
      CHECK(chunks.wait() == 'v');
      backend->schedule_bulk_unchunked(1000, each, given);
      CHECK(each.wait() == 'v');
      CHECK((chunks.executed == 1000 && each.executed == 1000));
    }
  }
}

TEST_CASE("parallel backend: a stop before the work begins is told", "[parallel_backend]") {
  auto const backend = heist::detail::replacement::query_parallel_scheduler_backend();
  std::array<std::byte, 72> storage;
  told_bulk bulk;
  bulk.source.request_stop();
  backend->schedule_bulk_chunked(1000, bulk, storage);
  CHECK(bulk.wait() == 's');
  CHECK(bulk.executed == 0);
}

#endif

#else

TEST_CASE("parallel backend: skipped", "[parallel_backend]") {
  WARN("skipped: neither <execution> has a parallel scheduler nor is one of stdexec found (HEIST_STDEXEC_DIR)");
}

#endif
