// A lock for readers together and a writer alone, whose waiters are served, or leave at any time.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/reader_writer_lock.hpp"

#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"
#include "line_waiter.hpp"

namespace {

using model::env;
using order = std::memory_order;
using heist::detail::wait_end;
using wake_list = heist::detail::wake_list<env>;
using waiter = model::line_waiter<heist::detail::lock_waiter<env>>;

struct book {
  using lock_type = heist::detail::reader_writer_lock<env, 2>;
  static constexpr std::uintptr_t reader = lock_type::reader;
  lock_type lock;
  env::plain<int> text{0};
  env::atomic<int> reads{0};
  model::stop_of_waiter<waiter> stop;

  static std::uintptr_t writer(int who) { return static_cast<std::uintptr_t>(who + 1) * 4; }

  wait_end contend(waiter& w) {
    wake_list notified;
    return lock.contend(w, notified);
  }
  /// True: the caller has the lock.
  bool acquire(std::uintptr_t who, bool strict, bool may_leave) {
    if (lock.try_acquire(who)) return true;
    waiter w{who, strict};
    if (may_leave) stop.begin(w);
    wait_end end = lock.acquire_or_enter(w);
    while (end == wait_end::none) {
      w.wait();
      end = contend(w);
    }
    if (may_leave) stop.end();
    return end == wait_end::completed;
  }
  void release(std::uintptr_t who) {
    wake_list notified;
    model::check(who == reader ? lock.release_shared(notified) : lock.release(notified), "the lock is not taken");
  }
  void read(bool strict = false, bool may_leave = false) {
    if (!acquire(reader, strict, may_leave)) return;
    model::check(lock.writer() == 0, "a reader is beside a writer");
    static_cast<void>(static_cast<int>(text));
    reads.fetch_add(1, order::relaxed);
    release(reader);
  }
  void write(int who, bool strict = false, bool may_leave = false) {
    if (!acquire(writer(who), strict, may_leave)) return;
    model::check(lock.writer() == writer(who), "the writer is another one");
    text = text + 1;
    release(writer(who));
  }
  /// `w` waits for the writer `a`, and is called.
  void call(waiter& w, std::uintptr_t a) {
    model::check(lock.try_acquire(a), "it is free");
    model::check(lock.acquire_or_enter(w) == wait_end::none, "two write");
    release(a);
  }
  auto leave() {
    return [this](waiter& w) {
      wake_list notified;
      lock.leave(w, wait_end::stopped, notified);
    };
  }
  void check_free() {
    model::check(lock.writer() == 0 && !lock.has_waiter(), "somebody is left");
    model::check(lock.try_acquire(4), "it cannot be taken");
  }
};

/// Each enters as often as it wants.
template <int Readers, int Writers, int Times, bool Insist = false>
void all_enter(model::execution& t) {
  auto& s = t.make<book>();
  for (int i = 0; i != Readers; ++i) {
    t.thread([&s] {
      for (int k = 0; k != Times; ++k) s.read(Insist);
    });
  }
  for (int i = 0; i != Writers; ++i) {
    t.thread([&s, i] {
      for (int k = 0; k != Times; ++k) s.write(i, Insist);
    });
  }
  t.finally([&s] {
    model::check(s.text == Writers * Times, "a change is missing");
    model::check(s.reads.load(order::relaxed) == Readers * Times, "a reader is missing");
    s.check_free();
  });
}

/// One reader or writer is told to leave at any time. The other threads still enter.
template <bool Reads>
void one_leaves(model::execution& t) {
  auto& s = t.make<book>();
  t.thread([&s] {
    if constexpr (Reads) {
      s.read(false, true);
    } else {
      s.write(0, false, true);
    }
  });
  t.thread([&s] { s.read(); });
  t.thread([&s] { s.write(1); });
  t.thread([&s] { s.stop.stop(s.leave()); });
  t.finally([&s] {
    model::check(s.text >= 1 && s.reads.load(order::relaxed) >= 1, "one is missing");
    s.check_free();
  });
}

/// Step by step: a writer is overtaken twice, is called, is overtaken twice more, and is handed the lock.
void in_order(model::execution& t) {
  auto& s = t.make<book>();
  t.thread([&s] {
    std::uintptr_t const a = book::writer(0), b = book::writer(1);
    model::check(s.lock.try_acquire(book::reader), "it is free");
    waiter first{b, false}, second{book::reader, false};
    model::check(s.lock.acquire_or_enter(first) == wait_end::none, "a writer is beside a reader");
    for (int i = 0; i != 2; ++i) {
      model::check(s.lock.try_acquire(book::reader), "a reader does not overtake a writer");
      s.release(book::reader);
    }
    model::check(s.lock.acquire_or_enter(second) == wait_end::none, "a writer is overtaken for ever");
    s.release(book::reader);
    model::check(first.notified.is_ready() && first.end == wait_end::none && !second.notified.is_ready(),
                 "the writer is not called");
    for (int i = 0; i != 2; ++i) {
      model::check(s.lock.try_acquire(a), "nobody overtakes one that wakes up");
      model::check(!s.lock.try_acquire(book::reader) && !s.lock.seems_free(book::reader),
                   "a reader is beside a writer");
      model::check(first.end == wait_end::none, "it was handed over too soon");
      s.release(a);
    }
    model::check(first.end == wait_end::completed && s.lock.writer() == b && !s.lock.frees_soon(),
                 "it is not handed over");
    model::check(!s.lock.try_acquire(book::reader), "a reader is beside a writer");
    model::check(s.contend(first) == wait_end::completed && s.lock.frees_soon(),
                 "the lock that was handed over is not had");
    s.release(b);
    model::check(second.end == wait_end::completed && second.notified.is_ready(), "the reader does not follow");
    s.release(book::reader);
    s.check_free();
  });
}

/// Step by step: a writer competes without success, and is next. When it is told to leave, readers behind it go on.
void strict(model::execution& t) {
  auto& s = t.make<book>();
  t.thread([&s] {
    std::uintptr_t const a = book::writer(0), b = book::writer(1);
    waiter first{b, false};
    s.call(first, a);
    model::check(s.lock.try_acquire(book::reader), "nobody overtakes one that wakes up");
    first.wait();
    model::check(s.contend(first) == wait_end::none, "a writer is beside a reader");
    model::check(!s.lock.try_acquire(book::reader), "one that insists is overtaken");
    waiter second{book::reader, false};
    model::check(s.lock.acquire_or_enter(second) == wait_end::none, "one that insists is overtaken");
    s.leave()(first);
    model::check(first.end == wait_end::stopped, "it has not left");
    model::check(second.end == wait_end::completed, "a reader stays behind a writer that has left");
    s.release(book::reader);
    s.release(book::reader);
    s.check_free();
  });
}

/// Step by step: a writer that competes without success is handed the lock by the next release.
void competes_in_vain(model::execution& t) {
  auto& s = t.make<book>();
  t.thread([&s] {
    std::uintptr_t const a = book::writer(0), b = book::writer(1);
    waiter first{b, false};
    s.call(first, a);
    model::check(s.lock.try_acquire(a), "nobody overtakes one that wakes up");
    first.wait();
    model::check(s.contend(first) == wait_end::none, "two write");
    s.release(a);
    model::check(first.end == wait_end::completed, "it must compete once more");
    first.wait();
    model::check(s.contend(first) == wait_end::completed, "what was handed over is not had");
    s.release(b);
    s.check_free();
  });
}

/// Step by step: one leaves the line, one leaves while it wakes up. Those behind them go on, and are overtaken no more
/// often.
void leave_in_order(model::execution& t) {
  auto& s = t.make<book>();
  t.thread([&s] {
    std::uintptr_t const a = book::writer(0), b = book::writer(1);
    model::check(s.lock.try_acquire(book::reader), "it is free");
    waiter first{a, false}, second{b, false}, third{book::reader, false};
    model::check(s.lock.acquire_or_enter(first) == wait_end::none, "a writer is beside a reader");
    for (int i = 0; i != 2; ++i) {
      model::check(s.lock.try_acquire(book::reader), "a reader does not overtake a writer");
      s.release(book::reader);
    }
    s.leave()(first);
    model::check(s.lock.acquire_or_enter(second) == wait_end::none, "a writer is beside a reader");
    model::check(s.lock.try_acquire(book::reader), "it was overtaken before it came");
    s.release(book::reader);
    s.release(book::reader);
    model::check(s.lock.try_acquire(book::reader), "nobody overtakes one that wakes up");
    model::check(s.lock.try_acquire(book::reader), "nobody overtakes one that wakes up");
    model::check(s.lock.acquire_or_enter(third) == wait_end::none, "it is overtaken for ever");
    s.leave()(second);
    second.wait();
    model::check(s.contend(second) == wait_end::stopped, "it is not stopped");
    model::check(third.end == wait_end::completed && third.notified.is_ready(),
                 "a reader stays behind a writer that has left");
    for (int i = 0; i != 3; ++i) s.release(book::reader);
    s.check_free();
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3, .odd_failures = 0}};
  model::limits const two{.config = {.preemptions = 2, .odd_failures = 0}};
  model::limits const heavy{.config = {.preemptions = 2, .odd_failures = 0}, .heavy = true};
  all.verify("reader-writer lock: step by step", three, in_order);
  all.verify("reader-writer lock: one insists, and leaves", three, strict);
  all.verify("reader-writer lock: one competes in vain", three, competes_in_vain);
  all.verify("reader-writer lock: two leave", three, leave_in_order);
  all.verify("reader-writer lock: 1 reads, 1 writes, three times", three, all_enter<1, 1, 3>);
  all.verify("reader-writer lock: 2 write, twice", three, all_enter<0, 2, 2>);
  all.verify("reader-writer lock: 2 read, 1 writes", two, all_enter<2, 1, 1>);
  all.verify("reader-writer lock: 1 reads, 2 write", two, all_enter<1, 2, 1>);
  all.verify("reader-writer lock: 1 reads, 2 write, all insist", two, all_enter<1, 2, 1, true>);
  all.verify("reader-writer lock: 2 read, 1 writes, twice", heavy, all_enter<2, 1, 2>);
  all.verify("reader-writer lock: a writer leaves", heavy, one_leaves<false>);
  all.verify("reader-writer lock: a reader leaves", heavy, one_leaves<true>);
  return all.finish();
}
