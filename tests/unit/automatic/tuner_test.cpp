// Tests the tuner without an executor: each test passes times to it. The tests check the policy that the tuner finds
// and the cost of the search. They also check the tuner's behaviour when times are noisy, change, or are wrong.
#include "heist/locality/automatic/tuner.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "support/catch.hpp"
#include "support/random_graph.hpp"

using heist::detail::estimate_of;
using heist::detail::tuner;
using random_engine = heist_test::random_engine;

namespace {

/// In [0, 1).
double part(random_engine& r) {
  return static_cast<double>(r() >> 11) / 9007199254740992.0;
}

/// A program whose runs take made-up times.
struct program {
  tuner choice;
  std::function<double(std::size_t way, std::size_t run)> time;
  double total = 0, of_random = 0;
  std::vector<std::size_t> done;

  program(std::vector<std::size_t> learning, std::function<double(std::size_t, std::size_t)> t)
      : choice{std::move(learning)}, time{std::move(t)} {}
  program& run(std::size_t runs) {
    for (std::size_t i = 0; i != runs; ++i) {
      std::size_t const way = choice.next(), nth = done.size();
      double const t = time(way, nth);
      done.push_back(way);
      total += t;
      of_random += time(0, nth);
      choice.ran(way, t);
    }
    return *this;
  }
};

/// Times that depend on the way alone.
auto steady(std::vector<double> times) {
  return [times = std::move(times)](std::size_t way, std::size_t) { return times[way]; };
}

std::vector<std::size_t> const eight = {1, 2, 2, 2, 2, 2, 2, 2};

}  // namespace

TEST_CASE("the usual time is a median, and its noise the median distance, at least a hundredth", "[chooser]") {
  CHECK(estimate_of({}).median == 0);
  CHECK(estimate_of({3, 1, 2}).median == 2);
  CHECK(estimate_of({3, 1, 2}).noise == 1);
  CHECK(estimate_of({4, 1, 2, 3}).median == 2.5);
  CHECK(estimate_of({100, 100, 100}).noise == 1);
}

TEST_CASE("the fastest way is found within a hundred runs, wherever it stands", "[chooser]") {
  for (std::size_t fast = 0; fast != eight.size(); ++fast) {
    std::vector<double> times(eight.size(), 100.0);
    times[fast] = 80;
    program p{eight, steady(times)};
    p.run(100);
    CAPTURE(fast);
    CHECK(p.choice.best() == fast);
    p.run(900);
    CHECK(p.choice.converged());
    CHECK(p.choice.best() == fast);
    CHECK(p.choice.looks() == 1);
    CHECK(p.done.back() == fast);
  }
}

TEST_CASE("of several that are faster the fastest is kept", "[chooser]") {
  program p{eight, steady({100, 90, 95, 60, 70, 99, 61, 98})};
  p.run(120);
  CHECK(p.choice.best() == 3);
  p.run(100);
  CHECK(p.choice.converged());
  CHECK(p.choice.best() == 3);
  CHECK(p.choice.time_of(3) / p.choice.time_of(0) == Approx(0.6));
}

TEST_CASE("ties and gains within the noise leave it as it is", "[chooser]") {
  program same{eight, steady(std::vector<double>(eight.size(), 100.0))};
  CHECK(same.run(300).choice.best() == 0);
  program hardly{eight, steady({100, 99.5, 99.2, 99.9, 100, 99.1, 99.6, 99.3})};
  CHECK(hardly.run(300).choice.best() == 0);
}

TEST_CASE("what cannot win is given up at its first measured run", "[chooser]") {
  program p{{1, 2}, steady({100, 160})};
  p.run(200);
  std::size_t tried = 0;
  for (std::size_t const way : p.done) tried += way == 1;
  CHECK(tried == 3);  // two to learn, one measured
  CHECK(p.choice.converged());
}

TEST_CASE("a thousand runs never take more than 3 % above random's", "[chooser]") {
  for (double const slow : {1.0, 1.02, 1.1, 1.49, 1.6, 2.0, 3.0, 5.0, 6.0}) {
    std::vector<double> times(eight.size(), 100 * slow);
    times[0] = 100;
    program p{eight, steady(times)};
    p.run(1000);
    CAPTURE(slow, p.total / p.of_random);
    CHECK(p.total <= 1.03 * p.of_random);
    CHECK(p.choice.best() == 0);
  }
}

TEST_CASE("ways that learn cheaply and then are slow, or the reverse, do not break the bound", "[chooser]") {
  for (int kind = 0; kind != 4; ++kind) {
    std::vector<std::size_t> had(eight.size());
    auto const lie = [&, kind](std::size_t way, std::size_t) -> double {
      if (way == 0) return 100;
      std::size_t const n = had[way]++;
      if (kind == 0) return n < 2 ? 100 : 500;  // slow when measured
      if (kind == 1) return n < 2 ? 500 : 100;  // dear to learn
      if (kind == 2) return n < 5 ? 90 : 149;   // fast at first, then not
      return n % 2 == 0 ? 100 : 140;
    };
    program p{eight, lie};
    double random = 0, total = 0;
    for (int i = 0; i != 1000; ++i) {
      std::size_t const way = p.choice.next();
      double const t = lie(way, 0);
      p.choice.ran(way, t);
      total += t;
      random += 100;
    }
    CAPTURE(kind, total / random);
    CHECK(p.choice.lost() <= 0.02 * p.choice.total() + 5 * 100 + 400);
    if (kind != 2) CHECK(total <= 1.03 * random);
  }
}

