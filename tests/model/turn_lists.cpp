// Turns: every item that arrives at a place is begun once, in the order of the list, whether the item or the turn
// arrives first. A run on such lists ends. Its order is given up only when it cannot be kept. No thread touches the run
// when it is over.
//
// locality/replay/replay_run.hpp, locality/replay/followed.hpp and core/scheduler/core_fibers.ipp are no templates over
// Env. The second half models how they use the shipped turn lists, live_count and completion, function by function
// under the same names. A frame is a function that is called where its fiber resumes.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/locality/policy/turn_lists.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/locality/replay/live_count.hpp"

namespace {

using order = std::memory_order;

/// A thread that waits looks again when another thread has written.
struct env : model::env {
  static void relax() noexcept { read_again(); }
  static void yield() noexcept { read_again(); }
};

// --- the lists alone: one worker, whose places are taken up by a thread ---

struct item {
  env::plain<int> payload{0};
  env::plain<int> begun{0};
};

/// Item i is that of place i.
struct board {
  heist::detail::turn_lists<item, env> lists;
  std::array<item, 4> items;
  env::atomic<item*> inbox{nullptr};
  std::size_t past = 0;  // the worker's: behind the place of the item that it has begun last

  explicit board(std::size_t length) : lists{{length}} {}

  void arrive(std::size_t place) {
    items[place].payload = 7;
    hand_over(lists.arrive(0, place, items[place]));
  }
  void pass(std::size_t place) { hand_over(lists.pass(0, place)); }
  void hand_over(item* i) {
    if (i != nullptr) model::check(inbox.exchange(i, order::acq_rel) == nullptr, "two items in one turn");
  }
  /// False if there is none.
  bool begin(item* i) {
    if (i == nullptr) return false;
    auto const place = static_cast<std::size_t>(i - items.data());
    model::check(i->payload == 7, "an item is begun without what was written before");
    model::check(i->begun == 0, "an item is begun twice");
    model::check(place >= past, "items are begun in another order than that of the list");
    i->begun = 1;
    past = place + 1;
    return true;
  }
  /// The worker, until it has begun `count` and asked for one more.
  void work(int count) {
    bool begun = begin(lists.turn(0));
    for (;;) {
      if (begun && --count == 0) break;
      if (begun) {
        begun = begin(lists.turn(0));
      } else if (item* const i = inbox.load(order::acquire); i != nullptr) {
        inbox.store(nullptr, order::relaxed);
        begun = begin(i);
      } else {
        env::read_again();
      }
    }
    model::check(lists.turn(0) == nullptr, "an item more than there are");
  }
  void over(int count) {
    for (item& i : items) count -= i.begun;
    model::check(count == 0, "an item was lost");
    model::check(inbox.load(order::relaxed) == nullptr, "an item more than there are");
  }
};

/// A thread's step at a place: its item arrives, or it passes the place. A negative number passes place -n-1.
template <int... Steps>
void do_steps(board& b) {
  ((Steps >= 0 ? b.arrive(static_cast<std::size_t>(Steps)) : b.pass(static_cast<std::size_t>(-Steps - 1))), ...);
}
template <int... Steps>
struct by {
  static constexpr int arrivals = (0 + ... + (Steps >= 0 ? 1 : 0));
  static constexpr int places = sizeof...(Steps);
  static void thread(board& b) { do_steps<Steps...>(b); }
};
constexpr int pass(int place) {
  return -place - 1;
}

/// Some threads come to the places of a worker, and the worker takes them up.
template <class... Threads>
void taken_up(model::execution& t) {
  auto& b = t.make<board>(static_cast<std::size_t>((Threads::places + ...)));
  constexpr int arrivals = (Threads::arrivals + ...);
  (t.thread([&b] { Threads::thread(b); }), ...);
  t.thread([&b] { b.work(arrivals); });
  t.finally([&b] { b.over(arrivals); });
}

/// The last thread to leave the first round begins the lists again, and the threads then come to the second round. In
/// the same way the last task of a pass makes a worker start the next pass (locality/history/).
template <class... Threads>
void taken_up_again(model::execution& t) {
  struct rounds : board {
    using board::board;
    env::atomic<int> inside{static_cast<int>(sizeof...(Threads)) + 1}, round{0};

    /// True for the first round only, when the second has begun.
    bool leave(int arrivals) {
      int const now = round.load(order::relaxed);  // relaxed: no thread begins the next round before this
      if (inside.fetch_sub(1, order::acq_rel) != 1) {
        while (now == 0 && round.load(order::acquire) == now) env::read_again();
        return now == 0;
      }
      over(arrivals);
      if (now != 0) return false;
      lists.begin_again();
      for (item& i : items) i.payload = 0, i.begun = 0;
      past = 0;
      inside.store(static_cast<int>(sizeof...(Threads)) + 1, order::relaxed);  // relaxed: as the next one publishes it
      round.store(1, order::release);
      return true;
    }
  };
  auto& b = t.make<rounds>(static_cast<std::size_t>((Threads::places + ...)));
  constexpr int arrivals = (Threads::arrivals + ...);
  (t.thread([&b] {
    do {
      Threads::thread(b);
    } while (b.leave(arrivals));
  }),
   ...);
  t.thread([&b] {
    do {
      b.work(arrivals);
    } while (b.leave(arrivals));
  });
}

/// Item and turn come to one place: one of them gets it, and has the turn.
void rendezvous(model::execution& t) {
  auto& b = t.make<board>(std::size_t{2});
  auto const go_on = [&b](item* got) {
    if (b.begin(got)) model::check(b.lists.turn(0) == nullptr, "an item that has not come");
  };
  t.thread([&b, go_on] {
    b.items[0].payload = 7;
    go_on(b.lists.arrive(0, 0, b.items[0]));
  });
  t.thread([&b, go_on] { go_on(b.lists.turn(0)); });
  t.finally([&b] { b.over(1); });
}

// --- a run ---

using completion = heist::detail::basic_completion<env>;

struct fiber;
struct run;

/// At most three workers, as threads; each runs the body when that is put into its queue, until it is told to stop.
struct machine {
  static constexpr std::uint32_t nothing = 0, body = 1, stop = 2;
  struct queue {
    std::array<env::park_word, 8> slots;
    env::atomic<std::size_t> used{0};
  };
  std::array<queue, 3> own;

