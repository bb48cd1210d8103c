// Victim policies allocate in begin() only, once, and do without if there is no memory. A program of its own, because
// it replaces operator new.
#include <cstddef>
#include <cstdint>
#include <cstdlib>  // malloc, free
#include <new>
#include <set>

#include "faults/fault_sites.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/policy/hierarchical.hpp"
#include "heist/core/policy/sampling.hpp"
#include "heist/core/policy/victim_set.hpp"
#include "heist/core/topology/synthetic.hpp"
#include "support/catch.hpp"

using heist::fast_random;
using heist::victim::offer;
using heist::victim::outcome;
using heist::victim::thief_view;

namespace {
thread_local long allocations = 0;
thread_local bool reject = false;
}  // namespace

// noinline: a compiler that sees malloc() and free() through them warns of a mismatch.
HEIST_NOINLINE void* operator new(std::size_t bytes) {
  ++allocations;
  auto& site = heist_test::board().of[heist_test::site_of("new")];
  ++site.reached;
  if (reject) {
    ++site.injected;
  } else {
    if (void* const at = std::malloc(bytes == 0 ? 1 : bytes)) return at;
  }
  throw std::bad_alloc{};
}
HEIST_NOINLINE void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
HEIST_NOINLINE void operator delete(void* at) noexcept {
  std::free(at);
}
HEIST_NOINLINE void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}

TEMPLATE_TEST_CASE("victim policies allocate once, when a search begins", "[policy]", heist::victim::permuted,
                   heist::victim::victim_set<>, heist::victim::sampling_victim_set<>) {
  thief_view const me{3, 100};
  fast_random random{1};
  TestType policy;
  long before = allocations;
  policy.begin(me, random);
  long const first = allocations - before;
  before = allocations;
  for (int i = 0; i != 5000; ++i) {
    if (i % 100 == 0) policy.begin(me, random);
    std::uint32_t v = policy.next(me, random);
    if constexpr (heist::victim::sampling_policy<TestType>) {
      for (; policy.wants_look(); v = policy.next(me, random)) policy.looked(v, offer{1, v});
    }
    policy.feedback(v, i % 7 == 0 ? outcome::stolen : outcome::empty);
    if constexpr (heist::victim::thief_counting_policy<TestType>) policy.met_thief(v);
  }
  long const later = allocations - before;
  CHECK(first == 1);
  CHECK(later == 0);
}

TEMPLATE_TEST_CASE("victim policies do without memory, and take it when there is some", "[policy]",
                   heist::victim::permuted, heist::victim::victim_set<>) {
  thief_view const me{3, 100};
  fast_random random{2}, same{2};
  TestType policy;
  reject = true;
  policy.begin(me, random);
  reject = false;
  for (int i = 0; i != 1000; ++i) {
    std::uint32_t const v = policy.next(me, random);
    if (v != same.below(100)) FAIL("not as at random");
    policy.feedback(v, outcome::empty);
  }
  policy.begin(me, random);
  std::set<std::uint32_t> named;
  for (int i = 0; i != 100; ++i) named.insert(policy.next(me, random));
  CHECK(named.size() == 100);
}

TEST_CASE("hierarchical allocates when it is placed only, and does without memory", "[policy]") {
  auto const m = heist::topology::parse("package:4 l3:1 core:25 pu:1");
  auto const squads = heist::topology::make_squads(m, heist::squad_by::package, 100);
  thief_view const me{3, 100};
  fast_random random{3}, same{3};
  heist::victim::hierarchical policy;
  reject = true;
  policy.place(me, m, squads);
  reject = false;
  for (int i = 0; i != 1000; ++i) {
    std::uint32_t const v = policy.next(me, random);
    if (v != same.below(100)) FAIL("not as at random");
    policy.feedback(v, outcome::empty);
  }
  policy.place(me, m, squads);
  long const before = allocations;
  for (int i = 0; i != 20; ++i) {
    std::uint32_t const v = policy.next(me, random);
    if (v >= 25) FAIL("not at home");
    policy.feedback(v, outcome::stolen);
  }
  CHECK(allocations == before);
}
