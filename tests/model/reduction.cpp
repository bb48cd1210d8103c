// Does the search leave out only executions whose outcome another execution shows? Small random programs, each searched
// twice with the same bounds: all executions, and without those that are given up (scheduler.hpp, visited.hpp). Both
// searches must show the same set of outcomes. Both must find a violation, or neither.
//
// In a program with relax() or read_again(), only the merging of moments and of threads is tested. A thread may return
// from these calls although nothing has happened that it can notice. The search does not try the rest of such an
// execution (README.md, "Limits").
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "engine/suite.hpp"

namespace {

using model::env;
using order = std::memory_order;

constexpr int max_steps = 4;

enum class act { load, store, add, exchange_if, fence, relax, again, read, write, sleep, wake, allocate, count };

struct step {
  act what{};
  int object = 0;  // which atomic
  order how = order::relaxed;
  int value = 0;
};
struct small_program {
  int threads = 0;
  bool alike = false;  // the last two threads
  bool plain = false;  // with a plain field: most of these have races
  bool sleeps = false;
  bool waits = false;  // has relax() or read_again() in it
  std::array<std::array<step, max_steps>, 3> steps{};
};
small_program now;
bool merging = false;

/// Values are small, so that different histories come to the same place.
small_program draw(std::uint64_t seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  auto const one_of = [&](int n) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<int>((state * 0x2545F4914F6CDD1Du >> 33) % static_cast<std::uint64_t>(n));
  };
  small_program p;
  p.threads = 2 + one_of(2);
  p.alike = one_of(3) == 0;
  p.plain = one_of(6) == 0;
  p.sleeps = one_of(4) == 0;
  bool const may_wait = one_of(3) == 0;
  for (auto& steps : p.steps) {
    for (step& s : steps) {
      do {
        s.what = static_cast<act>(one_of(static_cast<int>(act::count)));
      } while ((!p.plain && (s.what == act::read || s.what == act::write)) ||
               (!p.sleeps && (s.what == act::sleep || s.what == act::wake)) || (!may_wait && s.what == act::relax) ||
               ((!may_wait || p.sleeps) && s.what == act::again));
      s.object = one_of(2);
      s.value = one_of(2) + 1;
      bool const loads = s.what == act::load || s.what == act::again;
      bool const strong = one_of(2) == 0;
      s.how = s.what == act::fence   ? (strong ? order::seq_cst : order::release)
              : !strong              ? order::relaxed
              : loads                ? order::acquire
              : s.what == act::store ? order::release
                                     : order::acq_rel;
    }
  }
  for (int i = 0; i < p.threads; ++i) {
    for (step const& s : p.steps[static_cast<std::size_t>(i)]) {
      p.waits = p.waits || s.what == act::relax || s.what == act::again;
    }
  }
  if (p.threads == 2) p.alike = false;
  if (p.alike) p.steps[static_cast<std::size_t>(p.threads - 1)] = p.steps[static_cast<std::size_t>(p.threads - 2)];
  return p;
}

struct board {
  std::array<env::atomic<int>, 2> atomics;
  env::atomic<int> over{0};
  env::park_word word;
  env::plain<int> field{0};
  std::array<std::uint64_t, 3> seen{};

  void run(std::size_t thread) {
    std::uint64_t sum = 0;
    for (step const& s : now.steps[thread]) {
      auto& a = atomics[static_cast<std::size_t>(s.object)];
      int got = 0;
      switch (s.what) {
        case act::load:
          got = a.load(s.how);
          break;
        case act::store:
          a.store(s.value, s.how);
          break;
        case act::add:
          got = a.fetch_add(s.value, s.how);
          break;
        case act::exchange_if:
          got = s.value - 1;
          got += a.compare_exchange_weak(got, s.value + 1, s.how, order::relaxed) ? 8 : 0;
          break;
        case act::fence:
          s.value == 1 ? env::fence(s.how) : s.object == 0 ? env::light_fence() : env::heavy_fence();
          break;
        case act::relax:
          env::relax();
          break;
        case act::again:  // for the end of the first thread
          while (thread != 0 && over.load(s.how) == 0) env::read_again();
          break;
        case act::read:
          got = field;
          break;
        case act::write:
          field = s.value;
          break;
        case act::sleep:
          while (word.load(order::acquire) == 0) word.wait(0);
          break;
        case act::wake:
          word.store(1, order::release);
          word.wake_one();
          break;
        case act::allocate: {
          auto const p = new env::atomic<int>{s.value};
          got = p->load(order::relaxed);
          delete p;
          break;
        }
        case act::count:
          break;
      }
      sum = sum * 31 + static_cast<std::uint64_t>(got);
    }
    seen[thread] = sum;
    if (thread == 0) over.store(1, order::release);
  }
};

