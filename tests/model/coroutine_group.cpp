// Coroutines that are awaited together (H26): each is a task, and the last to end resumes the awaiting coroutine, where
// that belongs. The group, and the places from which they resume, lie in frames that the awaiting coroutine frees.
// (parallel/coroutine/resumption.ipp, repeated by hand on the shipped arrivals, deque and injection queue.)
#undef NDEBUG  // the assertions of the shipped code are part of the proof
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "engine/suite.hpp"
#include "heist/core/sync/arrivals.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/core/sync/work_deque.hpp"

namespace {

using model::env;

struct coroutine;
struct coroutine_group;

struct resume_item {
  coroutine* handle = nullptr;
  env::plain<resume_item*> next{nullptr};
};

struct worker {
  heist::detail::work_deque<resume_item*, env> deque{4};
};

/// An executor. `refuses`: so many submissions, as if no memory were left.
struct core {
  heist::detail::injection_queue<resume_item, env> ready;
  std::array<worker, 2> workers;
  env::plain<int> refuses{0};
};
struct refused {};

std::array<core*, model::max_threads> core_of_thread{};
std::array<worker*, model::max_threads> worker_of_thread{};
worker& this_worker() {
  return *worker_of_thread[static_cast<std::size_t>(model::self())];
}
void begin_thread(core& on, worker& as) {
  core_of_thread[static_cast<std::size_t>(model::self())] = &on;
  worker_of_thread[static_cast<std::size_t>(model::self())] = &as;
}
bool runs_on(core const& scheduler) {
  return core_of_thread[static_cast<std::size_t>(model::self())] == &scheduler;
}

/// The frame of a coroutine: its promise, its local variables, and room for a resume_item.
struct coroutine {
  env::plain<core*> scheduler{nullptr};
  env::plain<coroutine_group*> returns_to{nullptr};
  env::plain<resume_item*> next_member{nullptr};
  env::plain<int> result{0};
  env::plain<bool> exception{false};
  env::plain<core*> moves_to{nullptr};
  env::plain<resume_item*> posts{nullptr};
  void (*resume)(coroutine&) = nullptr;
  alignas(resume_item) std::array<unsigned char, sizeof(resume_item)> room;
};

void resume_as_task(resume_item& item, core& scheduler, coroutine* h) {
  item.handle = h;
  if (scheduler.refuses != 0) {
    scheduler.refuses = scheduler.refuses - 1;
    throw refused{};
  }
  if (runs_on(scheduler)) {
    model::check(this_worker().deque.push(&item), "push failed");
  } else {
    scheduler.ready.push(item);
  }
}

bool resume_at_its_scheduler(void* room, coroutine* h, core* scheduler) {
  if (scheduler == nullptr || runs_on(*scheduler)) return false;
  resume_as_task(*::new (room) resume_item, *scheduler, h);
  return true;
}

struct coroutine_group {
  void begin(coroutine* awaiting, core* home, core& caller, coroutine* const* all, std::uint32_t count) {
    core* on = home;
    if (on == nullptr) on = &caller;
    continuation = awaiting;
    scheduler = home;
    left.expect(count);
    resume_item* next = nullptr;
    for (std::uint32_t i = count; i-- != 0;) {
      coroutine& promise = *all[i];
      promise.scheduler = on;
      promise.returns_to = this;
      promise.next_member = next;
      if (i == 0) break;
      next = ::new (static_cast<void*>(&promise.room)) resume_item;
      try {
        resume_as_task(*next, *on, all[i]);
      } catch (...) {
        promise.exception = true;
        static_cast<void>(left.arrive());
      }
    }
  }

  coroutine* begin_next(coroutine const& self) {
    resume_item* const item = self.next_member;
    if (item == nullptr) return nullptr;
    if (!this_worker().deque.take_back(item)) return nullptr;
    left.arrive_before_another();
    return item->handle;
  }

