// Random programs of futures, graphs with events, flows and coroutines, with exceptions, stops and dropped handles.
// Each step has the same result as in a sequential run of the steps.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "heist/async.hpp"
#include "heist/coroutine.hpp"
#include "heist/flow.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

constexpr long modulus = 1'000'003;
using handle = heist::shared_future<long>;
using handles = std::vector<handle>;

/// The outcome of a step; the step's own task writes it.
enum class fate { not_called, returned, threw };
enum class stops { never, before, meanwhile };

struct step {
  std::vector<std::size_t> before;
  bool throws = false;
  stops stop = stops::never;
  std::atomic<fate> ended{fate::not_called};
  std::atomic<long> value{0};
  std::stop_source source;

  /// The work of its task; `sum` is the sum of the predecessors' results.
  long run(std::size_t number, long sum) {
    if (throws) {
      ended = fate::threw;
      throw std::runtime_error{"step " + std::to_string(number)};
    }
    long const v = (sum + static_cast<long>(number)) % modulus;
    value = v;
    ended = fate::returned;
    return v;
  }
};

long sum_of(handles const& all) {
  long sum = 0;
  for (handle const& h : all) sum = (sum + h.get()) % modulus;
  return sum;
}

/// A step that goes through a graph: its event gets the sum, or the exception.
struct through_graph {
  heist::task_graph graph;
  heist::event<long> given = graph.emplace_event<long>();
  heist::task<long> doubled = graph.emplace([](long x) { return (2 * x) % modulus; }, given);
  heist::graph_run run;
};

#if HEIST_COROUTINES
heist::coroutine<long> await_sum(heist::executor<>& ex, handles all) {
  co_await heist::resume_on(ex);
  long sum = 0;
  for (handle const& h : all) sum = (sum + co_await h) % modulus;
  co_return sum;
}
#else
long await_sum(heist::executor<>&, handles const& all) {
  return sum_of(all);
}
#endif

class program {
 public:
  program(unsigned seed, std::size_t size)
      : ex_{1 + seed % 3}, flow_{ex_, {.window = 64}}, random_{seed * 0x9E3779B97F4A7C15u} {
    for (std::size_t i = 0; i != size; ++i) steps_.push_back(std::make_unique<step>());
    for (int i = 0; i != 3; ++i) data_.push_back(std::make_unique<heist::datum<long>>(flow_, 0L));
  }

  void run() {
    heist_test::watchdog guard{"programs", 200s, [this] { return ex_.state_text(); }};
    for (std::size_t i = 0; i != steps_.size(); ++i) {
      take(i);
      if (random(8) == 0) kept_[random(kept_.size())] = {};  // dropped: its task runs all the same
      if (random(8) == 0) steps_[random(i + 1)]->source.request_stop();
    }
    flow_.wait();
    try {
      ex_.wait_idle();
    } catch (std::exception const&) {  // of a handle that was dropped
    }
  }

