// heist: futures with their predecessors, flows, pipelines, coroutines.
#include <heist/async.hpp>
#include <heist/coroutine.hpp>
#include <heist/flow.hpp>
#include <heist/pipeline.hpp>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "workloads.hpp"

namespace {

using bench::row;
using bench::sizes;
using ctx_t = heist::context;

void chain(ctx_t ctx, bench::numbered& all) {
  heist::future<void> last = ctx.submit([&all] { all.run(0); });
  for (std::uint32_t i = 1; i != all.tasks.size(); ++i)
    last = ctx.submit(heist::after(std::move(last)), [&all, i] { all.run(i); });
}

void random(ctx_t ctx, bench::numbered& all) {
  std::vector<heist::shared_future<void>> last(64);
  last[0] = ctx.submit([&all] { all.run(0); }).share();
  for (std::uint32_t i = 1; i != all.tasks.size(); ++i) {
    auto const one = [&](std::size_t k) -> auto const& {
      return last[all.tasks.first(i)[k] % 64];
    };
    auto f = [&all, i] { all.run(i); };
    std::size_t const n = all.tasks.count(i);
    last[i % 64] = n == 1   ? ctx.submit(heist::after(one(0)), f)
                   : n == 2 ? ctx.submit(heist::after(one(0), one(1)), f)
                            : ctx.submit(heist::after(one(0), one(1), one(2)), f);
  }
}

double tree(ctx_t ctx, sizes const& s) {
  std::vector<heist::future<std::uint32_t>> all;
  all.reserve(2 * s.tasks);
  for (std::size_t i = 0; i != s.tasks; ++i) all.push_back(ctx.submit([] { return 1u; }));
  for (std::size_t i = 0; i + 1 != s.tasks; ++i) {
    all.push_back(ctx.submit(heist::after(std::move(all[2 * i]), std::move(all[2 * i + 1])),
                             [](std::uint32_t a, std::uint32_t b) { return a + b; }));
  }
  return all.back().get();
}

heist::future<std::uint32_t> fib(ctx_t ctx, std::uint32_t n) {
  if (n < 2) return ctx.submit([n] { return n; });
  auto a = fib(ctx, n - 1);
  auto b = fib(ctx, n - 2);
  return ctx.submit(heist::after(std::move(a), std::move(b)), [](std::uint32_t x, std::uint32_t y) { return x + y; });
}

/// Each datum of a flow is a pointer to data that is stored elsewhere.
using tile = std::vector<double>*;
using data = std::vector<std::unique_ptr<heist::datum<tile>>>;
data data_of(heist::flow& f, std::vector<std::vector<double>>& all) {
  data made;
  for (auto& one : all) made.push_back(std::make_unique<heist::datum<tile>>(f, &one));
  return made;
}

template <class Executor>
void cholesky(Executor& ex, bench::numbered& all, sizes const& s) {
  heist::flow f{ex};
  data const at = data_of(f, all.matrix.of);
  auto const of = [&](std::size_t i, std::size_t j) -> auto& {
    return *at[i * s.tiles + j];
  };
  std::size_t const n = s.tile;
  bench::cholesky_program(
      s.tiles, [&](std::size_t k) { f.task([n](tile x) { bench::potrf(*x, n); }, heist::update(of(k, k))); },
      [&](std::size_t i, std::size_t k) {
        f.task([n](tile x, tile y) { bench::trsm(*x, *y, n); }, heist::read(of(k, k)), heist::update(of(i, k)));
      },
      [&](std::size_t i, std::size_t j, std::size_t k) {
        if (i == j) {
          f.task([n](tile x, tile z) { bench::gemm(*x, *x, *z, n); }, heist::read(of(i, k)), heist::update(of(i, i)));
        } else {
          f.task([n](tile x, tile y, tile z) { bench::gemm(*x, *y, *z, n); }, heist::read(of(i, k)),
                 heist::read(of(j, k)), heist::update(of(i, j)));
        }
      });
  f.wait();
}

template <class Executor>
void heat(Executor& ex, bench::numbered& all, sizes const& s) {
  heist::flow f{ex};
  std::array<data, 2> const at{data_of(f, all.row_blocks.of[0]), data_of(f, all.row_blocks.of[1])};
  for (std::size_t t = 1; t <= s.steps; ++t) {
    auto& from = at[(t + 1) % 2];
    auto& to = at[t % 2];
    for (std::size_t i = 0; i != s.row_blocks; ++i) {
      if (i == 0) {
        f.task([](tile m, tile right, tile o) { bench::heat_step(nullptr, *m, right, *o); }, heist::read(*from[i]),
               heist::read(*from[i + 1]), heist::update(*to[i]));
      } else if (i + 1 == s.row_blocks) {
        f.task([](tile left, tile m, tile o) { bench::heat_step(left, *m, nullptr, *o); }, heist::read(*from[i - 1]),
               heist::read(*from[i]), heist::update(*to[i]));
      } else {
        f.task([](tile left, tile m, tile right, tile o) { bench::heat_step(left, *m, right, *o); },
               heist::read(*from[i - 1]), heist::read(*from[i]), heist::read(*from[i + 1]), heist::update(*to[i]));
      }
    }
  }
  f.wait();
}

template <class Executor>
double empty(Executor& ex, sizes const& s) {
  heist::flow f{ex};
  std::vector<std::unique_ptr<heist::datum<std::uint32_t>>> at;
  for (std::size_t i = 0; i != sizes::chains; ++i) at.push_back(std::make_unique<heist::datum<std::uint32_t>>(f, 0u));
  for (std::size_t i = 0; i != s.empty; ++i)
    f.task([](std::uint32_t& n) { ++n; }, heist::update(*at[i % sizes::chains]));
  f.wait();
  double sum = 0;
  for (auto& d : at) sum += d->value();
  return sum;
}

template <bool Serial>
auto middle() {
  auto const f = [](std::uint64_t x) { return bench::stage_work(x); };
  if constexpr (Serial) {
    return heist::serial_stage(f);
  } else {
    return heist::parallel_stage(f);
  }
}

template <bool Serial, std::size_t... I>
double pipe(heist::executor<>& ex, sizes const& s, std::index_sequence<I...>) {
  std::uint64_t next = 0, sum = 0;
  heist::pipeline p{sizes::lines, heist::serial_stage([&](heist::token& t) {
                      if (next == s.tokens) t.stop();
                      return next++;
                    }),
                    (static_cast<void>(I), middle<Serial>())...,
                    heist::serial_stage([&sum](std::uint64_t x) { sum += x % 1024; })};
  ex.run(p).get();
  return static_cast<double>(sum);
}

heist::coroutine<std::size_t> one(std::size_t i) {
  co_return i;
}
heist::coroutine<std::size_t> called(heist::executor<>& ex, std::size_t n) {
  co_await heist::resume_on(ex);
  std::size_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) sum += co_await one(i);
  co_return sum;
}
heist::coroutine<std::size_t> spawned(heist::executor<>& ex, std::size_t n) {
  co_await heist::resume_on(ex);
  std::size_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) sum += co_await ex.submit([i] { return i; });
  co_return sum;
}
heist::coroutine<long> fib_of(long n) {
  if (n < 2) co_return n;
  long const a = co_await fib_of(n - 1);
  co_return a + co_await fib_of(n - 2);
}
heist::coroutine<long> fib_there(heist::executor<>& ex, long n) {
  co_await heist::resume_on(ex);
  co_return co_await fib_of(n);
}

