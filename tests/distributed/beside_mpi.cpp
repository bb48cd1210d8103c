// Tests a world in a program that uses MPI itself: which side initializes and finalizes MPI, and what each thread level
// allows.
//   mpirun -n 2 beside_mpi serialized | held | first | refused | single | early
#include "heist/distributed.hpp"
//
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "heist/executor.hpp"

namespace {

void check(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "not true: %s\n", what);
  std::abort();
}

/// `size`: of each value, in doubles.
double round_of(heist::world& world, heist::executor<>& ex, int n, std::size_t size = 1) {
  heist::distributed_graph g{world};
  std::vector<heist::placed<std::vector<double>>> parts;
  for (int i = 0; i != n; ++i)
    parts.push_back(g.emplace(heist::on(i % world.size()), [=] { return std::vector<double>(size, i); }));
  auto const sum = g.emplace(
      heist::on(0),
      [](auto const& all) {
        double s = 0;
        for (std::vector<double> const& x : all) s += x.front() + x.back();
        return s / 2;
      },
      heist::each(parts));
  ex.run(g).get();
  return sum.here() ? sum.result() : -1;
}

template <class F>
std::string refusal_of(F f) {
  try {
    f();
  } catch (heist::executor_error const& e) {
    return e.what();
  }
  return {};
}
bool contains(std::string const& text, char const* part) {
  return text.find(part) != std::string::npos;
}

/// `held`: another thread calls MPI all the time, so the engines can seldom send. The program's own call waits for the
/// other rank, which waits for the end of a run from here.
void serialized(int& argc, char**& argv, bool held) {
  int level = 0, size = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    heist::executor ex{2};
    heist::world one{MPI_COMM_WORLD}, other{MPI_COMM_WORLD};  // at once: one call at a time in the process
    std::jthread const holder{[&](std::stop_token const& stop) {
      for (; held && !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::microseconds{20}))
        one.with_mpi([] { std::this_thread::sleep_for(std::chrono::microseconds{200}); });
    }};
    auto const inside = [&](auto f) { return contains(refusal_of([&] { one.with_mpi(f); }), "inside of with_mpi()"); };
    check(inside([&] { other.with_mpi([] {}); }), "refused inside");
    check(inside([] { heist::world third{MPI_COMM_WORLD}; }), "a world is refused inside");
    for (int i = 0; i != 50; ++i) {
      std::size_t const doubles = i % 3 == 0 ? 10'000 : 1;  // large values travel by messages of their own
      if (double const sum = round_of(i % 2 == 0 ? one : other, ex, 8, doubles); one.rank() == 0)
        check(sum == 28, "the sum of 0 to 7");
      double x = 1, y = 0;
      one.with_mpi([&] { MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
      check(y == size, "the program's own sum");
    }
  }
  MPI_Finalize();
}

/// The program is first, and a world of all processes leaves MPI as it is.
void first(int& argc, char**& argv) {
  int level = 0, ended = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  heist::executor ex{1};
  for (int i = 0; i != 3; ++i) {
    heist::world world{argc, argv};
    if (double const sum = round_of(world, ex, 4); world.rank() == 0) check(sum == 6, "the sum of 0 to 3");
  }
  MPI_Finalized(&ended);
  check(ended == 0, "a world does not finalize what the program has initialized");
  MPI_Finalize();
}

/// Before MPI begins, and after a world has ended it.
void refused(int& argc, char**& argv) {
  check(contains(refusal_of([] { heist::world world{MPI_COMM_WORLD}; }), "before MPI is initialized"),
        "refused before");
  { heist::world world{argc, argv}; }
  int ended = 0;
  MPI_Finalized(&ended);
  check(ended != 0, "a world finalizes what it has initialized");
  check(contains(refusal_of([&] { heist::world world{argc, argv}; }), "after MPI_Finalize"), "refused after");
}

/// One rank ends its world while the other one begins a run that needs it.
void early(int& argc, char**& argv) {
  heist::world world{argc, argv, {.silence = 0}};
  heist::executor ex{1};
  heist::distributed_graph g{world};
  auto x = g.emplace(heist::on(0), [] { return 1; });
  g.emplace(
      heist::on(1), [](int) {}, x);
  ex.run(g).get();
  if (world.rank() == 0) ex.run(g).get();
}

void single(int& argc, char**& argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
  if (level < MPI_THREAD_SERIALIZED)
    check(contains(refusal_of([] { heist::world world{MPI_COMM_WORLD}; }), "for calls of one thread"), "refused");
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view const which = argc > 1 ? argv[1] : "";
  which == "serialized" ? serialized(argc, argv, false)
  : which == "held"     ? serialized(argc, argv, true)
  : which == "first"    ? first(argc, argv)
  : which == "early"    ? early(argc, argv)
  : which == "refused"  ? refused(argc, argv)
                        : single(argc, argv);
}
