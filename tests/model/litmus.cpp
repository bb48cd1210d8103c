// Does the model know C++? Small programs whose outcomes the standard tells: each must be seen, and no other.
#include "engine/suite.hpp"

namespace {

using model::env;
using order = std::memory_order;
constexpr order relaxed = order::relaxed, acquire = order::acquire, release = order::release, acq_rel = order::acq_rel,
                seq_cst = order::seq_cst;

struct flags {
  env::atomic<int> x{0}, y{0};
  int r1 = 0, r2 = 0, r3 = 0, r4 = 0;
};

/// Outcome number: r1 r2 as two bits.
void observe_pair(model::execution& t, flags& s) {
  t.finally([&s] { model::observe(s.r1 * 2 + s.r2); });
}

struct no_fence {
  static void light() {}
  static void heavy() {}
};
struct full {
  static void light() { env::fence(seq_cst); }
  static void heavy() { env::fence(seq_cst); }
};
struct acquire_release {
  static void light() { env::fence(acq_rel); }
  static void heavy() { env::fence(acq_rel); }
};
struct asymmetric {
  static void light() { env::light_fence(); }
  static void heavy() { env::heavy_fence(); }
};
struct light_only {
  static void light() { env::light_fence(); }
  static void heavy() { env::light_fence(); }
};
struct light_and_full {
  static void light() { env::light_fence(); }
  static void heavy() { env::fence(seq_cst); }
};

/// Each thread stores, then loads the location of the other thread. Both may miss the other's store, unless fences
/// stand between.
template <class Fence>
void store_buffering(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] {
    s.x.store(1, relaxed);
    Fence::light();
    s.r1 = s.y.load(relaxed);
  });
  t.thread([&] {
    s.y.store(1, relaxed);
    Fence::heavy();
    s.r2 = s.x.load(relaxed);
  });
  observe_pair(t, s);
}

/// Data, then flag: with release and acquire, a thread that sees the flag (r1) sees the data (r2).
template <order Store, order Load>
void message_passing(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] {
    s.x.store(1, relaxed);
    s.y.store(1, Store);
  });
  t.thread([&] {
    s.r1 = s.y.load(Load);
    s.r2 = s.x.load(relaxed);
  });
  observe_pair(t, s);
}

template <order Before, order After>
void message_passing_fences(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] {
    s.x.store(1, relaxed);
    if (Before != relaxed) env::fence(Before);
    s.y.store(1, relaxed);
  });
  t.thread([&] {
    s.r1 = s.y.load(relaxed);
    if (After != relaxed) env::fence(After);
    s.r2 = s.x.load(relaxed);
  });
  observe_pair(t, s);
}

/// Two writers, two readers: without sc fences the readers may see the writes in opposite orders.
template <bool Fenced>
void independent_reads(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] { s.x.store(1, release); });
  t.thread([&] { s.y.store(1, release); });
  t.thread([&] {
    s.r1 = s.x.load(acquire);
    if (Fenced) env::fence(seq_cst);
    s.r2 = s.y.load(acquire);
  });
  t.thread([&] {
    s.r3 = s.y.load(acquire);
    if (Fenced) env::fence(seq_cst);
    s.r4 = s.x.load(acquire);
  });
  t.finally([&s] { model::observe(s.r1 == 1 && s.r2 == 0 && s.r3 == 1 && s.r4 == 0); });
}

/// A relaxed RMW of another thread continues with a release sequence; a relaxed store ends it.
template <bool Rmw>
void release_sequence(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] {
    s.x.store(1, relaxed);
    s.y.store(1, release);
  });
  t.thread([&] {
    if (Rmw) {
      s.y.fetch_add(2, relaxed);
    } else if (s.y.load(relaxed) == 1) {
      s.y.store(3, relaxed);
    }
  });
  t.thread([&] {
    s.r1 = s.y.load(acquire) == 3;
    s.r2 = s.x.load(relaxed);
  });
  observe_pair(t, s);
}

/// Two loads of one atomic never go back in time.
void coherence(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] { s.x.store(1, relaxed); });
  t.thread([&] {
    s.r1 = s.x.load(relaxed);
    s.r2 = s.x.load(relaxed);
  });
  observe_pair(t, s);
}

