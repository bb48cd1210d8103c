// A flow's notes on its data: the users of each version, in the order of the program.
#pragma once

#include <algorithm>  // sort
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/config.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/values.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/parallel/flow/commute_lock.hpp"

namespace heist {

class flow;
template <class T>
class datum;

/// How a task of a flow uses a datum.
enum class access_mode : std::uint8_t { read, write, update, commute };

namespace detail {

/// A task of a flow, by its number: if that is no longer in the flow's window the task has ended, and may be gone.
struct flow_user {
  async_base* task;
  std::uint64_t number;
};

/// A value of a datum, and its users so far. All members but the lock belong to the thread that uses the flow.
struct flow_version {
  flow_version() = default;
  flow_version(flow_version const&) = delete;
  flow_version& operator=(flow_version const&) = delete;
  virtual ~flow_version() = default;

  vector<flow_user> before;   ///< the common predecessors of commuting writers
  vector<flow_user> writers;  ///< the last one, or all of a group that commutes
  vector<flow_user> readers;  ///< since then
  bool commutes = false;      ///< the group may grow
  commute_lock<queued_runnable> lock;
};

template <class T>
struct flow_value final : flow_version {
  template <class... Args>
  explicit flow_value(Args&&... args) : value(std::forward<Args>(args)...) {}
  T value;
};

/// A datum, without its type.
struct flow_datum {
  heist::flow* in = nullptr;
  unique_ptr<flow_version> now;
};

/// The result of read(), write(), update() and commute().
template <class T, access_mode Mode>
struct flow_access {
  static constexpr access_mode mode = Mode;
  using value_type = T;
  using argument = std::conditional_t<Mode == access_mode::read, T const&, T&>;
  using kept = T*;  ///< the type of pointer that the task keeps
  datum<T>* of;

  static argument value(T* where) noexcept { return *where; }
};
/// The same of heist::each(range).
template <class T, access_mode Mode>
struct flow_access_each {
  static constexpr access_mode mode = Mode;
  using value_type = T;
  using argument = values<T, std::conditional_t<Mode == access_mode::read, T const&, T&>>;
  using kept = vector<T*>;
  vector<datum<T>*> of;

  static argument value(kept const& where) noexcept {
    return values_access::make<argument>({reinterpret_cast<char const*>(where.data()), sizeof(T*), 0}, where.size());
  }
};

template <class T>
inline constexpr bool is_flow_access = false;
template <class T, access_mode Mode>
inline constexpr bool is_flow_access<flow_access<T, Mode>> = true;
template <class T, access_mode Mode>
inline constexpr bool is_flow_access<flow_access_each<T, Mode>> = true;
template <class T>
inline constexpr bool names_one_datum = false;
template <class T, access_mode Mode>
inline constexpr bool names_one_datum<flow_access<T, Mode>> = true;

/// For tasks that commute: they take their data's locks, in the order of addresses, when nothing else keeps them.
template <std::size_t Count>
class commuting {
 public:
  static constexpr bool has_route = true;
  using lock_type = commute_lock<queued_runnable>;

  commuting(interrupt_state const* flow, std::array<lock_type*, Count> const& of) noexcept : locks_{of}, flow_{flow} {}
  static constexpr bool is_routed() noexcept { return true; }
  static constexpr char const* name() noexcept { return nullptr; }
  interrupt_state const* interrupt() const noexcept { return flow_; }
  bool stopped() const noexcept { return flow_->any(); }

  /// Goes on taking; the task runs when it has all. If it has to wait, the owner that gives the lock back calls this
  /// again.
  void route(async_base& task) {
    if (waits_) {
      waits_ = false;
      ++taken_;
    }
    while (taken_ != Count) {
      waits_ = true;
      if (!locks_[taken_]->take(task)) return;  // and may be routed by another thread already
      waits_ = false;
      ++taken_;
    }
    task.scheduler->make_runnable(task);
  }

  /// The task has ended.
  void finished() noexcept {
    while (taken_ != 0) {
      queued_runnable* const next = locks_[--taken_]->give_back();
      if (next != nullptr) make_ready(*static_cast<async_base*>(next));
    }
  }

 private:
  std::array<lock_type*, Count> locks_;
  std::size_t taken_ = 0;
  bool waits_ = false;
  interrupt_state const* flow_;
};

/// For the others.
struct of_flow {
  static constexpr bool has_route = false;
  interrupt_state const* flow;
  interrupt_state const* interrupt() const noexcept { return flow; }
  bool stopped() const noexcept { return flow->any(); }
};

/// Tasks that a task of a flow comes after; they give their order only.
struct after_users {
  static constexpr bool counted = true;
  vector<async_base*> const* from;

  std::size_t size() const noexcept { return from->size(); }
  template <class Add>
  void fill(Add&& add) const {
    for (async_base* const task : *from) add(task, false);
  }
  template <bool VoidResults>
  static std::tuple<> arguments(dependency const*, std::size_t) {
    return {};
  }
};

}  // namespace detail
}  // namespace heist
