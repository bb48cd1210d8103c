// Notes about waits: a note stays while texts are made, and a thread that adds a note does not wait for the texts.
#include <heist/core/observe/outside_waits.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

namespace {

using heist::detail::outside_note;
using heist::detail::outside_waits;

/// Its text is made until go_on is true.
struct slow_note : outside_note {
  slow_note() {
    text = [](outside_note const& self) {
      auto const& me = static_cast<slow_note const&>(self);
      me.is_read = true;
      while (!me.go_on) std::this_thread::yield();
      return std::string{"slow"};
    };
  }
  mutable std::atomic<bool> is_read{false};
  std::atomic<bool> go_on{false};
};

/// Its text has its name, as long as it lives.
struct named_note : outside_note {
  named_note() {
    text = [](outside_note const& self) { return static_cast<named_note const&>(self).name; };
  }
  std::string name = "a name that is longer than what a string keeps in itself";
};

}  // namespace

TEST_CASE("outside notes: a note stays while texts are made, and others are added", "[observe]") {
  heist_test::watchdog guard{"notes", std::chrono::seconds{60}, [] { return std::string{}; }};
  outside_waits notes;
  slow_note slow;
  named_note early;
  notes.add(early);
  notes.add(slow);
  std::string text;
  std::thread reads{[&] { text = notes.text(100); }};
  while (!slow.is_read) std::this_thread::yield();
  named_note late;
  notes.add(late);
  CHECK(outside_waits::reader{notes}.first == &late);
  CHECK_FALSE(notes.empty());
  std::atomic<bool> removed{false};
  std::thread removes{[&] {
    notes.remove(early);
    removed = true;
  }};
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  CHECK_FALSE(removed);
  slow.go_on = true;
  removes.join();
  reads.join();
  CHECK(text == "  slow\n  " + early.name + "\n");
  CHECK(notes.text(100) == "  " + late.name + "\n  slow\n");
  CHECK(notes.text(1) == "  " + late.name + "\n");
  notes.remove(late);
  notes.remove(slow);
  CHECK(notes.empty());
}

TEST_CASE("outside notes: they come and go while two threads make texts", "[observe]") {
  heist_test::watchdog guard{"notes", std::chrono::seconds{60}, [] { return std::string{}; }};
  outside_waits notes;
  std::atomic<bool> over{false};
  auto const read = [&] {
    while (!over) {
      static_cast<void>(notes.text(100));
      std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
  };
  auto const come_and_go = [&] {
    for (int i = 0; i != 1000; ++i) {
      named_note one;
      notes.add(one);
      named_note two;
      notes.add(two);
      notes.remove(one);
      notes.remove(two);
    }
  };
  std::thread first{read}, second{read}, third{come_and_go};
  come_and_go();
  third.join();
  over = true;
  first.join();
  second.join();
  CHECK(notes.empty());
}
