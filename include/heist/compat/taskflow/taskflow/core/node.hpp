// A task as the layer keeps it, and the parent of a task.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>  // exception_ptr
#include <memory>     // unique_ptr
#include <string>
#include <vector>

#include "heist/compat/taskflow/taskflow/core/work.hpp"
#include "heist/compat/taskflow/taskflow/utility/small_vector.hpp"
#include "heist/sync.hpp"

namespace tf {

enum class TaskType : int { PLACEHOLDER = 0, STATIC, RUNTIME, SUBFLOW, CONDITION, MODULE, ASYNC, UNDEFINED };

inline constexpr TaskType TASK_TYPES[] = {TaskType::PLACEHOLDER, TaskType::STATIC, TaskType::RUNTIME, TaskType::SUBFLOW,
                                          TaskType::CONDITION,   TaskType::MODULE, TaskType::ASYNC};

inline char const* to_string(TaskType type) {
  constexpr char const* names[] = {"placeholder", "static", "runtime", "subflow", "condition", "module", "async"};
  auto const at = static_cast<std::size_t>(type);
  return at < std::size(names) ? names[at] : "undefined";
}

enum class TaskPriority : unsigned { HIGH = 0, NORMAL = 1, LOW = 2, MAX = 3 };

class Executor;
class Semaphore;
class Topology;

namespace detail {

enum class role : std::uint8_t { task, run, group };

/// The parent of tasks: a task, a run of a taskflow, or a group.
struct parent {
  static constexpr unsigned failed = 1;     ///< one of its descendants has thrown
  static constexpr unsigned kept = 2;       ///< `exception` is set
  static constexpr unsigned cancelled = 4;  ///< by the program
  static constexpr unsigned anchor = 8;     ///< a caller waits here for exceptions
  static constexpr unsigned runtime = 16;   ///< keeps an exception that no anchor above takes

  explicit parent(role is, unsigned with = 0, parent* of = nullptr) noexcept : what{is}, flags{with}, above{of} {}
  parent(parent const&) = delete;
  parent& operator=(parent const&) = delete;

  bool stopped() const noexcept {
    return (flags.load(std::memory_order_relaxed) & (failed | cancelled)) != 0;  // relaxed: advice
  }
  /// Rethrows the kept exception, once. The waiting caller calls it.
  void rethrow() {
    if (!exception) return;
    std::exception_ptr const e = std::exchange(exception, nullptr);
    flags.fetch_and(~(failed | kept), std::memory_order_relaxed);  // relaxed: all children have ended
    std::rethrow_exception(e);
  }

  role const what;
  bool may_repeat = false;  ///< a child of the graph may run again: there are conditions, runtimes or graphs in it
  std::atomic<unsigned> flags;
  std::atomic<std::size_t> open{0};            ///< children that have not ended; and 1 while its own code runs
  parent* above;                               ///< its own parent
  heist::manual_reset_event* waits = nullptr;  ///< its code waits for the children
  std::exception_ptr exception;
};

struct node;

/// Members that few tasks use.
struct cold {
  std::string name;
  void* data = nullptr;
  std::vector<Semaphore*> acquires, releases;
  TaskPriority priority = TaskPriority::HIGH;
};

/// One of the tasks that begin after an async.
struct follower {
  node* task;
  follower* next;
};

struct node : parent {
  explicit node(TaskType is = TaskType::PLACEHOLDER) noexcept : parent{role::task}, type{is} {}
  ~node() = default;

  bool is_condition() const noexcept { return type == TaskType::CONDITION; }
  std::string const& name() const {
    static std::string const none;
    return more ? more->name : none;
  }
  cold& with() {
    if (!more) more = std::make_unique<cold>();
    return *more;
  }
  std::size_t weak_count() const noexcept {
    std::size_t n = 0;
    for (node const* p : predecessors) n += p->is_condition();
    return n;
  }
  void precede(node& other) {
    successors.push_back(&other);
    other.predecessors.push_back(this);
  }
  void disconnect(node& after) {
    erase_all(successors, &after);
    erase_all(after.predecessors, this);
  }
  bool parent_stopped() const noexcept;

  TaskType type;
  bool joined = false, retained = false;  ///< of a subflow
  Topology* run = nullptr;
  std::atomic<std::size_t> missing{0};  ///< predecessors that have not ended
  std::size_t strong = 0;               ///< predecessors that are no conditions
  SmallVector<node*, 2> successors, predecessors;
  work does;
  std::unique_ptr<cold> more;
  std::atomic<std::size_t> owners{0};         ///< of a dependent async: handles, and the executor
  std::atomic<follower*> followers{nullptr};  ///< the same; closed() when it has ended

  static follower* closed() noexcept {
    static follower mark{nullptr, nullptr};
    return &mark;
  }

 private:
  static void erase_all(SmallVector<node*, 2>& from, node const* which) {
    node** to = from.begin();
    for (node* n : from) {
      if (n != which) *to++ = n;
    }
    from.resize(static_cast<std::size_t>(to - from.begin()));
  }
};

}  // namespace detail
}  // namespace tf
