// Random programs on all policies, judged by support/program_judge.hpp. How it is used: fuzz/README.md.
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // alarm, fork, write

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>
#include <string>

#include "fuzz/differential/runner.hpp"
#include "heist/core/base/config.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

namespace {

using namespace heist_fuzz;
using heist_test::any_of;
using heist_test::decision;
using heist_test::fault;
using steady = std::chrono::steady_clock;

using heist_test::slow;
constexpr std::uint32_t cases_per_executor = 64;

/// The case that runs now, for the code that reports a hang or a crash.
std::atomic<std::uint64_t> seed_now{0};
std::atomic<std::uint32_t> policy_now{0}, workers_now{1}, machine_now{0};

setting setting_now() {
  return {all_subjects()[policy_now.load()].name, workers_now.load(), machine_now.load()};
}
std::string case_now() {
  setting const where = setting_now();
  return to_text(generate(seed_now.load(), where, type_named(where.policy).can, slow));
}

/// Async-signal-safe: numbers by hand.
extern "C" void say_where(int signal) {
  if (seed_now.load() == 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  char text[160];
  std::size_t n = 0;
  auto const put = [&](char const* s) {
    while (*s != '\0') text[n++] = *s++;
  };
  auto const put_number = [&](std::uint64_t v) {
    char digits[24];
    std::size_t k = 0;
    do digits[k++] = static_cast<char>('0' + v % 10);
    while ((v /= 10) != 0);
    while (k != 0) text[n++] = digits[--k];
  };
  put("\nfuzz: it was in --case-seed ");
  put_number(seed_now.load());
  put(" --policy ");
  put(all_subjects()[policy_now.load()].name);
  put(" --workers ");
  put_number(workers_now.load());
  put(" --machine ");
  put_number(machine_now.load());
  put("\n");
  static_cast<void>(!::write(2, text, n));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct hints {
  std::uint64_t cases = slow ? 3000 : 30'000;
  double seconds = 0;
  std::uint64_t seed = 0;
  std::string json, replay_case, policy;
  std::uint64_t case_seed = 0;
  std::uint32_t workers = 1, machine = 0;
  int times = 200;
  bool list = false, shrink = false;
};

int report(fuzz_case const& c, decision const& found, int times) {
  std::printf("FAILED: %s: %s\n  case: %s\n",
              std::string{heist_test::fault_names[static_cast<std::size_t>(found.what)]}.c_str(), found.text.c_str(),
              to_text(c).c_str());
  std::fflush(stdout);
  auto const until = steady::now() + std::chrono::seconds{60};
  auto const fails = [&](fuzz_case const& candidate) {
    return steady::now() < until && run_alone(candidate, times).what != fault::none;
  };
  if (!fails(c)) {
    std::printf("  alone it did not fail again in %d runs; the text may be run with more --times\n", times);
    return 1;
  }
  fuzz_case const small = shrink(c, fails);
  std::printf("  smallest case found, %u nodes: --replay-case \"%s\"\n", small.program.size(), to_text(small).c_str());
  return 1;
}

/// Does it fail, crash or hang, in a process of its own? Before this one has threads.
bool fails_apart(fuzz_case const& c, int times) {
  std::fflush(stdout);
  pid_t const child = ::fork();
  if (child == 0) {
    for (int const signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, SIG_DFL);
    ::alarm(20);
    ::_exit(run_alone(c, times).what == fault::none ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status != 0;
}

int cut_down(fuzz_case const& c, int times) {
  auto const fails = [&](fuzz_case const& candidate) { return fails_apart(candidate, times); };
  if (!fails(c)) {
    std::printf("%s\nit did not fail in %d runs\n", to_text(c).c_str(), times);
    return 0;
  }
  fuzz_case const small = shrink(c, fails);
  std::printf("smallest case found, %u nodes: --replay-case \"%s\"\n", small.program.size(), to_text(small).c_str());
  return 1;
}

int replay_one(fuzz_case const& c, int times) {
  heist_test::watchdog const guard{"--replay-case", std::chrono::seconds{120}, [&] { return to_text(c) + '\n'; }};
  decision const found = run_alone(c, times);
  std::printf("%s\n%s %s\n", to_text(c).c_str(),
              std::string{heist_test::fault_names[static_cast<std::size_t>(found.what)]}.c_str(), found.text.c_str());
  return found.what == fault::none ? 0 : 1;
}

/// Executors one after the other, some cases on each; the first failure ends it.
int fuzz(hints const& w, tally& sum) {
  heist_test::random_engine random{w.seed};
  auto const end =
      steady::now() + std::chrono::duration_cast<steady::duration>(std::chrono::duration<double>{w.seconds});
  heist_test::watchdog timeout_guard{"fuzz", std::chrono::seconds{120}, [] { return case_now() + '\n'; }};
  while (w.seconds > 0 ? steady::now() < end : sum.cases < w.cases) {
    policy_now = any_of(random, 0, static_cast<std::uint32_t>(all_subjects().size() - 1));
    workers_now = worker_counts[any_of(random, 0, worker_counts.size() - 1)];
    machine_now = any_of(random, 0, static_cast<std::uint32_t>(all_machines().size() - 1));
    std::uint64_t const batch_seed = random();
    setting const where = setting_now();
    if (!w.policy.empty() && where.policy != w.policy) continue;
    subject_type const& type = type_named(where.policy);
    std::int64_t const before = heist_test::left_behind();
    timeout_guard.section("cases on " + where.policy);
    {
      auto const on = type.make(where);
      timeout_guard.watch(*on);
      for (std::uint32_t i = 0; i != cases_per_executor; ++i) {
        seed_now = batch_seed + i;
        fuzz_case const c = generate(batch_seed + i, where, type.can, slow);
        decision const found = run_case(*on, c, sum);
        if (found.what == fault::none) continue;
        sum.add(found.what);
        timeout_guard.unwatch(*on);
        return report(c, found, w.times);
      }
      timeout_guard.unwatch(*on);
    }
    if (heist_test::left_behind() != before) {
      sum.add(fault::leak);
      std::printf(
          "FAILED: leak: exceptions or captures not destroyed, or handles spoilt, in 64 cases from --case-seed %llu on "
          "%s\n",
          static_cast<unsigned long long>(batch_seed), where.policy.c_str());
      return 1;
    }
  }
  return 0;
}

int run(hints const& w) {
  if (w.list) {
    for (subject_type const& t : all_subjects())
      std::printf("%-22s%s%s%s\n", t.name, t.can.may_wait ? " waits" : "", t.can.tiers ? " tiers" : "",
                  t.can.records ? " records" : "");
    return 0;
  }
  if (!w.replay_case.empty() || w.case_seed != 0) {
    setting const where{w.policy, w.workers, w.machine % static_cast<std::uint32_t>(all_machines().size())};
    fuzz_case const c = w.replay_case.empty() ? generate(w.case_seed, where, type_named(w.policy).can, slow)
                                              : parse_case(w.replay_case);
    return w.shrink ? cut_down(c, w.times) : replay_one(c, w.times);
  }
  std::printf("fuzz_differential --seed %llu\n", static_cast<unsigned long long>(w.seed));
  std::fflush(stdout);
  tally sum;
  int const result = fuzz(w, sum);
  std::printf("%s", sum.text().c_str());
  if (!w.json.empty()) {
    std::ofstream out{w.json};
    out << sum.to_json();
    if (!out.flush()) {
      std::printf("--json %s: the file cannot be written\n", w.json.c_str());
      return 1;
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  hints w;
  w.seed = std::random_device{}();
  CLI::App app{"Random graphs and fork/join programs on all policies, against an oracle."};
  app.add_option("--cases,--graphs", w.cases, "how many cases")->capture_default_str();
  app.add_option("--seconds", w.seconds, "so long, instead of so many");
  app.add_option("--seed", w.seed, "of the whole run; by default a new one");
  app.add_option("--json", w.json, "write the summary to this file");
  app.add_option("--replay-case", w.replay_case, "run one case from its printed text");
  app.add_option("--case-seed", w.case_seed, "run one case from its seed; needs --policy, --workers and --machine");
  app.add_option("--policy", w.policy, "these executors alone; --list names them");
  app.add_option("--workers", w.workers, "for --case-seed");
  app.add_option("--machine", w.machine, "for --case-seed: its number");
  app.add_option("--times", w.times, "how often one case is run before it passes")->capture_default_str();
  app.add_flag("--shrink", w.shrink, "cut that case down, each try in a process of its own: for crashes and hangs");
  app.add_flag("--list", w.list, "name the executors");
  CLI11_PARSE(app, argc, argv);
  if (!slow) {
    for (int const signal : {SIGABRT, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, say_where);
    std::signal(SIGSEGV, say_where);
  }
  try {
    return run(w);
  } catch (std::exception const& e) {
    std::printf("%s\n", e.what());
    return 2;
  }
}
