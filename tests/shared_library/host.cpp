// A program that uses heist, or not, and a shared library that does: host LIBRARY CASE.
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "heist/executor.hpp"

namespace {

void* library = nullptr;

template <class Function>
Function* entry(char const* name) {
  auto* const found = reinterpret_cast<Function*>(::dlsym(library, name));
  if (found == nullptr) {
    std::printf("%s\n", ::dlerror());
    std::_Exit(2);
  }
  return found;
}

/// Calls the library's function in tasks of this program's executor, also in several at a time.
template <class Result>
bool in_tasks(char const* name, Result expected) {
  auto* const f = entry<Result(void*)>(name);
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<> ex{workers};
    std::atomic<int> right{0};
    for (int i = 0; i < 20; ++i) ex.post([&] { right += f(&ex) == expected; });
    ex.wait_idle();
    std::printf("%s: %zu workers, %d of 20 right\n", name, workers, right.load());
    if (right != 20) return false;
  }
  return true;
}

sigjmp_buf back;

bool readable(int volatile* p) {
  if (sigsetjmp(back, 1) != 0) return false;
  static_cast<void>(*p);
  return true;
}

/// The program has a handler of its own, with which it asks; the library's stands before it and stays when it goes.
bool after_unloading() {
  struct sigaction action {};
  action.sa_handler = [](int) { ::siglongjmp(back, 1); };
  ::sigaction(SIGSEGV, &action, nullptr);
  auto* const bad = static_cast<int*>(::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  bool right = !readable(bad) && entry<int()>("work")() == 42 && !readable(bad);
  ::dlclose(library);
  return right && !readable(bad);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::thread{[] {  // the test is about hangs
    std::this_thread::sleep_for(std::chrono::seconds{30});
    std::puts("hangs");
    std::fflush(stdout);
    std::_Exit(3);
  }}
      .detach();
  library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", ::dlerror());
    return 2;
  }
  std::string const what = arguments[2];
  bool right = false;
  if (what == "wait") right = in_tasks("wait_in_task", 7);
  if (what == "fork") right = in_tasks("fork_in_task", 610L);
  if (what == "idle") {
    heist::executor<> ex{std::size_t{2}};
    right = entry<int(void*)>("wait_until_idle")(&ex) == 7;
  }
  if (what == "unload") right = after_unloading();
  std::puts(right ? "right" : "wrong");
  std::fflush(stdout);
  std::_Exit(right ? 0 : 1);
}