  /// There is one frame that can resume: the body's.
  void make_runnable_on(std::size_t w, std::uint32_t what = body) {
    env::park_word& slot = own[w].slots[own[w].used.fetch_add(1, order::relaxed)];
    slot.store(what, order::release);
    slot.wake_one();
  }
  void work(std::size_t w, fiber& f);
};

struct slot {
  static constexpr std::size_t no_place = ~std::size_t{0};

  env::plain<run*> of{nullptr};
  env::plain<std::size_t> worker{no_place};
  env::plain<std::size_t> place{no_place};

  void leave(std::size_t w) const noexcept;
  void go_on(fiber& f) const noexcept;
};

/// Where its frame resumes.
struct fiber {
  env::plain<void (*)(fiber&)> go{nullptr};
  env::plain<std::size_t> on{0};
  env::plain<slot const*> where{nullptr};
  env::plain<completion*> awaited{nullptr};
  struct parked_waiter : heist::detail::completion_waiter {
    fiber* self;
  };
  parked_waiter waiter{{&wake}, this};
  struct scene* in = nullptr;

  void make_ready() noexcept {
    slot const& s = *static_cast<slot const*>(where);
    s.go_on(*this);
  }
  static void wake(heist::detail::completion_waiter& w) noexcept { static_cast<parked_waiter&>(w).self->make_ready(); }
  void after_park() noexcept;
};

/// As detail::replay_run, for a strict run.
struct run {
  machine& scheduler;
  heist::detail::turn_lists<fiber, env> lists;
  heist::detail::live_count<env> live;

