// The main program of a model test: runs its harnesses, prints one line each, replays failures.
#pragma once

#include <signal.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "env.hpp"
#include "heist/core/base/config.hpp"
#include "mutant.hpp"
#include "search.hpp"

namespace model {

/// Command line:
///   (nothing)            all harnesses; fails unless each does what it must
///   --list               their names
///   --only TEXT          those whose name contains TEXT
///   --replay TEXT STRING one execution of the first such harness, event by event
///   --preemptions N      another bound
///   --at-most N          no larger bound where every execution must pass, and one less where that takes a minute
///   --seconds S          another limit of time
///   --random N --seed S  N random executions instead of all
///   --all                redundant executions, too: slow
///   --mutant K           seeded bug K is on; exit code 10 when a harness notices
class suite {
 public:
  static constexpr int killed = 10;

  suite(int argc, char** argv) : program_{argc > 0 ? argv[0] : "model"} {
    program_.erase(0, program_.rfind('/') + 1);
    if (program_.rfind("model_", 0) == 0) program_.erase(0, 6);
    if (heist::under_asan || heist::under_tsan) {
      std::printf("model    skipped: the model switches stacks and has its own heap; run it without sanitizers\n");
      std::exit(0);
    }
    for (int i = 1; i < argc; ++i) {
      std::string const flag = argv[i];
      auto const value = [&] {
        if (++i == argc) usage();
        return argv[i];
      };
      if (flag == "--list") {
        listing_ = true;
      } else if (flag == "--only") {
        only_ = value();
      } else if (flag == "--replay") {
        only_ = value();
        replay_ = value();
      } else if (flag == "--preemptions") {
        preemptions_ = std::atoi(value());
      } else if (flag == "--at-most") {
        at_most_ = std::atoi(value());
      } else if (flag == "--seconds") {
        seconds_ = std::atof(value());
      } else if (flag == "--random") {
        random_ = std::strtoull(value(), nullptr, 10);
      } else if (flag == "--seed") {
        seed_ = std::strtoull(value(), nullptr, 10);
      } else if (flag == "--all") {
        reduces_ = false;
      } else if (flag == "--mutant") {
        mutant = std::atoi(value());
      } else {
        usage();
      }
    }
    catch_crashes();
  }

