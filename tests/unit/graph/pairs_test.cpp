// Every feature of graphs with every other: one around the other, both side by side, and as the run from outside. A
// serial walk over the same features gives the expected behaviour of a pair. The table of pairs is in tests/README.md.
#include <heist/heist.hpp>
#include <heist/observe.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

namespace {

/// The entries of ordered tasks, one after the other; not atomic, so that ThreadSanitizer sees a missing edge.
using journal = std::vector<std::string>;

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Counts the begins and ends of tasks, those of graphs by name; not of what else workers do, of which nothing is
/// promised.
struct teller : heist::null_observer {
  static constexpr bool observes = true;
  struct counts {
    int begun = 0, ended = 0;
  };
  std::mutex lock;
  std::map<std::string, counts> by_name;
  std::atomic<int> open{0};

  void task_begin(std::size_t, heist::task_view const& t) noexcept {
    if (t.kind != heist::task_kind::other) ++open;
    std::scoped_lock const guard{lock};
    if (t.name != nullptr) ++by_name[t.name].begun;
  }
  void task_end(std::size_t, heist::task_view const& t) noexcept {
    {
      std::scoped_lock const guard{lock};
      if (t.name != nullptr) ++by_name[t.name].ended;
    }
    if (t.kind != heist::task_kind::other) --open;
  }
};

/// The executor under test, whatever its type.
struct scheduler {
  virtual ~scheduler() = default;
  virtual heist::graph_run run(heist::task_graph& g, std::stop_token t) = 0;
  virtual heist::graph_run run_with(heist::task_graph& g, std::stop_token t, std::function<void()> callback) = 0;
  virtual heist::graph_run run_n(heist::task_graph& g, std::size_t n, std::stop_token t) = 0;
  virtual heist::graph_run run_until(heist::task_graph& g, std::function<bool()> done, std::stop_token t) = 0;
  virtual void wait_for_another() = 0;
  virtual void wait_idle() = 0;
};
template <class Executor>
struct scheduler_of final : scheduler {
  Executor ex;
  explicit scheduler_of(std::size_t workers) : ex{workers} {}
  heist::graph_run run(heist::task_graph& g, std::stop_token t) override { return ex.run(g, heist::with{.stop = t}); }
  heist::graph_run run_with(heist::task_graph& g, std::stop_token t, std::function<void()> callback) override {
    return ex.run(g, heist::with{.stop = t}, std::move(callback));
  }
  heist::graph_run run_n(heist::task_graph& g, std::size_t n, std::stop_token t) override {
    return ex.run_n(g, n, heist::with{.stop = t});
  }
  heist::graph_run run_until(heist::task_graph& g, std::function<bool()> done, std::stop_token t) override {
    return ex.run_until(g, std::move(done), heist::with{.stop = t});
  }
  void wait_for_another() override {
    ex.submit([] {}).wait();
  }
  void wait_idle() override { ex.wait_idle(); }
};

/// The data that all tasks of a pair share. Graphs and limiters keep their addresses.
struct program {
  program(scheduler& h, heist::executor<>& o) : at{h}, other{o} {}

  scheduler& at;
  heist::executor<>& other;
  bool armed = true;  ///< do those that throw or stop do so?
  std::stop_source stop;
  std::mutex stopping;  ///< a second request_stop() would return before the first one has reached the run
  std::deque<heist::task_graph> graphs;
  std::deque<heist::limiter> limiters;
  std::atomic<int> made{0}, gone{0};  ///< objects whose destructors wait

  heist::task_graph& new_graph() { return graphs.emplace_back(); }
};

/// The graph for a feature's tasks, and the journal that they write.
struct place {
  program* p;
  heist::task_graph* g;
  journal* seen;
};
/// All between the two comes after the one and before the other.
struct span {
  heist::task<> first, last;
};
using inside = std::function<span(place)>;

/// The serial walk: the expected journal, and the tasks that observers must be notified of.
struct model {
  bool armed;
  bool at_its_scheduler = true;  ///< on the executor that is observed?
  journal seen;
  struct bounds {
    int least = 0, most = 0;
  };
  std::map<std::string, bounds> told;

