// A list that a worker walks without a lock while other threads use, give back and use again its entries.
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/open_list.hpp"

#include <array>
#include <cstddef>

#include "engine/suite.hpp"

namespace {

using model::env;
using order = std::memory_order;

struct entry : heist::detail::open_link<env, entry> {
  env::plain<int> number{0};  ///< written before it is added
  env::plain<int> user{0};    ///< the thread that uses it
  env::atomic<int> is_open{0};
};

struct stage {
  heist::detail::open_list<entry, env> list;
  std::array<std::array<entry, 2>, 3> entries;  ///< of each thread

  entry& use(int who, int time = 0) {
    entry* e = list.acquire();
    if (e == nullptr) {
      e = &entries[static_cast<std::size_t>(who)][static_cast<std::size_t>(time)];
      e->number = who + 1;
      list.add(*e);
    }
    model::check(e->user == 0, "an entry has two users");
    e->user = who + 1;
    return *e;
  }
  void give_back(entry& e) {
    e.user = 0;
    list.give_back(e);
  }
};

/// One entry stays open. Another thread uses entries before, behind and in its place. A walk meets the open one.
template <int Rounds>
void walk_meets_all(model::execution& t) {
  auto& s = t.make<stage>();
  // The open one is in the middle: one is younger, one older.
  entry* const older = &s.use(0);
  entry& open = s.use(1);
  entry* const newer = &s.use(2);
  open.is_open.store(1, order::relaxed);
  t.thread([&s, older] {
    s.give_back(*older);
    for (int i = 0; i != Rounds; ++i) s.give_back(s.use(0, 1));
  });
  t.thread([&s, newer] {
    s.give_back(*newer);
    for (int i = 0; i != Rounds; ++i) s.give_back(s.use(2, 1));
  });
  t.thread([&s, &open] {
    entry* const found = s.list.find([](entry& e) {
      model::check(e.number != 0, "an entry is not complete");
      return e.is_open.load(order::relaxed) != 0;
    });
    model::check(found == &open, "an entry is passed over");
  });
}

/// A walk stands on an entry that is removed, and used again in front of a new one.
void walk_stands_still(model::execution& t) {
  auto& s = t.make<stage>();
  entry& open = s.use(0);
  entry& kept = s.use(1);
  entry& moved = s.use(2);
  open.is_open.store(1, order::relaxed);
  s.give_back(kept);
  t.thread([&s, &moved] {
    s.give_back(moved);
    entry& unused = s.entries[0][1];
    unused.number = 1;
    s.list.add(unused);
    entry& first = s.use(1);
    entry& again = s.use(2);
    s.give_back(first);
    s.give_back(again);
  });
  t.thread([&s, &open] {
    entry* const found = s.list.find([](entry& e) {
      model::check(e.number != 0, "an entry is not complete");
      return e.is_open.load(order::relaxed) != 0;
    });
    model::check(found == &open, "an entry is passed over");
  });
}

/// Threads use entries at the same time: each has one user, and none is lost.
template <int Threads, int Rounds>
void users(model::execution& t) {
  auto& s = t.make<stage>();
  for (int i = 0; i < Threads; ++i) {
    t.thread([&s, i] {
      for (int k = 0; k != Rounds; ++k) s.give_back(s.use(i, k));
    });
  }
  t.finally([&s] {
    int listed = 0, all = 0;
    s.list.find([&listed](entry&) { return ++listed, false; });
    model::check(listed == 1, "what nobody uses is in the list, but for one");
    s.list.clear([&all](entry&) { ++all; });
    int added = 0;
    for (auto& of : s.entries) {
      for (entry& e : of) added += e.number != 0;
    }
    model::check(all == added, "an entry is lost or there twice");
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  all.merge();
  model::limits const three{.config = {.preemptions = 3, .odd_failures = 0}};
  all.verify("open list: a walk beside two users", three, walk_meets_all<1>);
  all.verify("open list: a walk that stands on what is moved", three, walk_stands_still);
  all.verify("open list: 2 users, twice", three, users<2, 2>);
  all.verify("open list: 3 users", three, users<3, 1>);
  return all.finish();
}