  heist::detail::basic_arrivals<env> left;
  env::plain<coroutine*> continuation{nullptr};
  env::plain<core*> scheduler{nullptr};
};

coroutine* end_elsewhere(coroutine& self, void* room) {
  coroutine_group& group = *self.returns_to;
  if (coroutine* const member = group.begin_next(self); member != nullptr) return member;
  if (!group.left.arrive()) return nullptr;
  coroutine* const next = group.continuation;
  core* const scheduler = group.scheduler;
  if (scheduler == self.scheduler) return next;
  if (resume_at_its_scheduler(room, next, scheduler)) return nullptr;
  return next;
}

/// A member: it may move to another executor, computes, submits another task, and ends.
void run_member(coroutine& self) {
  if (core* const to = self.moves_to; to != nullptr) {
    self.moves_to = nullptr;
    self.scheduler = to;
    return resume_as_task(*::new (static_cast<void*>(&self.room)) resume_item, *to, &self);
  }
  model::check(self.result == 0, "a coroutine runs twice");
  self.result = 7;
  if (resume_item* const task = self.posts; task != nullptr) resume_as_task(*task, *self.scheduler, task->handle);
  if (coroutine* const next = end_elsewhere(self, &self.room); next != nullptr) next->resume(*next);
}

enum class does { nothing, moves, posts, refuses };

/// The awaiting coroutine's frame.
template <std::uint32_t Count>
struct awaiting : coroutine {
  awaiting(core* its_home, does what, core& other) : home{its_home}, wants{what} {
    for (coroutine*& m : members) {
      m = new coroutine;
      m->resume = &run_member;
    }
    if (what == does::moves) members[Count - 1]->moves_to = &other;
    resume = [](coroutine& self) { static_cast<awaiting&>(self).go_on(); };
  }
  void go_on() {
    model::check(home == nullptr || runs_on(*home), "it resumes elsewhere than it wants");
    for (coroutine* const m : members) {
      bool const failed = m->exception;
      model::check(failed ? wants == does::refuses : m->result == 7, "it goes on before a coroutine has ended");
      delete m;
    }
    heist::detail::basic_completion<env>& end = *over;
    delete this;
    end.complete();
  }

  core* home;
  does wants;
  heist::detail::basic_completion<env>* over = nullptr;
  coroutine_group group;
  std::array<coroutine*, Count> members{};
};

/// `Workers` threads of one executor, and one of another to which a member may move. `Home`: the awaiting coroutine
/// wants to resume on the first executor.
template <std::uint32_t Count, std::size_t Workers, bool Home, does What>
void together(model::execution& t) {
  struct board {
    core own, other;
    coroutine task;  // what the first member submits
    resume_item item;
    heist::detail::basic_completion<env> over;

    static resume_item* take(core& on) {
      if (resume_item* const item = this_worker().deque.pop(); item != nullptr) return item;
      bool more = false;
      if (resume_item* const item = on.ready.take(more); item != nullptr) return item;
      for (worker& other : on.workers) {
        if (&other == &this_worker()) continue;
        if (resume_item* const item = other.deque.steal().item; item != nullptr) return item;
      }
      return nullptr;
    }
    void work(core& on) {
      while (!over.is_ready()) {
        if (resume_item* const item = take(on); item != nullptr) {
          item->handle->resume(*item->handle);
        } else {
          env::read_again();
        }
      }
    }
  };
  auto& b = t.make<board>();
  if (What == does::refuses) b.own.refuses = 1;
  b.task.resume = [](coroutine& self) { self.result = self.result + 1; };
  b.item.handle = &b.task;
  t.thread([&b] {
    begin_thread(b.own, b.own.workers[0]);
    auto* const frame = new awaiting<Count>{Home ? &b.own : nullptr, What, b.other};
    frame->over = &b.over;
    coroutine* const first = frame->members[0];
    if (What == does::posts) first->posts = &b.item;
    frame->group.begin(frame, frame->home, b.own, frame->members.data(), Count);
    first->resume(*first);
    b.work(b.own);
  });
  t.finally([&b] { model::check(b.task.result <= (What == does::posts ? 1 : 0), "a task ran twice"); });
  for (std::size_t i = 1; i < Workers; ++i) {
    t.thread([&b, i] {
      begin_thread(b.own, b.own.workers[i]);
      b.work(b.own);
    });
  }
  if (What == does::moves) {
    t.thread([&b] {
      begin_thread(b.other, b.other.workers[0]);
      b.work(b.other);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  model::suite all{argc, argv};
  model::limits const three{.config = {.preemptions = 3}};
  model::limits const two{.config = {.preemptions = 2}};

  all.verify("H26 coroutine group: 2 on 1 worker", three, together<2, 1, true, does::nothing>);
  all.verify("H26 coroutine group: 2 on 2 workers", three, together<2, 2, true, does::nothing>);
  all.verify("H26 coroutine group: 3 on 2 workers", three, together<3, 2, true, does::nothing>);
  all.verify("H26 coroutine group: 4 on 2 workers", two, together<4, 2, true, does::nothing>);
  all.verify("H26 coroutine group: 2 on 1 worker, one submits a task", three, together<2, 1, true, does::posts>);
  all.verify("H26 coroutine group: 2 on 2 workers, one submits a task", two, together<2, 2, true, does::posts>);
  all.verify("H26 coroutine group: one cannot be submitted", three, together<3, 2, true, does::refuses>);
  all.verify("H26 coroutine group: one ends on another executor", three, together<2, 1, true, does::moves>);
  all.verify("H26 coroutine group: the same, and it resumes anywhere", three, together<2, 1, false, does::moves>);
  return all.finish();
}
