// Bugs that AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer must report in tasks, and their clean twins.
#include <sanitizer/lsan_interface.h>

#include <array>
#include <atomic>
#include <climits>  // INT_MAX
#include <cstdint>
#include <cstdlib>  // abort
#include <string>

#include "sanitizers/planted.hpp"

namespace {

using heist_test::move_remote;
using planted::child_first;
using planted::context;
using planted::fork_and_be_stolen;
using planted::hidden;

void heap_after_a_steal(context ctx, bool bug) {
  int* const p = new int{1};
  fork_and_be_stolen(
      ctx, [] {}, [&] { delete p; });
  if (bug) *hidden(p) = 2;
}

void heap_after_a_park(context ctx, bool bug) {
  int* const p = new int{1};
  if (bug) delete hidden(p);
  move_remote(ctx);
  *hidden(p) = 2;
  if (!bug) delete p;
}

void beyond_a_local(context ctx, bool bug) {
  std::array<char, 16> local{};
  move_remote(ctx);
  fork_and_be_stolen(
      ctx, [] {}, [&] { hidden(local.data())[bug ? 16 : 15] = 1; });
}

/// Volatile, so that no compiler proves the bug away.
char* volatile escaped = nullptr;
/// Apart: Clang leaves the frames of functions with assembly on the stack, whatever detect_stack_use_after_return says.
HEIST_NOINLINE void let_escape(char* p) {
  escaped = hidden(p);
}
HEIST_NOINLINE void let_a_local_escape() {
  std::array<char, 512> local{};
  let_escape(local.data());
}

/// The frame was on the stack of a child that has ended; no other child has been there since.
void frame_of_a_child(context ctx, bool bug) {
  char mine = 0;
  planted::fork_alone(ctx, &let_a_local_escape, [&mine, bug] {
    if (!bug) escaped = &mine;
    *escaped = 1;
  });
}

HEIST_NOINLINE void lose_memory() {
  char* volatile p = new char[1000];
  *p = 1;
}
HEIST_NOINLINE void lose_nothing() {
  char* volatile p = new char[1000];
  *p = 1;
  delete[] p;
}

/// The address of the memory remains only on the stack of a child that has ended.
void leak_in_a_child(child_first& ex, bool bug) {
  ex.invoke([bug](context ctx) {
    planted::fork_alone(
        ctx, [bug] { bug ? lose_memory() : lose_nothing(); }, [] {});
  });
  __lsan_do_leak_check();
}

/// The address of the memory remains only on the stack of a task that waits.
HEIST_NOINLINE void hold_memory(context ctx, std::atomic<bool>& held, std::atomic<bool> const& over) {
  char* const p = hidden(new char[1000]);
  ctx.submit([&] {
       held = true;
       heist_test::wait_until(over);
     })
      .wait();
  delete[] hidden(p);
}
void memory_of_a_waiting_task(child_first& ex, bool bug) {
  std::atomic<bool> held{false}, over{false};
  auto const holds = ex.submit([&](context ctx) { hold_memory(ctx, held, over); });
  heist_test::wait_until(held);
  ex.invoke([] {});  // by the worker that does not hold `over`: it has left the task that waits
  if (bug) lose_memory();
  __lsan_do_leak_check();
  over = true;
  holds.wait();
}

void exceptions_through_forks(context ctx, bool bug) {
  for (int const who : {1, 2, 3}) {
    std::string const* said = nullptr;
    std::string copy;
    struct thrown {
      std::string text;
    };
    try {
      fork_and_be_stolen(
          ctx,
          [who] {
            if ((who & 1) != 0) throw thrown{"a text that does not fit into the string object itself: child"};
          },
          [who] {
            if ((who & 2) != 0) throw thrown{"a text that does not fit into the string object itself: rest"};
          });
    } catch (thrown const& e) {
      move_remote(ctx);
      said = &e.text;
      copy = e.text;
      if (!bug) said = &copy;
    }
    if (hidden(said)->size() != copy.size()) std::abort();
  }
}

void signed_overflow(context ctx, bool bug) {
  int volatile n = bug ? INT_MAX : INT_MAX - 1;
  fork_and_be_stolen(
      ctx, [] {}, [&n] { n = n + 1; });
}

void misaligned_load(context ctx, bool bug) {
  std::array<std::uint64_t, 2> memory{};
  char const* const at = hidden(reinterpret_cast<char const*>(memory.data())) + (bug ? 1 : 8);
  move_remote(ctx);
  std::uint64_t volatile read = *reinterpret_cast<std::uint64_t const*>(at);
  static_cast<void>(read);
}

}  // namespace

int main(int argc, char** argv) {
  return planted::choose(argc, argv,
                         {{"heap_after_a_steal", &heap_after_a_steal},
                          {"heap_after_a_park", &heap_after_a_park},
                          {"beyond_a_local", &beyond_a_local},
                          {"frame_of_a_child", &frame_of_a_child},
                          {"leak_in_a_child", nullptr, &leak_in_a_child},
                          {"memory_of_a_waiting_task", nullptr, &memory_of_a_waiting_task},
                          {"exceptions_through_forks", &exceptions_through_forks},
                          {"signed_overflow", &signed_overflow},
                          {"misaligned_load", &misaligned_load}});
}