  void may_tell(std::string const& name) { told[name].most += at_its_scheduler; }
  void has_told(std::string const& name) { told[name].least += at_its_scheduler; }
  void tell(std::string const& name) { may_tell(name), has_told(name); }
  void step(std::string const& what) { tell(what), seen.push_back(what); }
};
using steps = std::function<void(model&)>;
struct cut_by_stop {};

span step(place at, std::string const& what) {
  auto t = at.g->emplace([seen = at.seen, what] { seen->push_back(what); }).name(what);
  return {t, t};
}
/// Puts `within` between two steps.
span between(place at, span within, std::string const& before, std::string const& after) {
  span const a = step(at, before), b = step(at, after);
  within.first.succeed(a.last);
  within.last.precede(b.first);
  return {a.first, b.last};
}

struct feature {
  char const* name;
  // Tasks in a graph, with others within ...
  span (*build)(place, inside const&) = nullptr;
  void (*walk)(model&, steps const&) = nullptr;
  // ... or a way to run a graph, in a task or, without a context, from outside. Returns a number to be written down.
  int (*run)(place, heist::context const*, heist::task_graph&) = nullptr;
  int (*walk_run)(model&, steps const&) = nullptr;
  bool from_outside = false;
};

/// An object whose destructor waits for the executor and for the other one.
class waits_at_end {
 public:
  explicit waits_at_end(program& p) : p_{p} { ++p.made; }
  waits_at_end(waits_at_end const&) = delete;
  waits_at_end& operator=(waits_at_end const&) = delete;
  ~waits_at_end() {
    p_.at.wait_for_another();
    p_.other.submit([] { heist_test::yield(); }).wait();
    ++p_.gone;
  }

