// Tests where sleepers wake: what counts as too late, and that a thread gets its processors back.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>

#include "heist/core/base/wake_place.hpp"
#include "support/catch.hpp"

namespace {

cpu_set_t processors_of(pthread_t thread) {
  cpu_set_t set;
  REQUIRE(pthread_getaffinity_np(thread, sizeof set, &set) == 0);
  return set;
}

/// The calling thread stays where it is.
struct stays_here {
  stays_here() : before{processors_of(pthread_self())} {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &here);
    REQUIRE(pthread_setaffinity_np(pthread_self(), sizeof here, &here) == 0);
  }
  stays_here(stays_here const&) = delete;
  stays_here& operator=(stays_here const&) = delete;
  ~stays_here() { pthread_setaffinity_np(pthread_self(), sizeof before, &before); }
  cpu_set_t const before;
};

}  // namespace

TEST_CASE("sleeper_place: who wakes late on the processor of its waker notices it", "[base]") {
  heist::detail::sleeper_place place;
  auto const sleeps = [&](std::int64_t late) {
    place.before_sleep(gettid());
    place.wakes(5, false);
    return place.after_sleep(5 + late);
  };
  CHECK_FALSE(sleeps(1000));  // in time
  place.before_sleep(gettid());
  CHECK_FALSE(place.after_sleep(1'000'000'000));  // nobody has woken it
  stays_here const here;
  CHECK_FALSE(sleeps(1'000'000'000));  // it may not be elsewhere
  pthread_setaffinity_np(pthread_self(), sizeof here.before, &here.before);
  if (CPU_COUNT(&here.before) == 1) return;
  while (!sleeps(1'000'000'000)) std::this_thread::yield();  // the kernel may move this thread meanwhile
}

TEST_CASE("sleeper_place: a sleeper is kept off the waker's processor, and has it back", "[base]") {
  stays_here const here;
  heist::detail::sleeper_place place;
  std::atomic<bool> sleeps{false}, wakes{false}, ends{false}, awake{false};
  std::thread sleeper{[&] {
    pthread_setaffinity_np(pthread_self(), sizeof here.before, &here.before);
    place.before_sleep(gettid());
    sleeps = true;
    while (!wakes) std::this_thread::yield();
    errno = 7;
    place.after_sleep(5);
    CHECK(errno == 7);
    awake = true;
    while (!ends) std::this_thread::yield();
  }};
  while (!sleeps) std::this_thread::yield();
  pthread_t const thread = sleeper.native_handle();
  place.wakes(5, true);
  cpu_set_t const now = processors_of(thread);
  if (CPU_COUNT(&here.before) > 1) {
    CHECK_FALSE(CPU_ISSET(static_cast<std::size_t>(sched_getcpu()), &now));
    CHECK(CPU_COUNT(&now) == CPU_COUNT(&here.before) - 1);
  } else {
    CHECK(CPU_EQUAL(&now, &here.before));  // it has no other one
  }
  wakes = true;
  while (!awake) std::this_thread::yield();
  cpu_set_t const after = processors_of(thread);
  CHECK(CPU_EQUAL(&after, &here.before));
  ends = true;
  sleeper.join();
  errno = 7;
  place.wakes(5, true);  // it has ended: nothing happens
  CHECK(errno == 7);
}