  run(machine& scheduler, std::vector<std::size_t> const& lengths) : scheduler{scheduler}, lists{lengths} {}

  void give(slot const& s, fiber& f) noexcept {
    std::size_t const w = s.worker;
    if (lists.arrive(w, s.place, f) == nullptr) return;
    begin_on(w, &f);
  }
  void stay(std::size_t w, fiber& f) noexcept { begin_on(w, &f); }
  void turn(std::size_t w) noexcept { begin_on(w, lists.turn(w)); }
  void pass(std::size_t w, std::size_t place) noexcept { begin_on(w, lists.pass(w, place)); }
  void one_less() noexcept {
    if (live.remove()) give_up_order();
  }
  void body_ended() noexcept {
    live.end();
    one_less();
  }
  void finish() noexcept { live.wait_ended(); }

  void begin_on(std::size_t w, fiber* f) noexcept {
    if (f == nullptr) return;
    live.add();
    scheduler.make_runnable_on(w);
  }
  void give_up_order() noexcept {
    if (lists.order_is_off()) model::check(false, "nobody can run, and the order is off");
    live.add();
    lists.begin_anyhow([this](std::size_t w, fiber& f) { begin_on(w, &f); });
    one_less();
  }
};

void slot::leave(std::size_t w) const noexcept {
  if (worker != no_place) static_cast<run*>(of)->turn(w);
}

void slot::go_on(fiber& f) const noexcept {
  run& r = *static_cast<run*>(of);
  if (worker == no_place) {
    r.stay(f.on, f);
  } else {
    r.give(*this, f);
  }
}

void fiber::after_park() noexcept {
  slot const& s = *static_cast<slot const*>(where);
  run& told = *static_cast<run*>(s.of);  // read now: later another worker may run it
  if (!static_cast<completion*>(awaited)->add_entry(waiter)) make_ready();
  told.one_less();
}

/// As detail::counted_join.
struct counted_join {
  env::atomic<std::int64_t> outstanding{0};
  completion all;

  void ended() noexcept {
    if (outstanding.fetch_sub(1, order::acq_rel) == 1) all.complete();
  }
  bool add(std::int64_t children) noexcept {
    return children != 0 && outstanding.fetch_add(children, order::acq_rel) != -children;
  }
};

/// The frame of a run's body. It is gone when the body has ended.
struct frame {
  counted_join first, second;
  slot rest, after_join;
  std::array<env::plain<int>, 4> results;
};

/// One run. The task that entered it resumes on the worker on which the body ends.
struct scene {
  machine scheduler;
  fiber body;
  run* of = nullptr;
  frame* locals = nullptr;
  std::size_t workers = 0;
  bool gives_up = false;