/// Each thread loads, then stores to the location that the other thread loads. C++ allows 1 1; this model does not show
/// it (README.md).
void load_buffering(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] {
    s.r1 = s.x.load(relaxed);
    s.y.store(1, relaxed);
  });
  t.thread([&] {
    s.r2 = s.y.load(relaxed);
    s.x.store(1, relaxed);
  });
  observe_pair(t, s);
}

/// Two increments by RMW are never lost; by load and store they are.
template <bool Rmw>
void increments(model::execution& t) {
  auto& s = t.make<flags>();
  for (int i = 0; i < 2; ++i) {
    t.thread([&] {
      if (Rmw) {
        s.x.fetch_add(1, relaxed);
      } else {
        s.x.store(s.x.load(relaxed) + 1, relaxed);
      }
    });
  }
  t.finally([&s] { model::observe(s.x.load(relaxed)); });
}

/// Outcome: success, and the value that a CAS from 1 to 5 saw, while another thread stores 1 and then 2.
template <bool Weak>
void compare_exchange(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] {
    s.x.store(1, relaxed);
    s.x.store(2, relaxed);
  });
  t.thread([&] {
    s.r2 = 1;
    s.r1 = Weak ? s.x.compare_exchange_weak(s.r2, 5, relaxed, relaxed)
                : s.x.compare_exchange_strong(s.r2, 5, relaxed, relaxed);
  });
  t.finally([&s] { model::observe(s.r1 * 8 + s.r2); });
}

/// Three threads: T3 sees after its acquire the store that T2 saw before its release.
void transitivity(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] { s.x.store(1, release); });
  t.thread([&] {
    if (s.x.load(acquire) == 1) s.y.store(1, release);
  });
  t.thread([&] {
    s.r1 = s.y.load(acquire);
    s.r2 = s.x.load(relaxed);
  });
  observe_pair(t, s);
}

struct shared_field {
  env::plain<int> data{0};
  env::atomic<int> ready{0};
  env::park_word word;
};

template <order Store, order Load>
void hand_over(model::execution& t) {
  auto& s = t.make<shared_field>();
  t.thread([&] {
    s.data = 7;
    s.ready.store(1, Store);
  });
  t.thread([&] {
    if (s.ready.load(Load) == 1) model::check(s.data == 7, "the data is not there");
  });
}

/// The reader hands the field back, but reads it once more.
void read_after_release(model::execution& t) {
  auto& s = t.make<shared_field>();
  t.thread([&] {
    int sum = s.data;
    s.ready.store(1, release);
    sum += s.data;
    model::check(sum == 0, "changed");
  });
  t.thread([&] {
    if (s.ready.load(acquire) == 1) s.data = 1;
  });
}

/// The sleeper looks, and sleeps; the waker changes the word and wakes, or forgets one of the two.
template <bool Change, bool Wake>
void sleeping(model::execution& t) {
  auto& s = t.make<shared_field>();
  t.thread([&] {
    while (s.word.load(acquire) == 0) s.word.wait(0);
  });
  t.thread([&] {
    if (Change) s.word.store(1, release);
    if (Wake) s.word.wake_one();
  });
}

template <bool Relax>
void spinning(model::execution& t) {
  auto& s = t.make<shared_field>();
  t.thread([&] {
    while (s.ready.load(acquire) == 0) {
      if (Relax) env::relax();
    }
    model::check(s.data == 7, "the data is not there");
  });
  t.thread([&] {
    s.data = 7;
    s.ready.store(1, release);
  });
}

/// Allocations that no compiler removes.
int* volatile allocated = nullptr;

void leak(model::execution& t) {
  t.thread([] { allocated = new int{1}; });
}

void double_free(model::execution& t) {
  t.thread([] {
    allocated = new int{1};
    delete allocated;
    delete allocated;
  });
}

/// The owner frees an atomic that the other thread may have found.
void late_use(model::execution& t) {
  auto& s = t.make<env::atomic<env::atomic<int>*>>(new env::atomic<int>{0});
  t.thread([&] { delete s.exchange(nullptr, relaxed); });
  t.thread([&] {
    if (auto* const cell = s.load(acquire)) cell->store(1, relaxed);
  });
}

