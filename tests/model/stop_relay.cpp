// Stop tokens of an interrupt_state: no stop is lost, whether one thread or two make tokens, before or after the stop.
// Doubles of a few headers compile core/sync/interrupt.hpp for the model (README.md, "The world").
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include "heist/core/sync/interrupt.hpp"

#include <array>
#include <cstddef>
#include <stop_token>

#include "engine/suite.hpp"
#include "world/bounds.hpp"

namespace {

using heist::detail::interrupt_state;

/// `Listeners` threads make a token each; another one stops the state, or the one that it is part of.
template <std::size_t Listeners, bool Outside>
void stopped(model::execution& t) {
  struct board {
    interrupt_state outer, state;
    std::array<std::stop_token, Listeners> tokens;
  };
  auto& b = t.make<board>();
  if (Outside) b.state.outer = &b.outer;
  t.thread([&b] { (Outside ? b.outer : b.state).set(1); });
  for (std::size_t i = 0; i != Listeners; ++i) t.thread([&b, i] { b.tokens[i] = b.state.token(); });
  t.alike(static_cast<int>(Listeners));
  t.finally([&b] {
    for (auto const& token : b.tokens) model::check(token.stop_requested(), "a stop is lost");
  });
}

/// A scope is joined and used again while another thread stops it: its token and its bits agree.
void joined(model::execution& t) {
  struct board {
    interrupt_state state;
    std::stop_token before, after;
  };
  auto& b = t.make<board>();
  t.thread([&b] { b.state.set_again(1); });
  t.thread([&b] {
    b.before = b.state.token();
    b.state.clear();
    b.after = b.state.token();
  });
  t.finally([&b] { model::check(b.after.stop_requested() == b.state.any(), "a token disagrees with its state"); });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three = world::bounds(3, 3);
  all.verify("stop relay: 1 token", three, stopped<1, false>);
  all.verify("stop relay: 2 tokens", three, stopped<2, false>);
  all.verify("stop relay: 1 token of a part", three, stopped<1, true>);
  all.verify("stop relay: 2 tokens, one after a join", three, joined);
  return all.finish();
}