  /// `fiber` calls child number n and gives its rest away: to the place of `w`, where it does `then`. The child `last`
  /// before it ends.
  template <class Last>
  void fork(fiber& f, counted_join& join, std::size_t n, std::size_t w, std::size_t place, void (*then)(fiber&),
            Last&& last) {
    run& r = *of;
    frame& mine = *locals;
    std::size_t const on = f.on;
    mine.rest.of = &r;
    mine.rest.worker = w;
    mine.rest.place = place;
    f.go = then;
    mine.rest.go_on(f);
    mine.results[n] = 7;
    last();
    r.turn(on);
    join.ended();
    r.one_less();
  }
  void fork(fiber& f, counted_join& join, std::size_t n, std::size_t w, std::size_t place, void (*then)(fiber&)) {
    fork(f, join, n, w, place, then, [] {});
  }
  /// It resumes where it is.
  void join(fiber& f, counted_join& join, int children, void (*then)(fiber&)) {
    if (!join.add(children)) return then(f);
    frame& mine = *locals;
    mine.after_join.of = of;
    mine.after_join.worker = slot::no_place;
    park(f, join.all, then);
  }
  /// The body resumes at a place, even if there is no child to wait for.
  void join_and_move(fiber& f, counted_join& join, int children, std::size_t w, std::size_t place,
                     void (*then)(fiber&)) {
    if (!join.add(children)) join.all.complete();
    frame& mine = *locals;
    mine.after_join.of = of;
    mine.after_join.worker = w;
    mine.after_join.place = place;
    park(f, join.all, then);
  }
  /// The same, but there is no stack with which its worker could continue: the body stays.
  void join_and_stay(fiber& f, counted_join& join, int children, std::size_t w, std::size_t place,
                     void (*then)(fiber&)) {
    if (!join.add(children)) join.all.complete();
    while (!join.all.is_ready()) env::read_again();
    of->pass(w, place);
    then(f);
  }
  void park(fiber& f, completion& c, void (*then)(fiber&)) {
    f.where = &locals->after_join;
    f.awaited = &c;
    f.go = then;
    locals->after_join.leave(f.on);
    f.after_park();
  }
  void end_body(int children) {
    for (int i = 0; i < children; ++i)
      model::check(locals->results[static_cast<std::size_t>(i)] == 7, "a join without what its children did");
    model::check(of->lists.order_is_off() == gives_up, "the order was given up, or kept, wrongly");
    delete locals;
    of->body_ended();
    of->finish();
    delete of;
    for (std::size_t w = 0; w < workers; ++w) scheduler.make_runnable_on(w, machine::stop);
  }
};

void machine::work(std::size_t w, fiber& f) {
  for (auto& slot : own[w].slots) {
    std::uint32_t what = nothing;
    while ((what = slot.load(order::acquire)) == nothing) slot.wait(nothing);
    if (what == stop) return;
    f.on = w;
    auto const go = static_cast<void (*)(fiber&)>(f.go);
    go(f);
  }
}

/// A run whose body starts on worker 0 with `Program::start`; the other workers have their turns.
template <class Program>
void runs(model::execution& t) {
  auto& s = t.make<scene>();
  s.workers = Program::lengths().size();
  s.gives_up = Program::gives_up;
  s.of = new run{s.scheduler, Program::lengths()};
  s.locals = new frame;
  s.body.in = &s;
  s.body.go = &Program::start;
  for (std::size_t w = 1; w < s.workers; ++w) s.of->turn(w);
  s.scheduler.make_runnable_on(0);
  for (std::size_t w = 0; w < s.workers; ++w) t.thread([&s, w] { s.scheduler.work(w, s.body); });
}

/// The rest goes to worker 1, and joins there.
struct one_steal {
  static constexpr bool gives_up = false;
  static std::vector<std::size_t> lengths() { return {0, 1}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &rest); }
  static void rest(fiber& f) { f.in->join(f, f.in->locals->first, 1, &end); }
  static void end(fiber& f) { f.in->end_body(1); }
};

/// To worker 1 and back to worker 0, which takes it when the first child has ended.
struct two_steals {
  static constexpr bool gives_up = false;
  static std::vector<std::size_t> lengths() { return {1, 1}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &second); }
  static void second(fiber& f) { f.in->fork(f, f.in->locals->first, 1, 0, 0, &rest); }
  static void rest(fiber& f) { f.in->join(f, f.in->locals->first, 2, &end); }
  static void end(fiber& f) { f.in->end_body(2); }
};

/// The second child does not come to the place of worker 0 before that of the rest.
struct passed {
  static constexpr bool gives_up = false;
  static std::vector<std::size_t> lengths() { return {2, 1}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &second); }
  static void second(fiber& f) {
    run& r = *f.in->of;
    f.in->fork(f, f.in->locals->first, 1, 0, 1, &rest, [&r] { r.pass(0, 0); });
  }
  static void rest(fiber& f) { f.in->join(f, f.in->locals->first, 2, &end); }
  static void end(fiber& f) { f.in->end_body(2); }
};