void unpublished(model::execution& t) {
  auto& s = t.make<env::atomic<env::atomic<int>*>>(nullptr);
  t.thread([&] { s.store(&t.make<env::atomic<int>>(0), relaxed); });
  t.thread([&] {
    if (auto* const cell = s.load(acquire)) cell->store(1, relaxed);
  });
}

void sequentially_consistent_load(model::execution& t) {
  auto& s = t.make<flags>();
  t.thread([&] { s.r1 = s.x.load(seq_cst); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();

  all.litmus("SB: no fence", {0, 1, 2, 3}, store_buffering<no_fence>);
  all.litmus("SB: acq_rel fences do not help", {0, 1, 2, 3}, store_buffering<acquire_release>);
  all.litmus("SB: sc fences", {1, 2, 3}, store_buffering<full>);
  all.litmus("SB: light and heavy fence", {1, 2, 3}, store_buffering<asymmetric>);
  all.litmus("SB: two light fences do not help", {0, 1, 2, 3}, store_buffering<light_only>);
  all.litmus("SB: light and full fence do not help", {0, 1, 2, 3}, store_buffering<light_and_full>);
  all.litmus("MP: relaxed", {0, 1, 2, 3}, message_passing<relaxed, relaxed>);
  all.litmus("MP: release, relaxed", {0, 1, 2, 3}, message_passing<release, relaxed>);
  all.litmus("MP: relaxed, acquire", {0, 1, 2, 3}, message_passing<relaxed, acquire>);
  all.litmus("MP: release, acquire", {0, 1, 3}, message_passing<release, acquire>);
  all.litmus("MP: both fences", {0, 1, 3}, message_passing_fences<release, acquire>);
  all.litmus("MP: release fence only", {0, 1, 2, 3}, message_passing_fences<release, relaxed>);
  all.litmus("MP: acquire fence only", {0, 1, 2, 3}, message_passing_fences<relaxed, acquire>);
  all.litmus("MP: sc fences are release and acquire fences", {0, 1, 3}, message_passing_fences<seq_cst, seq_cst>);
  all.litmus("IRIW: acquire loads may disagree", {0, 1}, independent_reads<false>);
  all.litmus("IRIW: sc fences agree", {0}, independent_reads<true>);
  all.litmus("release sequence: relaxed RMW", {0, 1, 3}, release_sequence<true>);
  all.litmus("release sequence: relaxed store ends it", {0, 1, 2, 3}, release_sequence<false>);
  all.litmus("coherence of two loads", {0, 1, 3}, coherence);
  all.litmus("LB: not modelled", {0, 1, 2}, load_buffering);
  all.litmus("increments: RMW", {2}, increments<true>);
  all.litmus("increments: load and store", {1, 2}, increments<false>);
  all.litmus("CAS strong", {0, 2, 8 + 1}, compare_exchange<false>);
  all.litmus("CAS weak", {0, 1, 2, 8 + 1}, compare_exchange<true>);
  all.litmus("transitivity", {0, 1, 3}, transitivity);

  model::limits const deep{.config = {.preemptions = 20}};
  all.verify("plain field: release, acquire", deep, hand_over<release, acquire>);
  all.refute("plain field: relaxed store", deep, "data race", hand_over<relaxed, acquire>);
  all.refute("plain field: relaxed load", deep, "data race", hand_over<release, relaxed>);
  all.refute("plain field: read again after the release", deep, "data race", read_after_release);
  all.verify("park: change and wake", deep, sleeping<true, true>);
  all.refute("park: no wake", deep, "deadlock", sleeping<true, false>);
  all.refute("park: no change", deep, "deadlock", sleeping<false, true>);
  all.verify("spinning with relax()", deep, spinning<true>);
  all.refute("heap: leak", deep, "leak", leak);
  all.refute("heap: double free", deep, "double free", double_free);
  all.refute("heap: freed while in use", deep, "destr", late_use);
  all.refute("construction not published", deep, "construction is not visible", unpublished);
  all.refute("seq_cst access", deep, "banned", sequentially_consistent_load);
  return all.finish();
}