 private:
  program& p_;
};

constexpr char long_name[] = "a name that is long enough not to fit into a short string, twice over and more";
constexpr char quoted_name[] = "a \"name\"\n\\ with -> what pictures quote";

// ---- tasks in a graph ----

feature const conditions{"a loop",
                         [](place at, inside const& within) {
                           auto turns = std::make_shared<int>(0);
                           auto enter = at.g->emplace([turns] { *turns = 0; }).name("loop: enter");
                           span const body = between(at, within(at), "loop: body", "loop: turn");
                           auto c =
                               at.g->emplace_condition([turns] { return ++*turns == 2 ? 1 : 0; }).name("loop: again?");
                           span const leave = step(at, "loop: leave");
                           enter.precede(body.first);
                           c.succeed(body.last).precede(body.first, leave.first);
                           return span{enter, leave.last};
                         },
                         [](model& m, steps const& within) {
                           m.tell("loop: enter");
                           for (int turn = 0; turn != 2; ++turn) {
                             m.step("loop: body");
                             within(m);
                             m.step("loop: turn");
                             m.tell("loop: again?");
                           }
                           m.step("loop: leave");
                         }};
feature const multi_conditions{
    "a condition that chooses several",
    [](place at, inside const& within) {
      auto slot = std::make_shared<int>(0);
      auto choose = at.g->emplace_multi_condition([slot] { return *slot = 0, std::vector<int>{0, 2}; }).name("choose");
      span chosen = step(at, "chosen"), inner = within(at);
      auto not_chosen = at.g->emplace([seen = at.seen] { seen->push_back("not to be"); }).name("not chosen");
      auto beside = at.g->emplace([slot] { *slot = 1; }).name("chosen, too");
      auto join = at.g->emplace([slot, seen = at.seen] { seen->push_back("joined " + std::to_string(*slot)); })
                      .name("chosen: join");
      choose.precede(chosen.first, not_chosen, beside);
      inner.first.succeed(chosen.last);
      join.succeed(inner.last, beside);
      return span{choose, join};
    },
    [](model& m, steps const& within) {
      m.tell("choose");
      m.may_tell("chosen, too");
      m.step("chosen");
      within(m);
      m.has_told("chosen, too");
      m.tell("chosen: join");
      m.seen.push_back("joined 1");
    }};

feature const composition{"a composed graph",
                          [](place at, inside const& within) {
                            auto& inner = at.p->new_graph();
                            static_cast<void>(within({at.p, &inner, at.seen}));
                            auto t = at.g->compose(inner).name("composed");
                            return between(at, {t, t}, "composed: before", "composed: after");
                          },
                          [](model& m, steps const& within) {
                            m.step("composed: before");
                            m.tell("composed");
                            within(m);
                            m.step("composed: after");
                          }};

feature const limiters{
    "limiters",
    [](place at, inside const& within) {
      auto& one = at.p->limiters.emplace_back(1u);
      auto& two = at.p->limiters.emplace_back(2u);
      auto sum = std::make_shared<int>(0);
      auto enter = at.g->emplace([sum] { *sum = 0; }).acquire(two, 2).name("limiter: enter");
      auto gather = at.g->emplace([sum, seen = at.seen] { seen->push_back("limited " + std::to_string(*sum)); })
                        .name("limiter: gather");
      for (int i = 0; i != 4; ++i)
        at.g->emplace([sum] { ++*sum; }).limit(one).name("limited").succeed(enter).precede(gather);
      span inner = within(at), leave = step(at, "limiter: leave");
      leave.last.release(two, 2);
      inner.first.succeed(gather);
      inner.last.precede(leave.first);
      return span{enter, leave.last};
    },
    [](model& m, steps const& within) {
      m.tell("limiter: enter");
      for (int i = 0; i != 4; ++i) m.tell("limited");
      m.tell("limiter: gather");
      m.seen.push_back("limited 4");
      within(m);
      m.step("limiter: leave");
    }};

feature const values{
    "values along edges",
    [](place at, inside const& within) {
      auto number = at.g->emplace([seen = at.seen] { return seen->size(); }).name("value: a number");
      auto text = at.g->emplace([](std::size_t const& n) { return std::make_unique<std::string>(n % 7, 'v'); }, number)
                      .name("value: a text");
      span inner = within(at);
      auto take = at.g->emplace(
                          [seen = at.seen](std::size_t const& n, std::unique_ptr<std::string> const& s) {
                            seen->push_back("values " + std::to_string(n) + *s);
                          },
                          number, text)
                      .name("value: take");
      inner.first.succeed(text);
      inner.last.precede(take);
      return span{number, take};
    },
    [](model& m, steps const& within) {
      m.tell("value: a number");
      std::size_t const n = m.seen.size();
      m.tell("value: a text");
      within(m);
      m.tell("value: take");
      m.seen.push_back("values " + std::to_string(n) + std::string(n % 7, 'v'));
    }};

feature const exceptions{"an exception",
                         [](place at, inside const& within) {
                           auto t = at.g->emplace([p = at.p] {
                                          if (p->armed) throw failure{"on purpose"};
                                        })
                                        .name("throws");
                           span inner = within(at), after = step(at, "throws: after");
                           t.succeed(inner.last).precede(after.first);
                           return span{inner.first, after.last};
                         },
                         [](model& m, steps const& within) {
                           within(m);
                           m.tell("throws");
                           if (m.armed) throw failure{"on purpose"};
                           m.step("throws: after");
                         }};

feature const stops{"a stop",
                    [](place at, inside const& within) {
                      auto t = at.g->emplace([p = at.p] {
                                     if (!p->armed) return;
                                     std::lock_guard const guard{p->stopping};
                                     p->stop.request_stop();
                                   })
                                   .name("stops");
                      span inner = within(at), after = step(at, "stops: after");
                      t.succeed(inner.last).precede(after.first);
                      return span{inner.first, after.last};
                    },
                    [](model& m, steps const& within) {
                      within(m);
                      m.tell("stops");
                      if (m.armed) throw cut_by_stop{};
                      m.step("stops: after");
                    }};

feature const names{"names",
                    [](place at, inside const& within) {
                      span around = between(at, within(at), long_name, quoted_name);
                      auto handle = std::make_shared<heist::task<>>();
                      *handle = at.g->emplace([handle, seen = at.seen] { seen->push_back(handle->name()); });
                      handle->name("soon another").name("its own name").succeed(around.last);
                      auto nameless = at.g->emplace([seen = at.seen] { seen->push_back("nameless"); });
                      nameless.succeed(*handle);
                      std::ostringstream drawing;
                      at.g->dot(drawing);
                      return span{around.first, nameless};
                    },
                    [](model& m, steps const& within) {
                      m.step(long_name);
                      within(m);
                      m.step(quoted_name);
                      m.step("its own name");
                      m.seen.push_back("nameless");
                    }};

// ---- ways to run a graph ----

/// As run.get(), which throws where the run was stopped.
void get_or_stopped(heist::graph_run const& run) {
  try {
    run.get();
  } catch (heist::stopped_error const&) {
    if (!run.stopped()) throw;
  }
}

void run_below(program const& p, heist::context const& c, heist::task_graph& g) {
  get_or_stopped(c.run(g, heist::with{.stop = p.stop.get_token()}));
}

feature const subflow{.name = "a graph run by a task",
                      .run =
                          [](place at, heist::context const* c, heist::task_graph& g) {
                            auto const run = c->run(g, heist::with{.stop = at.p->stop.get_token()});
                            get_or_stopped(run);
                            return static_cast<int>(run.stopped());
                          },
                      .walk_run = [](model& m, steps const& within) { return within(m), 0; }};

feature const forks{.name = "forks",
                    .run =
                        [](place at, heist::context const* c, heist::task_graph& g) {
                          int one = 0, two = 0, three = 0;
                          c->fork_join([&] { one = 1; }, [&](heist::context d) { run_below(*at.p, d, g); },
                                       [&](heist::context d) { d.fork_join([&] { two = 2; }, [&] { three = 4; }); });
                          return one + two + three;
                        },
                    .walk_run = [](model& m, steps const& within) { return within(m), 7; }};

feature const scopes{.name = "scopes",
                     .run =
                         [](place at, heist::context const* c, heist::task_graph& g) {
                           std::array<int, 5> slots{};
                           heist::scope s{*c};
                           for (int i = 0; i != 5; ++i) {
                             s.fork([&slots, i] { slots[static_cast<std::size_t>(i)] = 1 << i; });
                             if (i == 2) s.fork([at, &g](heist::context d) { run_below(*at.p, d, g); });
                           }
                           s.join();
                           return slots[0] + slots[1] + slots[2] + slots[3] + slots[4];
                         },
                     .walk_run = [](model& m, steps const& within) { return within(m), 31; }};

feature const asyncs{.name = "asyncs",
                     .run =
                         [](place at, heist::context const* c, heist::task_graph& g) {
                           std::vector<heist::future<int>> all;
                           for (int i = 0; i != 4; ++i) all.push_back(c->submit([i] { return 1 << i; }));
                           auto runs = c->submit([at, &g](heist::context d) { run_below(*at.p, d, g); });
                           runs.wait();
                           int sum = 0;
                           for (auto& f : all) sum += f.get();
                           runs.get();
                           return sum;
                         },
                     .walk_run = [](model& m, steps const& within) { return within(m), 15; }};

template <class Walk>
int at_its_scheduler(model& m, bool scheduler, Walk walk) {
  bool const before = std::exchange(m.at_its_scheduler, scheduler);
  try {
    int const n = walk();
    m.at_its_scheduler = before;
    return n;
  } catch (...) {
    m.at_its_scheduler = before;
    throw;
  }
}

feature const several_runs{
    .name = "run_n",
    .run =
        [](place at, heist::context const*, heist::task_graph& g) {
          auto const run = at.p->at.run_n(g, 2, at.p->stop.get_token());
          get_or_stopped(run);
          return static_cast<int>(run.stopped());
        },
    .walk_run = [](model& m,
                   steps const& within) { return at_its_scheduler(m, true, [&] { return within(m), within(m), 0; }); },
    .from_outside = true};

feature const runs_until{.name = "run_until",
                         .run =
                             [](place at, heist::context const*, heist::task_graph& g) {
                               int asked = 0;
                               auto const run = at.p->at.run_until(
                                   g, [&] { return ++asked == 3; }, at.p->stop.get_token());
                               get_or_stopped(run);
                               return run.stopped() ? 0 : asked;
                             },
                         .walk_run =
                             [](model& m, steps const& within) {
                               return at_its_scheduler(m, true, [&] { return within(m), within(m), within(m), 3; });
                             },
                         .from_outside = true};

feature const callbacks{.name = "a callback",
                        .run =
                            [](place at, heist::context const*, heist::task_graph& g) {
                              auto const run = at.p->at.run_with(g, at.p->stop.get_token(),
                                                                 [seen = at.seen] { seen->push_back("called back"); });
                              get_or_stopped(run);
                              return 0;
                            },
                        .walk_run =
                            [](model& m, steps const& within) {
                              return at_its_scheduler(m, true, [&] {
                                try {
                                  within(m);
                                } catch (...) {
                                  m.seen.push_back("called back");
                                  throw;
                                }
                                m.seen.push_back("called back");
                                return 0;
                              });
                            },
                        .from_outside = true};

feature const remote{
    .name = "another executor",
    .run =
        [](place at, heist::context const*, heist::task_graph& g) {
          at.p->other.submit([at, &g](heist::context d) { run_below(*at.p, d, g); }).get();
          return 0;
        },
    .walk_run = [](model& m, steps const& within) { return at_its_scheduler(m, false, [&] { return within(m), 0; }); }};

feature const stays{.name = "no_migrate",
                    .run =
                        [](place at, heist::context const* c, heist::task_graph& g) {
                          auto const thread = std::this_thread::get_id();
                          heist::no_migrate const guard;
                          c->fork_join([] {}, [] { heist_test::yield(); });
                          run_below(*at.p, *c, g);
                          return static_cast<int>(thread == std::this_thread::get_id());
                        },
                    .walk_run = [](model& m, steps const& within) { return within(m), 1; }};

feature const destructors{.name = "destructors that wait",
                          .run =
                              [](place at, heist::context const* c, heist::task_graph& g) {
                                auto const own = [at] { return std::make_shared<waits_at_end>(*at.p); };
                                {
                                  heist::task_graph local;  // its captures and values go with it, in this task
                                  auto made = local.emplace(own);
                                  local.emplace([o = own()](auto const&) {}, made);
                                  c->run(local).get();
                                }
                                c->submit([o = own(), at, &g](heist::context d) { run_below(*at.p, d, g); }).get();
                                c->fork_join([o = own()] {}, [] {});
                                return 0;
                              },
                          .walk_run = [](model& m, steps const& within) { return within(m), 0; }};

constexpr std::array all_features{
    &conditions, &multi_conditions, &composition, &limiters,   &values,      &subflow,
    &forks,      &scopes,           &asyncs,      &exceptions, &stops,       &several_runs,
    &runs_until, &callbacks,        &remote,      &stays,      &destructors, &names};

// ---- pairs ----

span build(feature const& f, place at, inside const& within) {
  if (f.build != nullptr) return f.build(at, within);
  auto& g = at.p->new_graph();
  static_cast<void>(within({at.p, &g, at.seen}));
  auto t = at.g->emplace([&f, at, &g](heist::context c) {
                 int const n = f.run(at, &c, g);
                 at.seen->push_back(f.name + (at.p->stop.stop_requested() ? ", stopped" : " " + std::to_string(n)));
               })
               .name(f.name);
  return {t, t};
}

void walk(feature const& f, model& m, steps const& within) {
  if (f.build != nullptr) return f.walk(m, within);
  m.tell(f.name);
  int n = 0;
  try {
    n = f.walk_run(m, within);
  } catch (cut_by_stop) {  // the task itself resumes
    m.seen.push_back(std::string{f.name} + ", stopped");
    throw;
  }
  m.seen.push_back(std::string{f.name} + " " + std::to_string(n));
}

span leaf(place at) {
  return step(at, "inmost");
}
void walk_leaf(model& m) {
  m.step("inmost");
}

std::string lines_of(journal const& j) {
  std::string out;
  for (auto const& s : j) (out += "\n    ") += s;
  return out;
}
/// Is `part` a subsequence of `whole`, as a run that was cut leaves it? An entry of a stopped run may say ", stopped"
/// instead of its number.
bool is_part_of(journal const& part, journal const& whole) {
  std::size_t at = 0;
  for (auto const& s : whole) {
    if (at == part.size()) break;
    auto const comma = part[at].find(", stopped");
    bool const alike = comma == std::string::npos ? part[at] == s : s.compare(0, comma, part[at], 0, comma) == 0;
    at += alike ? 1u : 0u;
  }
  return at == part.size();
}

enum class layout_key { around, outside, beside };
constexpr std::array layout_key_names{" around ", ", from outside, of ", " beside "};

/// Two features as a program that can be run again and again, and what must come of it.
class pair_of {
 public:
  pair_of(feature const& a, feature const& b, layout_key how, scheduler& at, heist::executor<>& other)
      : a_{a}, b_{b}, how_{how}, p_{at, other} {
    place const one{&p_, &graph_, &seen_[0]}, two{&p_, &graph_, &seen_[1]};
    inside const of_b = [this](place where) { return build(b_, where, leaf); };
    if (how == layout_key::outside) {
      static_cast<void>(of_b(one));
      return;
    }
    auto end = step(one, "the end").first;
    end.succeed(build(a, one, how == layout_key::around ? of_b : inside{leaf}).last);
    if (how == layout_key::beside) end.succeed(of_b(two).last);
  }