/// The body resumes at another worker after its join, when its child and that worker's turn have come.
struct moves {
  static constexpr bool gives_up = false;
  static std::vector<std::size_t> lengths() { return {1, 1}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &rest); }
  static void rest(fiber& f) { f.in->join_and_move(f, f.in->locals->first, 1, 0, 0, &end); }
  static void end(fiber& f) { f.in->end_body(1); }
};

/// It parks on worker 0, and resumes at worker 1, behind the rest that was there before.
struct moves_behind {
  static constexpr bool gives_up = false;
  static std::vector<std::size_t> lengths() { return {1, 2}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &second); }
  static void second(fiber& f) { f.in->fork(f, f.in->locals->first, 1, 0, 0, &rest); }
  static void rest(fiber& f) { f.in->join_and_move(f, f.in->locals->first, 2, 1, 1, &end); }
  static void end(fiber& f) { f.in->end_body(2); }
};

/// The body moves though no child is left to wait for, and joins once more there.
struct moves_twice {
  static constexpr bool gives_up = false;
  static std::vector<std::size_t> lengths() { return {1, 2}; }
  static void start(fiber& f) { f.in->join_and_move(f, f.in->locals->first, 0, 1, 0, &second); }
  static void second(fiber& f) { f.in->fork(f, f.in->locals->second, 0, 0, 0, &rest); }
  static void rest(fiber& f) { f.in->join_and_move(f, f.in->locals->second, 1, 1, 1, &end); }
  static void end(fiber& f) { f.in->end_body(1); }
};

/// It joins where it is, keeping its turn there, then moves, and comes back.
struct keeps_its_turn {
  static constexpr bool gives_up = false;
  static std::vector<std::size_t> lengths() { return {1, 2}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &rest); }
  static void rest(fiber& f) { f.in->join(f, f.in->locals->first, 1, &third); }
  static void third(fiber& f) { f.in->fork(f, f.in->locals->second, 1, 0, 0, &last); }
  static void last(fiber& f) { f.in->join_and_move(f, f.in->locals->second, 1, 1, 1, &end); }
  static void end(fiber& f) { f.in->end_body(2); }
};

/// It would move, and stays.
struct stays {
  static constexpr bool gives_up = false;
  static std::vector<std::size_t> lengths() { return {2, 2}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &rest); }
  static void rest(fiber& f) { f.in->join_and_stay(f, f.in->locals->first, 1, 0, 0, &third); }
  static void third(fiber& f) { f.in->fork(f, f.in->locals->second, 1, 0, 1, &last); }
  static void last(fiber& f) { f.in->join_and_move(f, f.in->locals->second, 1, 1, 1, &end); }
  static void end(fiber& f) { f.in->end_body(2); }
};

/// Three workers: the first child of each ends while the rest goes round.
struct goes_round {
  static constexpr bool gives_up = false;
  static std::vector<std::size_t> lengths() { return {1, 2, 1}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &second); }
  static void second(fiber& f) { f.in->fork(f, f.in->locals->first, 1, 2, 0, &third); }
  static void third(fiber& f) { f.in->fork(f, f.in->locals->first, 2, 1, 1, &rest); }
  static void rest(fiber& f) { f.in->join_and_move(f, f.in->locals->first, 3, 0, 0, &end); }
  static void end(fiber& f) { f.in->end_body(3); }
};

