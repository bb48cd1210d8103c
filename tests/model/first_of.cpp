// when_any (H18): the first of several tasks fills a state. The state lives until the last task has reported to it.
// (parallel/async/when.ipp, repeated by hand on the shipped completion.)
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/suite.hpp"
#include "heist/core/sync/completion.hpp"

namespace {

using model::env;
using completion = heist::detail::basic_completion<env>;

template <int Count>
struct any_state {
  struct any_link : heist::detail::completion_waiter {
    any_link() noexcept : completion_waiter{&wake_up} {}
    any_state* of = nullptr;
    static void wake_up(completion_waiter& self) noexcept {
      auto& link = static_cast<any_link&>(self);
      any_state& any = *link.of;
      any.finish(static_cast<std::size_t>(&link - any.links.data()));
      any.release();
    }
  };

  completion finished;
  env::atomic<std::uint32_t> owners{1 + Count};
  env::atomic<bool> over{false};
  env::plain<std::size_t> result{Count};
  std::array<any_link, Count> links;

  any_state() {
    for (auto& link : links) link.of = this;
  }
  void release() noexcept {
    if (owners.load(std::memory_order_acquire) == 1 || owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void finish(std::size_t which) noexcept {
    if (over.exchange(true, std::memory_order_relaxed)) return;
    result = which;
    finished.complete();
  }
};

template <int Count>
bool add_to_any(any_state<Count>& any, std::size_t index, completion& task) noexcept {
  if (task.add_entry(any.links[index])) return true;
  any.finish(index);
  any.owners.fetch_sub(static_cast<std::uint32_t>(Count - index), std::memory_order_relaxed);
  return false;
}

/// Each task ends; the caller asks which was the first, or drops its handle at once.
template <int Count, bool Asks>
void first_of(model::execution& t) {
  struct task {
    completion finished;
    env::plain<int> value{0};
  };
  auto& tasks = t.make<std::array<task, Count>>();
  for (auto& one : tasks) {
    t.thread([&one] {
      one.value = 7;
      one.finished.complete();
    });
  }
  t.thread([&tasks] {
    auto* const any = new any_state<Count>;
    for (std::size_t i = 0; i != Count; ++i) {
      if (!add_to_any(*any, i, tasks[i].finished)) break;
    }
    if constexpr (Asks) {
      heist::detail::thread_waiter<env, 1> me;
      if (any->finished.add_entry(me)) me.wait();
      std::size_t const which = any->result;
      model::check(which < Count && tasks[which].value == 7, "the first one has not ended");
    }
    any->release();
  });
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const two{.config = {.preemptions = 2}};

  all.verify("H18 when_any: of 1", three, first_of<1, true>);
  all.verify("H18 when_any: of 2", three, first_of<2, true>);
  all.verify("H18 when_any: of 2, whose handle is dropped", three, first_of<2, false>);
  all.verify("H18 when_any: of 3", two, first_of<3, true>);
  return all.finish();
}
