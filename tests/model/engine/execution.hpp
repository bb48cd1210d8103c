// One execution as a harness describes it: objects, threads, and a check of the end.
#pragma once

#include <utility>
#include <vector>

#include "heap.hpp"
#include "memory.hpp"
#include "scheduler.hpp"

namespace model {

class execution {
 public:
  /// An object that lives until after the final check. Objects are destroyed in reverse order.
  template <class T, class... Args>
  T& make(Args&&... args) {
    T* const object = new T(std::forward<Args>(args)...);
    owned_.push_back({object, [](void* p) { delete static_cast<T*>(p); }});
    return *object;
  }

  /// A thread under test.
  template <class Body>
  void thread(Body body) {
    Body& kept = make<Body>(std::move(body));
    int const id = sched.add([](void* p) { (*static_cast<Body*>(p))(); }, &kept);
    mem.fork(id);
  }

  /// The last `count` threads differ in names only, also in their use of shared objects. An execution looks the same if
  /// two of these threads change places, so only one of the two is tried.
  void alike(int count) { sched.alike(count); }

  /// The check that must hold when all threads have ended.
  template <class Check>
  void finally(Check check) {
    check_ = &make<Check>(std::move(check));
    call_check_ = [](void* p) { (*static_cast<Check*>(p))(); };
  }

  /// Runs the threads, checks, cleans up. For the search.
  void finish() {
    sched.run_threads();
    for (int i = 1; i < sched.thread_count(); ++i) mem.join(i);
    if (call_check_ != nullptr) call_check_(check_);
    while (!owned_.empty()) {
      owned_.back().destroy(owned_.back().object);
      owned_.pop_back();
    }
  }

 private:
  struct owned {
    void* object;
    void (*destroy)(void*);
  };
  std::vector<owned> owned_;
  void* check_ = nullptr;
  void (*call_check_)(void*) = nullptr;
};

}  // namespace model