  /// In the order of the program.
  void check() {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i != steps_.size(); ++i) wrong += !is_right(*steps_[i], i);
    CHECK(wrong == 0);
    for (std::size_t i = 0; i != kept_.size(); ++i) {
      if (!kept_[i].valid()) continue;
      step const& s = *steps_[i];
      if (s.ended == fate::returned) {
        CHECK(kept_[i].get() == s.value);
      } else {
        CHECK_THROWS_AS(kept_[i].get(), std::exception);
      }
    }
    for (std::size_t d = 0; d != data_.size(); ++d) {
      long expected = 0;
      for (auto const& [datum, before] : uses_) {
        if (datum == d) expected = (expected * 31 + outcome(before)) % modulus;
      }
      CHECK(data_[d]->value() == expected);
    }
  }

 private:
  std::size_t random(std::size_t n) {
    random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
    return static_cast<std::size_t>(random_ % n);
  }

  void take(std::size_t i) {
    step& s = *steps_[i];
    s.throws = random(40) == 0;
    handles from;
    for (std::size_t k = kept_.empty() ? 0 : random(4); k != 0; --k) {
      std::size_t const j = kept_.size() - 1 - random(kept_.size() < 30 ? kept_.size() : 30);
      if (!kept_[j].valid()) continue;
      s.before.push_back(j);
      from.push_back(kept_[j]);
    }
    if (random(5) == 0) use_datum(s.before, from);
    kept_.push_back(start(s, i, from));
  }

  handle start(step& s, std::size_t i, handles const& from) {
    auto const with_values = [&s, i](heist::values<long> all) {
      long sum = 0;
      for (long v : all) sum = (sum + v) % modulus;
      return s.run(i, sum);
    };
    switch (random(6)) {
      case 0:
        s.stop = random(2) == 0 ? stops::before : stops::meanwhile;
        if (s.stop == stops::before) s.source.request_stop();
        return ex_.submit(heist::after(from), heist::with{.stop = s.source.get_token()}, with_values).share();
      case 1:
        if (from.empty()) return ex_.submit([&s, i] { return s.run(i, 0); }).share();
        if (from.size() == 1) return from[0].then([&s, i](long v) { return s.run(i, v); }).share();
        return heist::when_all(from)
            .then([&s, i](std::vector<long> const& all) {
              long sum = 0;
              for (long v : all) sum = (sum + v) % modulus;
              return s.run(i, sum);
            })
            .share();
      case 2:
        return by_graph(s, i, from);
      case 3:
#if HEIST_COROUTINES
        return ex_.submit([this, &s, i, from] { return s.run(i, heist::sync_wait(await_sum(ex_, from))); }).share();
#else
        return ex_.submit([this, &s, i, from] { return s.run(i, await_sum(ex_, from)); }).share();
#endif
      case 4:
        return ex_.submit([&s, i, from](auto ctx) { return s.run(i, ctx.submit([&] { return sum_of(from); }).get()); })
            .share();
      default:
        return ex_.submit(heist::after(from), with_values).share();
    }
  }

  handle by_graph(step& s, std::size_t i, handles const& from) {
    auto const g = std::make_shared<through_graph>();
    g->run = ex_.run(g->graph);
    ex_.post([g, from] {
      try {
        g->given.set_value(sum_of(from));
      } catch (...) {
        g->given.set_exception(std::current_exception());
      }
    });
    return ex_
        .submit([&s, i, g] {
          g->run.get();
          return s.run(i, (g->doubled.result() * 500'002) % modulus);  // half of it
        })
        .share();
  }

  void use_datum(std::vector<std::size_t> const& before, handles const& from) {
    std::size_t const d = random(data_.size());
    flow_.task(
        [from](long& v) {
          long sum = 1000;
          try {
            sum = sum_of(from);
          } catch (std::exception const&) {
          }
          v = (v * 31 + sum) % modulus;
        },
        heist::update(*data_[d]));
    uses_.emplace_back(d, before);
  }

  bool all_returned(std::vector<std::size_t> const& before) const {
    for (std::size_t const j : before) {
      if (steps_[j]->ended != fate::returned) return false;
    }
    return true;
  }
  long sum_before(std::vector<std::size_t> const& before) const {
    long sum = 0;
    for (std::size_t const j : before) sum = (sum + steps_[j]->value) % modulus;
    return sum;
  }
  long outcome(std::vector<std::size_t> const& before) const {
    return all_returned(before) ? sum_before(before) : 1000;
  }

  bool is_right(step const& s, std::size_t i) const {
    if (!all_returned(s.before) || s.stop == stops::before) return s.ended == fate::not_called;
    if (s.stop == stops::meanwhile && s.source.stop_requested() && s.ended == fate::not_called) return true;
    if (s.throws) return s.ended == fate::threw;
    return s.ended == fate::returned && s.value == (sum_before(s.before) + static_cast<long>(i)) % modulus;
  }

  heist::executor<> ex_;
  heist::flow flow_;
  std::uint64_t random_;
  std::vector<std::unique_ptr<step>> steps_;
  std::vector<std::unique_ptr<heist::datum<long>>> data_;
  handles kept_;
  std::vector<std::pair<std::size_t, std::vector<std::size_t>>> uses_;
};

}  // namespace

TEST_CASE("random programs of futures, events, flows and coroutines do what they do in order", "[dynamic]") {
  for (unsigned seed = 1; seed <= (heist_test::slow ? 6u : 18u); ++seed) {
    INFO("seed " << seed);
    program p{seed, 600};
    p.run();
    p.check();
  }
}