/// The rest arrives at the places of worker 0 in reverse order: third, second, first. Before the second, it passes a
/// place that worker 1 waits for.
struct cycle {
  static constexpr bool gives_up = true;
  static std::vector<std::size_t> lengths() { return {3, 2}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &second); }
  static void second(fiber& f) { f.in->fork(f, f.in->locals->first, 1, 0, 2, &third); }
  static void third(fiber& f) {
    f.in->of->pass(1, 1);
    f.in->fork(f, f.in->locals->first, 2, 0, 1, &fourth);
  }
  static void fourth(fiber& f) { f.in->fork(f, f.in->locals->first, 3, 0, 0, &rest); }
  static void rest(fiber& f) { f.in->join(f, f.in->locals->first, 4, &end); }
  static void end(fiber& f) { f.in->end_body(4); }
};

/// The same on three workers; each of them may be the last that runs.
struct cycle_of_three {
  static constexpr bool gives_up = true;
  static std::vector<std::size_t> lengths() { return {0, 4, 1}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &second); }
  static void second(fiber& f) { f.in->fork(f, f.in->locals->first, 1, 2, 0, &third); }
  static void third(fiber& f) {
    run& r = *f.in->of;
    f.in->fork(f, f.in->locals->first, 2, 1, 3, &fourth, [&r] { r.pass(1, 2); });
  }
  static void fourth(fiber& f) { f.in->fork(f, f.in->locals->first, 3, 1, 1, &rest); }
  static void rest(fiber& f) { f.in->join(f, f.in->locals->first, 4, &end); }
  static void end(fiber& f) { f.in->end_body(4); }
};

/// A frame that has moved after its join would have to be there first.
struct cycle_at_join {
  static constexpr bool gives_up = true;
  static std::vector<std::size_t> lengths() { return {0, 3}; }
  static void start(fiber& f) { f.in->fork(f, f.in->locals->first, 0, 1, 0, &second); }
  static void second(fiber& f) { f.in->join_and_move(f, f.in->locals->first, 1, 1, 2, &third); }
  static void third(fiber& f) { f.in->fork(f, f.in->locals->second, 1, 1, 1, &rest); }
  static void rest(fiber& f) { f.in->join(f, f.in->locals->second, 1, &end); }
  static void end(fiber& f) { f.in->end_body(2); }
};

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const two{.config = {.preemptions = 2}};

  all.verify("turns: item and turn at one place", three, rendezvous);
  all.verify("turns: 2 arrive", three, taken_up<by<0>, by<1>>);
  all.verify("turns: 2 arrive, the later place first", three, taken_up<by<1, 0>, by<2>>);
  all.verify("turns: the first is passed", three, taken_up<by<pass(0)>, by<1>>);
  all.verify("turns: the first two are passed", three, taken_up<by<pass(0)>, by<pass(1)>, by<2>>);
  all.verify("turns: the last two are passed", three, taken_up<by<0, pass(2)>, by<pass(1)>>);
  all.verify("turns: passed in between", three, taken_up<by<pass(2), 0>, by<3, pass(1)>>);

  all.verify("turns: 1 arrives, twice over", three, taken_up_again<by<0>>);
  all.verify("turns: 1 arrives, 1 is passed, twice over", three, taken_up_again<by<pass(0), 1>>);
  all.verify("turns: 2 arrive, twice over", two, taken_up_again<by<0>, by<1>>);

  all.verify("run: 1 steal", three, runs<one_steal>);
  all.verify("run: 2 steals", three, runs<two_steals>);
  all.verify("run: a place is passed", three, runs<passed>);
  all.verify("run: moves after its join", three, runs<moves>);
  all.verify("run: moves after its join, behind another", three, runs<moves_behind>);
  all.verify("run: moves twice", three, runs<moves_twice>);
  all.verify("run: joins where it is, moves, comes back", three, runs<keeps_its_turn>);
  all.verify("run: stays for want of a stack", three, runs<stays>);
  all.verify("run: 3 workers", two, runs<goes_round>);
  all.verify("run: the order cannot be kept", three, runs<cycle>);
  all.verify("run: the order cannot be kept, 3 workers", three, runs<cycle_of_three>);
  all.verify("run: the order cannot be kept after a join", three, runs<cycle_at_join>);
  return all.finish();
}