  /// Executions allocate all state that harnesses change: moments that are alike are merged (visited.hpp).
  void merge() { merges_ = true; }
  /// The same, and they change this object as well, which is made of plain bytes. Its size is a multiple of 8.
  template <class T>
  void merge_with(T& object) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0);
    merges_ = true;
    kept.add_outside(&object, sizeof object);
  }

  /// Every execution within the limits passes.
  void verify(char const* name, limits limit, harness_body body) {
    int const most = at_most_ - (limit.heavy ? 1 : 0);
    if (at_most_ >= 0 && most < limit.config.preemptions) limit.config.preemptions = most;
    if (!select(name, limit, body)) return;
    result const r = explore(body, limit);
    bool const whole = r.complete || limit.random_executions > 0;
    conclude(name, limit, r, !r.failed && whole && r.pruned == 0);
  }

  /// Exactly these outcomes are observed, in all executions together.
  void litmus(char const* name, std::initializer_list<int> outcomes, harness_body body) {
    limits limit{.config = {.preemptions = 20}};
    if (!select(name, limit, body)) return;
    result const r = explore(body, limit);
    std::uint64_t wanted = 0;
    for (int n : outcomes) wanted |= std::uint64_t{1} << n;
    bool const fine = !r.failed && r.complete && r.pruned == 0 && r.outcomes == wanted;
    conclude(name, limit, r, fine);
    if (r.outcomes != wanted) std::printf("  outcomes seen %" PRIx64 ", wanted %" PRIx64 "\n", r.outcomes, wanted);
  }

  /// Some execution is a violation whose reason contains `reason`: shows that the model is awake, or that a line of
  /// the protocol is needed.
  void refute(char const* name, limits limit, char const* reason, harness_body body) {
    if (mutant != 0 || !select(name, limit, body)) return;
    result const r = explore(body, limit);
    bool const found = r.failed && r.reason.find(reason) != std::string::npos;
    print(found ? "refuted" : "FAILED", name, limit, r);
    if (!found) std::printf("  expected: %s\n  got: %s\n", reason, r.failed ? r.reason.c_str() : "no violation");
    count(found, r);
  }

  /// Prints the totals; the exit code of the program.
  int finish() {
    if (listing_ || !replay_.empty()) return 0;
    if (harnesses_ == 0) {
      std::printf("model    no harness has such a name\n");
      return 2;
    }
    std::printf("model  %s  harnesses %d complete %d at_three %d executions %" PRIu64 " steps %" PRIu64
                " pruned %" PRIu64 " violations %d  moments %" PRIu64 " given up %" PRIu64 " as they must %d  %.1f s\n",
                program_.c_str(), harnesses_, complete_, at_three_, executions_, steps_, pruned_, violations_, moments_,
                redundant_, good_, total_seconds_);
    return good_ == harnesses_ ? 0 : 1;
  }

 private:
  [[noreturn]] static void usage() {
    std::fprintf(stderr,
                 "usage: [--list] [--only TEXT] [--replay TEXT STRING] [--preemptions N] [--at-most N] [--seconds S]\n"
                 "       [--random N] [--seed S] [--all] [--mutant K]\n");
    std::exit(2);
  }

  // A failed assertion or a wild pointer of the code under test is a violation like any other.
  static void catch_crashes() {
    static char alternate[64 * 1024];
    stack_t const stack{alternate, 0, sizeof alternate};
    ::sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    action.sa_handler = [](int signal) {
      if (!heap.active) std::_Exit(2);
      sched.fail(signal == SIGABRT ? "abort() was called (see the line above)" : "crash: signal %d", signal);
    };
    for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::sigaction(signal, &action, nullptr);
  }

  bool select(std::string const& name, limits& limit, harness_body body) {
    if (name.find(only_) == std::string::npos) return false;
    if (listing_) std::printf("%s\n", name.c_str());
    if (listing_) return false;
    if (preemptions_ >= 0) limit.config.preemptions = preemptions_;
    if (seconds_ > 0) limit.seconds = seconds_;
    if (random_ > 0) limit.random_executions = random_;
    limit.seed = seed_;
    limit.config.merge = merges_ && reduces_;
    limit.config.reduce = reduces_;
    if (replay_.empty()) return true;
    if (!replayed_) replay_one(name, limit, body);
    replayed_ = true;
    return false;
  }

  // A replay string is the number of pre-emptions, a colon, and the decisions.
  void replay_one(std::string const& name, limits limit, harness_body body) {
    std::size_t const colon = replay_.find(':');
    if (colon == std::string::npos) usage();
    limit.config.preemptions = std::atoi(replay_.c_str());
    std::printf("%s\n", name.c_str());
    decision const end = replay(body, limit.config, replay_.substr(colon + 1));
    std::printf("%s\n", end == decision::passed   ? "passes"
                        : end == decision::pruned ? "reaches the step limit"
                                                  : "fails");
  }

  void conclude(char const* name, limits const& limit, result const& r, bool fine) {
    char const* const kind = limit.random_executions > 0 ? "random" : "complete";
    print(fine ? kind : r.failed ? "VIOLATED" : r.pruned > 0 ? "PRUNED" : r.complete ? "WRONG" : "CUT", name, limit, r);
    count(fine, r);
    if (r.failed || (r.complete && !fine)) ++violations_;
    if (fine && r.complete) ++complete_;
    if (fine && r.complete && limit.config.preemptions >= 3) ++at_three_;
    if (mutant != 0 && r.pruned > 0) std::_Exit(killed);
    if (!r.failed) return;
    int const preemptions = limit.random_executions > 0 ? limit.config.steps : limit.config.preemptions;
    std::printf("  %s\n  --replay '%s' %d:%s\n", r.reason.c_str(), name, preemptions, r.replay.c_str());
    std::fflush(stdout);
    if (mutant != 0) std::_Exit(killed);
  }

  static void print(char const* how, char const* name, limits const& limit, result const& r) {
    std::printf("model    %-54s %-8s pb %d  executions %" PRIu64 "  steps %" PRIu64 "  pruned %" PRIu64
                "  violations %d  moments %" PRIu64 "  given up %" PRIu64 "  %.2f s\n",
                name, how, limit.config.preemptions, r.executions, r.steps, r.pruned, r.failed ? 1 : 0, r.moments,
                r.redundant, r.seconds);
    std::fflush(stdout);
  }

  void count(bool fine, result const& r) {
    ++harnesses_;
    good_ += fine ? 1 : 0;
    executions_ += r.executions;
    steps_ += r.steps;
    pruned_ += r.pruned;
    moments_ += r.moments;
    redundant_ += r.redundant;
    total_seconds_ += r.seconds;
  }

  bool listing_ = false;
  bool merges_ = false;
  bool reduces_ = true;
  std::string program_;
  int complete_ = 0;
  int at_three_ = 0;
  int violations_ = 0;
  bool replayed_ = false;
  std::string only_;
  std::string replay_;
  int preemptions_ = -1;
  int at_most_ = -1;
  double seconds_ = 0;
  std::uint64_t random_ = 0;
  std::uint64_t seed_ = 1;

  int harnesses_ = 0;
  int good_ = 0;
  std::uint64_t executions_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t pruned_ = 0;
  std::uint64_t moments_ = 0;
  std::uint64_t redundant_ = 0;
  double total_seconds_ = 0;
};

}  // namespace model