heist::coroutine<std::size_t> pairs(heist::executor<>& ex, std::size_t n) {
  co_await heist::resume_on(ex);
  std::size_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) {
    auto const [a, b] = co_await heist::when_all(one(i), one(i));
    sum += a + b;
  }
  co_return sum;
}
heist::coroutine<long> fib_of_pairs(long n) {
  if (n < 2) co_return n;
  auto const [a, b] = co_await heist::when_all(fib_of_pairs(n - 1), fib_of_pairs(n - 2));
  co_return a + b;
}
heist::coroutine<long> fib_of_pairs_there(heist::executor<>& ex, long n) {
  co_await heist::resume_on(ex);
  co_return co_await fib_of_pairs(n);
}

struct heist_runner final : bench::runner {
  explicit heist_runner(std::size_t workers) : ex{workers} {}
  bool has(row) const override { return true; }

  double run(row which, sizes const& s) override {
    auto const pipeline = [&]<bool Serial>(auto stages) { return pipe<Serial>(ex, s, stages); };
    if (auto const sum = bench::pipeline_of(which, pipeline)) return *sum;
    switch (which) {
      case row::coroutine_called:
        return static_cast<double>(heist::sync_wait(called(ex, s.awaits)));
      case row::coroutine_spawned:
        return static_cast<double>(heist::sync_wait(spawned(ex, s.awaits)));
      case row::coroutine_fib:
        return static_cast<double>(heist::sync_wait(fib_there(ex, s.fib_called)));
      case row::coroutine_pairs:
        return static_cast<double>(heist::sync_wait(pairs(ex, s.awaits)));
      case row::coroutine_fib_pairs:
        return static_cast<double>(heist::sync_wait(fib_of_pairs_there(ex, s.fib_called)));
      case row::chain:
      case row::random:
        ex.post([&](ctx_t ctx) { which == row::chain ? chain(ctx, *all) : random(ctx, *all); });
        ex.wait_idle();
        return all->result();
      default:
        return ex.invoke([&](ctx_t ctx) { return run_inside(ctx, which, s); });
    }
  }

  double run_inside(ctx_t ctx, row which, sizes const& s) {
    switch (which) {
      case row::cholesky:
        cholesky(ex, *all, s);
        return all->result();
      case row::heat:
        heat(ex, *all, s);
        return all->result();
      case row::empty:
        return empty(ex, s);
      case row::tree:
        return tree(ctx, s);
      default:
        return fib(ctx, static_cast<std::uint32_t>(s.fib)).get();
    }
  }

  heist::executor<> ex;
};

}  // namespace

std::unique_ptr<bench::runner> make_heist(std::size_t workers) {
  return std::make_unique<heist_runner>(workers);
}