  /// Runs once; returns a text of the errors. `tells`: the executor's observer, or null.
  std::string run(bool armed, teller* tells) {
    p_.armed = armed;
    p_.stop = {};
    seen_ = {};
    if (tells != nullptr) {
      std::scoped_lock const guard{tells->lock};
      tells->by_name.clear();
    }
    std::string threw;
    bool stopped = false;
    try {
      if (how_ == layout_key::outside) {
        static_cast<void>(a_.run({&p_, &graph_, &seen_[0]}, nullptr, graph_));
        stopped = p_.stop.stop_requested();
      } else {
        auto const run = p_.at.run(graph_, p_.stop.get_token());
        run.wait();
        stopped = run.stopped();
        get_or_stopped(run);
      }
    } catch (failure const& e) {
      threw = e.what();
    } catch (std::exception const& e) {
      threw = std::string{"something else: "} + e.what();
    }
    return expect(armed)(*this, threw, stopped, tells);
  }
  /// Each object whose destructor waits has been destroyed once, when the graphs are gone.
  static std::string end(std::unique_ptr<pair_of> pair) {
    auto& p = pair->p_;
    for (auto const& l : p.limiters) {
      if (l.available() != l.max()) return "\n  a limiter was not given back";
    }
    pair->graph_.clear();
    p.graphs.clear();
    p.at.wait_idle();
    return p.made == p.gone ? "" : "\n  of " + std::to_string(p.made) + " objects " + std::to_string(p.gone) + " went";
  }