TEST_CASE("noise is told from gain", "[chooser]") {
  int wrong = 0;
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    random_engine random{seed};
    // All ways are alike, but for a tenth, and now and then a run is interrupted.
    program p{eight, [&](std::size_t, std::size_t) { return 95 + 10 * part(random) + (part(random) < 0.05 ? 60 : 0); }};
    p.run(300);
    wrong += p.choice.best() != 0;
    worst = std::max(worst, p.choice.lost() / p.choice.total());
  }
  CAPTURE(wrong);
  CHECK(worst < 0.05);  // a run that is interrupted may come last
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    random_engine random{seed};
    program p{eight, [&](std::size_t way, std::size_t) {
                return (way == 4 ? 0.75 : 1.0) * (95 + 10 * part(random) + (part(random) < 0.05 ? 60 : 0));
              }};
    found += p.run(150).choice.best() == 4;
  }
  CHECK(found >= 47);
}

TEST_CASE("a machine that others use as well makes no choice that costs", "[chooser]") {
  double total = 0, of_random = 0, worst = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    random_engine random{seed};
    // Half of the runs are undisturbed, others take up to six times as long; nothing is faster, some are slower.
    auto const time = [&](std::size_t way, std::size_t) {
      double const slower = way == 0 || way % 2 == 1 ? 1.0 : 1.1, x = part(random);
      return 100 * slower * (1 + (x < 0.5 ? 0.1 * x : 5 * (x - 0.5)));
    };
    program p{eight, time};
    p.run(1000);
    total += p.total;
    of_random += p.of_random;
    worst = std::max(worst, p.total / p.of_random);
  }
  CAPTURE(worst);
  CHECK(total <= 1.03 * of_random);
}

TEST_CASE("what disturbs all runs alike does not end the trying", "[chooser]") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    random_engine random{seed};
    // Every tenth run is stopped for as long as eight take; the last way is the fastest.
    program p{eight, [&](std::size_t way, std::size_t) {
                return (way == 7 ? 0.6 : 1.0) * (95 + 10 * part(random)) + (part(random) < 0.1 ? 800 : 0);
              }};
    found += p.run(1000).choice.best() == 7;
  }
  CHECK(found >= 34);
}

TEST_CASE("what was missed by bad luck is found later, although nothing changes", "[chooser]") {
  // Way 1 is slowed down by a neighbour while it is tried first.
  program p{{1, 2}, [&](std::size_t way, std::size_t run) { return way == 0 ? 100.0 : run < 20 ? 110.0 : 80.0; }};
  p.run(20);
  CHECK(p.choice.converged());
  CHECK(p.choice.best() == 0);
  p.run(180);
  CHECK(p.choice.best() == 1);
}