/// Written at the end of executions, read by none.
std::array<std::uint64_t, 1 << 14> outcomes;
std::size_t outcome_count = 0;

void note(std::uint64_t outcome) {
  auto* const end = outcomes.data() + outcome_count;
  if (std::find(outcomes.data(), end, outcome) != end) return;
  if (outcome_count == outcomes.size()) std::abort();
  outcomes[outcome_count++] = outcome;
}

void body(model::execution& t) {
  auto& b = t.make<board>();
  for (int i = 0; i < now.threads; ++i) {
    t.thread([&b, i] { b.run(static_cast<std::size_t>(i)); });
  }
  if (now.alike && merging) t.alike(2);
  t.finally([&b] {
    std::size_t const first = static_cast<std::size_t>(now.threads - 2);
    if (now.alike && b.seen[first] > b.seen[first + 1]) std::swap(b.seen[first], b.seen[first + 1]);
    std::uint64_t all = 0;
    for (std::uint64_t s : b.seen) all = model::mix(all, s);
    for (auto& a : b.atomics) all = model::mix(all, static_cast<std::uint64_t>(a.load(order::relaxed)));
    note(all);
  });
}

struct answer {
  model::result search;
  std::vector<std::uint64_t> outcomes;
};

answer search(int preemptions, bool reduce, bool merge) {
  merging = merge;
  outcome_count = 0;
  model::limits const limit{.config = {.preemptions = preemptions, .steps = 400, .reduce = reduce, .merge = merge},
                            .seconds = 60};
  answer a{model::explore(body, limit), {}};
  a.outcomes.assign(outcomes.data(), outcomes.data() + outcome_count);
  std::sort(a.outcomes.begin(), a.outcomes.end());
  return a;
}

}  // namespace

int main(int argc, char** argv) {
  if (heist::under_asan || heist::under_tsan) {
    std::printf("model    skipped: the model switches stacks and has its own heap; run it without sanitizers\n");
    return 0;
  }
  std::uint64_t const programs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 150;
  std::uint64_t const first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  int same = 0, at_three = 0, differ = 0, waiting = 0;
  std::uint64_t all = 0, reduced = 0, steps = 0, results = 0, failed = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    now = draw(seed);
    int const preemptions = now.threads == 2 ? 3 : 1 + static_cast<int>(seed % 2);
    answer const whole = search(preemptions, now.waits, false);
    answer const less = search(preemptions, true, true);
    bool const fine = whole.search.failed == less.search.failed &&
                      (whole.search.failed || (whole.search.complete && less.search.complete &&
                                               whole.outcomes == less.outcomes && less.search.pruned == 0));
    if (!fine) {
      std::printf("model    program %llu, pb %d: %zu outcomes of all, %zu of the reduced search; '%s', '%s'\n",
                  static_cast<unsigned long long>(seed), preemptions, whole.outcomes.size(), less.outcomes.size(),
                  whole.search.reason.c_str(), less.search.reason.c_str());
    }
    (fine ? same : differ) += 1;
    at_three += fine && preemptions == 3 ? 1 : 0;
    waiting += now.waits ? 1 : 0;
    failed += fine && whole.search.failed ? 1 : 0;
    all += whole.search.executions;
    reduced += less.search.executions + less.search.redundant;
    results += whole.outcomes.size();
    steps += whole.search.steps + less.search.steps;
  }
  std::printf(
      "model    %llu random programs: %llu executions, %llu in the reduced search; %llu outcomes, %llu "
      "violated, %d wait\n",
      static_cast<unsigned long long>(programs), static_cast<unsigned long long>(all),
      static_cast<unsigned long long>(reduced), static_cast<unsigned long long>(results),
      static_cast<unsigned long long>(failed), waiting);
  std::printf(
      "model  reduction  harnesses %d complete %d at_three %d executions %llu steps %llu pruned 0 violations %d"
      "  as they must %d\n",
      same + differ, same, at_three, static_cast<unsigned long long>(all + reduced),
      static_cast<unsigned long long>(steps), differ, same);
  return differ == 0 ? 0 : 1;
}