 private:
  /// The expected outcome of a run.
  struct expected {
    std::array<model, 2> of;
    std::string threw;
    bool stopped = false;

    bool cut() const { return stopped || !threw.empty(); }

    void walk(model& m, steps const& all) {
      try {
        all(m);
      } catch (failure const& e) {
        threw = e.what();
      } catch (cut_by_stop) {
        stopped = true;
      }
    }

    std::string operator()(pair_of const& was, std::string const& thrown, bool was_stopped, teller* tells) const {
      std::string out;
      bool const beside = was.how_ == layout_key::beside;
      // Side by side, either may be cut before the other gets so far.
      bool const either = beside && stopped && !threw.empty();
      if (thrown != threw && !(either && thrown.empty())) out += "\n  threw '" + thrown + "', not '" + threw + "'";
      if (was_stopped != stopped && !(either && !was_stopped)) out += "\n  stopped, or not, wrongly";
      for (std::size_t i = 0; i != (beside ? 2u : 1u); ++i) {
        journal is = was.seen_[i];
        journal const& must = of[i].seen;
        // An exception of the other feature stops the runs that a task waits for, so the results of these runs are
        // unknown.
        if (beside && cut()) {
          std::erase_if(is, [&](std::string const& line) {
            return line.starts_with(was.a_.name + std::string{" "}) || line.starts_with(was.b_.name + std::string{" "});
          });
        }
        if (beside && cut() ? is_part_of(is, must) : is == must) continue;
        out += "\n  left" + lines_of(is) + "\n  and not" + lines_of(must);
      }
      // Tasks that are skipped may be told, too: at most those of a run that nothing cuts.
      if (tells != nullptr) out += told(*tells, cut() ? was.expect(false) : *this, beside && cut());
      return out;
    }