TEST_CASE("one block that was disturbed makes no other way the best", "[chooser]") {
  int wrong = 0;
  for (std::size_t from = 6; from != 60; ++from) {
    // All runs of the best beside a way take three times as long, for as long as a block.
    program p{{1, 1, 1, 1},
              [&](std::size_t, std::size_t run) { return run >= from && run < from + 4 ? 300.0 : 100.0; }};
    wrong += p.run(100).choice.best() != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("what has won by luck is found out", "[chooser]") {
  // Way 1 is faster for a while, then slower than way 0, by less than would be taken for a change.
  program p{{1, 2}, [&](std::size_t way, std::size_t run) { return way == 0 ? 100.0 : run < 30 ? 95.0 : 103.0; }};
  p.run(30);
  CHECK(p.choice.best() == 1);
  p.run(100);
  CHECK(p.choice.best() == 0);
}

TEST_CASE("what was the best for long is still compared, at least every 256 runs", "[chooser]") {
  program p{{1, 2}, [&](std::size_t way, std::size_t run) { return way == 0 ? 100.0 : run < 3000 ? 95.0 : 103.0; }};
  p.run(3000);
  CHECK(p.choice.best() == 1);
  p.run(256 + 50);
  CHECK(p.choice.best() == 0);
}

TEST_CASE("what is claimed of the best was measured beside way 0, in turns", "[chooser]") {
  // From the 100th run on the machine is half as fast: that is no loss of the best.
  program p{{1, 2, 2}, [](std::size_t way, std::size_t run) {
              return (way == 0 ? 100.0 : way == 1 ? 90.0 : 80.0) * (run < 100 ? 1 : 2);
            }};
  CHECK(p.choice.comparison_with_first().ratio == 0);
  p.run(1000);
  CHECK(p.choice.best() == 2);
  auto const [ratio, runs, at] = p.choice.comparison_with_first();
  CHECK(ratio == Approx(0.8));
  CHECK(runs != 0);
  CHECK(at > 1000 - 256 - 50);
}

TEST_CASE("a slow drift hits all alike", "[chooser]") {
  for (double const drift : {0.003, -0.002}) {
    std::vector<double> times(eight.size(), 100.0);
    times[5] = 70;
    program p{eight, [&](std::size_t way, std::size_t run) { return times[way] * std::exp(drift * double(run)); }};
    p.run(150);
    CAPTURE(drift);
    CHECK(p.choice.best() == 5);
  }
}

TEST_CASE("when times change for good it looks again, and finds what is better now", "[chooser]") {
  auto const change = [](std::size_t way, std::size_t run) {
    if (run < 300) return way == 1 ? 70.0 : 100.0;
    return way == 1 ? 150.0 : way == 4 ? 90.0 : 110.0;
  };
  program p{eight, change};
  p.run(300);
  CHECK(p.choice.best() == 1);
  p.run(1000);
  CHECK(p.choice.looks() == 2);
  CHECK(p.choice.best() == 4);
}

TEST_CASE("data that grow and shrink do not make it thrash", "[chooser]") {
  for (std::size_t const period : {1u, 7u, 16u, 50u, 64u, 130u}) {
    program p{eight, [period](std::size_t way, std::size_t run) {
                double const size = (run / period) % 2 == 0 ? 100 : 300;
                return way == 0 ? size : 1.1 * size;
              }};
    p.run(1000);
    CAPTURE(period, p.choice.looks(), p.total / p.of_random);
    CHECK(p.choice.looks() <= 5);  // after 64, 128, 256, 512 runs at the earliest
    CHECK(p.total <= 1.06 * p.of_random);
  }
}

TEST_CASE("runs that fail are not told, and the same is done again", "[chooser]") {
  tuner c{{1, 2}};
  for (int i = 0; i != 10; ++i) CHECK(c.next() == 0);
  CHECK(c.runs() == 0);
}

TEST_CASE("what is not possible is left out, whenever that is known", "[chooser]") {
  for (std::size_t after = 0; after != 60; ++after) {
    program p{eight, steady({100, 60, 100, 100, 100, 100, 100, 80})};
    p.run(after);
    p.choice.rule_out(1);
    CHECK(p.choice.best() != 1);
    p.run(200);
    CAPTURE(after);
    CHECK(p.choice.converged());
    CHECK(p.choice.ruled_out(1));
    CHECK(p.choice.best() == 7);
  }
  tuner only{{1}};
  only.rule_out(0);
  CHECK_FALSE(only.ruled_out(0));
  CHECK(only.converged());
  CHECK(only.next() == 0);
}

TEST_CASE("what has forgotten learns anew before it is measured", "[chooser]") {
  program p{{1, 2}, steady({100, 70})};
  while (p.choice.next() == 0) p.run(1);
  p.run(2);  // it has learnt
  p.choice.learns_again(1);
  p.run(2);
  CHECK(p.choice.time_of(1) == 0);
  p.run(1);
  CHECK(p.choice.time_of(1) == 70);
}

TEST_CASE("long runs are tried only where they cannot lose more than is allowed", "[chooser]") {
  tuner c{{1, 1}};
  for (int i = 0; i != 6; ++i) c.ran(c.next(), 100);
  CHECK(c.next() == 1);
  CHECK(c.next(1000) == 0);
  for (int i = 0; i != 100; ++i) c.ran(0, 100, 1000);
  CHECK(c.next(1000) == 1);
}

TEST_CASE("a run of several passes that learns is not what a way is judged by", "[chooser]") {
  tuner c{{1, 2}};
  std::size_t of_tried = 0;
  for (int i = 0; i != 400; ++i) {
    std::size_t const way = c.next(10);
    c.ran(way, way == 0 ? 100 : of_tried++ == 0 ? 400 : 70, 10);
  }
  CHECK(c.best() == 1);
}

TEST_CASE("what a way's first run takes besides is counted once", "[chooser]") {
  tuner c{{1, 2}};
  c.starts_with(1, 1000);
  std::size_t runs = 0;
  while (c.next(100) == 0 && runs < 10000) c.ran(0, 100, 100), ++runs;
  CHECK(runs < 120);  // 2 % of 10 000 a run pay for 200 passes of 100, and for 1000
}

TEST_CASE("a change is acted on soon also after a long time without one", "[chooser]") {
  program p{{1, 2}, [](std::size_t way, std::size_t run) {
              return run < 5000 ? 100.0 + 10.0 * double(way) : way == 0 ? 300.0 : 100.0;
            }};
  p.run(5000);
  CHECK(p.choice.best() == 0);
  p.run(300);
  CHECK(p.choice.best() == 1);
}
