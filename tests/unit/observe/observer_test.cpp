// heist/core/observe/observer.hpp: the concept, null_observer, tee.
#include "heist/core/observe/observer.hpp"

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "heist/tools/observe/counters.hpp"
#include "heist/tools/observe/recorder.hpp"
#include "support/catch.hpp"

namespace {

/// Writes down every call.
struct diary {
  static constexpr bool observes = true;
  std::vector<std::string> lines;
  std::string title;

  diary() = default;
  explicit diary(std::string t) : title(std::move(t)) {}

  void start(std::size_t workers) { lines.push_back("start " + std::to_string(workers)); }
  void task_begin(std::size_t w, heist::task_view const& t) noexcept { add("begin", w, t.name); }
  void task_end(std::size_t w, heist::task_view const& t) noexcept { add("end", w, t.name); }
  void steal(std::size_t w, std::size_t v) noexcept { add("steal", w, std::to_string(v).c_str()); }
  void sleep(std::size_t w) noexcept { add("sleep", w, ""); }
  void wake(std::size_t w) noexcept { add("wake", w, ""); }
  void park(std::size_t w, void const*) noexcept { add("park", w, ""); }
  void resume(std::size_t w, void const*) noexcept { add("resume", w, ""); }

  void add(char const* what, std::size_t w, char const* more) {
    lines.push_back(std::string(what) + " " + std::to_string(w) + " " + more);
  }
};

/// Cares for steals only.
struct steals_only : heist::null_observer {
  static constexpr bool observes = true;
  std::size_t count = 0;
  void steal(std::size_t, std::size_t) noexcept { ++count; }
};

struct may_throw : heist::null_observer {
  void sleep(std::size_t) {}
};

struct immovable : heist::null_observer {
  static constexpr bool observes = true;
  int value;
  explicit immovable(int v) : value(v) {}
  immovable(immovable const&) = delete;
  immovable& operator=(immovable const&) = delete;
};

template <heist::observer O>
void notify_all(O& o) {
  heist::task_view const t{heist::task_kind::task, &o, "t"};
  o.start(2);
  o.task_begin(0, t);
  o.park(0, &o);
  o.resume(1, &o);
  o.task_end(1, t);
  o.steal(1, 0);
  o.sleep(1);
  o.wake(1);
}

static_assert(heist::observer<diary>);
static_assert(heist::observer<steals_only>);
static_assert(!heist::observer<may_throw>);
static_assert(!heist::observer<int>);
static_assert(heist::observer<heist::tee<heist::recorder, heist::counters>>);
static_assert(heist::observer<heist::tee<diary, heist::tee<steals_only, heist::null_observer>>>);
static_assert(heist::tee<heist::null_observer, diary>::observes);

}  // namespace

TEST_CASE("tee_tells_both_everything") {
  heist::tee<diary, diary> both;
  notify_all(both);
  std::vector<std::string> const expected{"start 2", "begin 0 t", "park 0 ",  "resume 1 ",
                                          "end 1 t", "steal 1 0", "sleep 1 ", "wake 1 "};
  CHECK(both.first.lines == expected);
  CHECK(both.second.lines == expected);
}

TEST_CASE("tee_is_made_from_values_or_in_place") {
  heist::tee<diary, steals_only> moved(diary("a"), steals_only{});
  CHECK(moved.first.title == "a");
  notify_all(moved);
  CHECK(moved.second.count == 1);
  heist::tee<immovable, diary> placed(std::piecewise_construct, std::tuple(7), std::tuple("b"));
  CHECK(placed.first.value == 7);
  CHECK(placed.second.title == "b");
  notify_all(placed);
}

TEST_CASE("null_observer_takes_every_call") {
  heist::null_observer nothing;
  notify_all(nothing);
  CHECK_FALSE(heist::null_observer::observes);
}

TEST_CASE("every_kind_has_a_name") {
  CHECK(std::string(to_string(heist::task_kind::task)) == "task");
  CHECK(std::string(to_string(heist::task_kind::multi_condition)) == "multi_condition");
  CHECK(std::string(to_string(heist::task_kind::other)) == "other");
}
