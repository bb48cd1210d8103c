#include "crash_report.hpp"

#include <signal.h>
#include <sys/time.h>  // setitimer
#include <unistd.h>    // write, _exit

#include <cstddef>  // size_t
#include <cstring>  // strlen

/// The function of the sanitizers' runtime, in builds that have it.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace fuzz {
namespace {

/// Allocates nothing.
class line {
 public:
  void add(std::string_view text) noexcept {
    for (char const c : text)
      if (size_ < sizeof text_) text_[size_++] = c;
  }
  void add(std::uint64_t n) noexcept {
    char digits[20];
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + n % 10);
    while ((n /= 10) != 0);
    while (count > 0) add({&digits[--count], 1});
  }
  void print() const noexcept { static_cast<void>(!::write(STDOUT_FILENO, text_, size_)); }

 private:
  char text_[2048];
  std::size_t size_ = 0;
};

constexpr std::uint64_t ticks_allowed = 4;
volatile std::uint64_t ticks = 0;
volatile std::uint64_t last_number = ~std::uint64_t{0};

void on_signal(int signal) {
  print_found("crash: signal", signal);
  ::_exit(found_exit_code);
}
void on_death() {
  print_found("crash: the sanitizer ends the program");
}
void on_tick(int) {
  if (now.number != last_number) {
    last_number = now.number;
    ticks = 0;
  }
  ticks = ticks + 1;
  if (ticks <= ticks_allowed) return;
  print_found("the reader does not end");
  ::_exit(found_exit_code);
}

void handle(int signal, void (*handler)(int)) noexcept {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void print_found(std::string_view text, int number) noexcept {
  line l;
  l.add("readers  FOUND  target ");
  l.add(now.target);
  l.add("  input ");
  l.add(now.number);
  l.add(": ");
  l.add(text);
  if (number >= 0) {
    l.add(" ");
    l.add(static_cast<std::uint64_t>(number));
  }
  l.add("\n  again: --target ");
  l.add(now.target);
  l.add(" --seed ");
  l.add(now.seed);
  l.add(" --only ");
  l.add(now.number);
  l.add(" [--write FILE]\n");
  l.print();
}

void report_crashes(double seconds) {
  static char stack[64 * 1024];
  stack_t const alternate{stack, 0, sizeof stack};
  ::sigaltstack(&alternate, nullptr);
  handle(SIGABRT, on_signal);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(on_death);  // it sees the other signals, and says more of them
  } else {
    for (int const signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) handle(signal, on_signal);
  }
  handle(SIGPROF, on_tick);
  auto const microseconds = static_cast<long>(seconds * 1e6 / ticks_allowed);
  timeval const interval{microseconds / 1000000, microseconds % 1000000};
  itimerval const timer{interval, interval};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace fuzz