    std::string told(teller& tells, expected const& most, bool in_part) const {
      std::string out;
      std::scoped_lock const guard{tells.lock};
      std::map<std::string, model::bounds> all;
      for (std::size_t i = 0; i != 2; ++i) {
        for (auto const& [name, n] : of[i].told) all[name].least += n.least;
        for (auto const& [name, n] : most.of[i].told) all[name].most += n.most;
      }
      for (auto const& [name, n] : tells.by_name) {
        all.try_emplace(name);  // an unknown one is one too many
        if (n.begun != n.ended) out += "\n  observer: '" + name + "' begun and not ended";
      }
      for (auto const& [name, n] : all) {
        int const begun = tells.by_name[name].begun;
        if (begun > n.most || (!in_part && begun < n.least))
          out += "\n  observer: '" + name + "' " + std::to_string(begun) + " times, not " + std::to_string(n.least) +
                 " to " + std::to_string(n.most);
      }
      return out;
    }
  };

  expected expect(bool armed) const {
    expected e{{model{armed, true, {}, {}}, model{armed, true, {}, {}}}, {}, false};
    steps const of_b = [this](model& m) { walk(b_, m, walk_leaf); };
    if (how_ == layout_key::outside) {
      e.walk(e.of[0], [&](model& m) { a_.walk_run(m, of_b); });
      return e;
    }
    e.walk(e.of[0], [&](model& m) { walk(a_, m, how_ == layout_key::around ? of_b : steps{walk_leaf}); });
    if (how_ == layout_key::beside) e.walk(e.of[1], of_b);
    if (!e.cut()) e.of[0].step("the end");
    return e;
  }

  feature const &a_, &b_;
  layout_key how_;
  program p_;
  std::array<journal, 2> seen_;
  heist::task_graph graph_;
};

/// Every pair in every arrangement, on that executor.
template <class Executor>
void try_all(teller* (*teller_of)(Executor&)) {
  int tried = 0;
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor other{2};
    scheduler_of<Executor> at{workers};
    heist_test::watchdog timeout_guard{at.ex, std::chrono::seconds{60}};
    timeout_guard.watch(other);
    auto const one = [&](feature const& a, feature const& b, layout_key how) {
      std::string const name = std::string{a.name} + layout_key_names[static_cast<std::size_t>(how)] + b.name;
      timeout_guard.section(name);
      auto pair = std::make_unique<pair_of>(a, b, how, at, other);
      std::string wrong;
      for (bool const armed : {true, false, true}) {
        wrong += pair->run(armed, teller_of(at.ex));
        at.wait_idle();
        if (teller_of(at.ex) != nullptr && teller_of(at.ex)->open != 0) wrong += "\n  observer: begun and not ended";
      }
      wrong += pair_of::end(std::move(pair));
      if (!wrong.empty()) FAIL_CHECK(name << ", " << workers << " workers:" << wrong);
      ++tried;
    };
    for (auto const* a : all_features) {
      for (auto const* b : all_features) {
        one(*a, *b, layout_key::around);
        if (a->from_outside) one(*a, *b, layout_key::outside);
        if (a <= b) one(*a, *b, layout_key::beside);
      }
    }
  }
  constexpr int n = all_features.size();
  CHECK(tried == 3 * (n * n + 3 * n + n * (n + 1) / 2));
}

}  // namespace

TEST_CASE("pairs: every feature with every other", "[graph]") {
  try_all<heist::executor<>>([](heist::executor<>&) -> teller* { return nullptr; });
}

TEST_CASE("pairs: every feature with every other, before an observer", "[graph][observe]") {
  using observed = heist::executor<heist::policy::random, teller>;
  try_all<observed>([](observed& ex) { return &ex.observer(); });
}
