// How child-first frames know where they are in the computation, where the order is `recorded`.
#pragma once

#include <array>
#include <bit>      // endian
#include <cstddef>  // offsetof
#include <cstdint>
#include <cstring>  // memcpy
#include <memory>   // addressof
#include <tuple>
#include <type_traits>
#include <utility>  // exchange, index_sequence

#include "heist/base/config.hpp"
#include "heist/fork/child_first.hpp"
#include "heist/fork/followed.hpp"
#include "heist/policy/order.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/steal_log.hpp"

namespace heist::detail {

/// What child_first_fork asks for places: a frame's context has its record where others have a position. A fork costs a
/// few stores to lines that it writes anyway.
struct recorded_places {
  using record = frame_record;
  using frame = recorded_frame;

  static bool has_record(fork_slot* position) noexcept {
    return context_access::mark_at(position) == tier_mark::recorded;
  }
  HEIST_ALWAYS_INLINE static frame_record* record_of(fork_slot* position) noexcept {
    return reinterpret_cast<frame_record*>(reinterpret_cast<std::uintptr_t>(position) -
                                           static_cast<std::uintptr_t>(tier_mark::recorded));
  }
  HEIST_ALWAYS_INLINE static fork_slot* position_of(frame_record& r) noexcept {
    // An addition: compilers do better than with a disjunction.
    return reinterpret_cast<fork_slot*>(reinterpret_cast<std::uintptr_t>(&r) +
                                        static_cast<std::uintptr_t>(tier_mark::recorded));
  }

  /// The first index for `children` more of the frame at `position`.
  HEIST_ALWAYS_INLINE static std::uint32_t reserve(fork_slot* position, std::uint32_t children) noexcept {
    return std::exchange(record_of(position)->forks, record_of(position)->forks + children);
  }
  /// `r` becomes the place of a child. Returns the position for its context.
  HEIST_ALWAYS_INLINE static fork_slot* enter(record& r, fork_slot* parent, std::uint32_t index) noexcept {
    r.parent = record_of(parent);
    set(r, index);
    return position_of(r);
  }
  /// The same for the child after the one whose place it was, and which has ended.
  HEIST_ALWAYS_INLINE static fork_slot* enter_next(record& r, fork_slot* /*parent*/) noexcept {
    set(r, r.index + 1);
    return position_of(r);
  }
  /// And while that one runs.
  static fork_slot* enter_after(record& r, record const& before, fork_slot* /*parent*/) noexcept {
    r = {before.parent, before.index + 1, 0};
    return position_of(r);
  }
  template <class Context>
  HEIST_ALWAYS_INLINE static Context child_context(fiber& child, record& r) noexcept {
    return context_access::make<Context>(child, position_of(r));
  }

  /// A child whose caller goes on elsewhere.
  static void ended(frame const& f) noexcept { end_of_work(f.place.parent); }

  static std::uint32_t index_of(record const& r) noexcept { return r.index; }

  /// While a frame waits for its children: notes who goes on with it after `last`, the join's last index. Calls below
  /// may have forked further with the frame's context.
  class joining {
   public:
    joining(fiber& on, fork_slot* position, std::uint32_t last) noexcept
        : on_{on}, record_{*record_of(position)}, last_{last} {}
    joining(joining const&) = delete;
    joining& operator=(joining const&) = delete;
    ~joining() {
      if (before_ != none) steal_log::note(&record_, last_, on_.on->number, before_, true);
    }
    void about_to_wait() noexcept {
      if (before_ != none) return;
      before_ = on_.on->number;
      end_of_work(&record_);
    }

   private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    fiber& on_;
    frame_record const& record_;
    std::uint32_t const last_;
    std::uint32_t before_ = none;  ///< who left it
  };

  static constexpr bool may_be_special = true;
  struct without_context;
  /// Does the frame follow a steal tree, or has it designated?
  HEIST_ALWAYS_INLINE static bool is_special(fork_slot* position) noexcept { return record_of(position)->is_special(); }
  template <class Context, class... F>
  static std::tuple<value_or_monostate<task_result<Context, F>>...> special_fork(fiber& on, fork_slot* position,
                                                                                 F&... f);

 private:
  /// As one store: a fork is short.
  HEIST_ALWAYS_INLINE static void set(record& r, std::uint32_t index) noexcept {
    static_assert(offsetof(record, forks) == offsetof(record, index) + sizeof(std::uint32_t));
    if constexpr (std::endian::native == std::endian::little) {
      std::uint64_t const both = index;
      std::memcpy(reinterpret_cast<char*>(&r) + offsetof(record, index), &both, sizeof both);
    } else {
      r.index = index;
      r.forks = 0;
    }
  }
};

/// Forks without a place, in a strict run: nobody steals there, so they are calls. Stolen, the rest of the frame would
/// end on a worker whose turn it is not.
class in_place_if {
 public:
  in_place_if(fiber& on, bool strict) noexcept : on_{on}, more_{strict ? std::uint32_t{1} : 0} {
    on_.no_migrate += more_;
  }
  in_place_if(in_place_if const&) = delete;
  in_place_if& operator=(in_place_if const&) = delete;
  ~in_place_if() { on_.no_migrate -= more_; }

 private:
  fiber& on_;
  std::uint32_t const more_;
};

/// A frame that belongs to no run.
struct recorded_places::without_context {
  explicit without_context(fiber& here) noexcept : strict{here, here.stays()}, position{position_of(of_no_run)} {}
  frame_record of_no_run{nullptr, 0, 0};
  in_place_if strict;
  fork_slot* position;
};

template <class Context, class... F>
using recorded_fork = child_first_fork_in<recorded_places, Context, F...>;

/// A fork of a frame that follows a steal tree or has designated, or that has nothing to steal below.
template <class Context, class... F>
class special_fork_in {
  template <class Function>
  using out = outcome<task_result<Context, Function>>;

 public:
  using values = std::tuple<value_or_monostate<task_result<Context, F>>...>;

  static values run(fiber& on, fork_slot* position, F&... f) {
    frame_record& record = *recorded_places::record_of(position);
    if ((record.forks & frame_record::serial) == 0) return follow(std::index_sequence_for<F...>{}, on, record, f...);
    if (short_of_stack(on)) {  // what is below may then be stolen, rather than not run at all
      frame_record of_no_run{nullptr, 0, 0};
      return recorded_fork<Context, F...>::run(on, recorded_places::position_of(of_no_run), f...);
    }
    return call(std::index_sequence_for<F...>{}, context_access::make<Context>(on, position), f...);
  }

 private:
  template <class Function>
  struct child : followed_frame {
    Function* function;
    counted_join* joined;
    bool failed = false;
    out<Function> result;

    static child& of(void* frame) noexcept { return *static_cast<child*>(static_cast<calling_frame*>(frame)); }
    counted_join& join() const noexcept { return *joined; }
    void release(fiber&) noexcept {}
    void call(fiber& on, frame_record& of_child) noexcept {
      failed = result.fill([&]() -> decltype(auto) {
        return call_task(*function, context_access::make<Context>(on, recorded_places::position_of(of_child)));
      });
    }
  };

  template <std::size_t... I>
  static values call(std::index_sequence<I...>, Context c, F&... f) {
    std::tuple<out<F>...> results;
    std::array<bool, sizeof...(F)> failed{};
    ((failed[I] = std::get<I>(results).fill([&]() -> decltype(auto) { return call_task(f, c); })), ...);
    return take_all<values>(failed, std::get<I>(results)...);
  }

  template <std::size_t... I>
  static values follow(std::index_sequence<I...>, fiber& on, frame_record& record, F&... f) {
    followed_parent parent{on, record, sizeof...(F)};
    counted_join join;
    std::tuple<child<F>...> children;
    std::int64_t overtaken = 0;
    ((std::get<I>(children).function = std::addressof(f), std::get<I>(children).joined = &join,
      overtaken += followed_start<child<F>>::start(on, parent, std::get<I>(children), I + 1 == sizeof...(F)) ? 1 : 0),
     ...);
    parent.join(join, overtaken);
    return take_all<values>({std::get<I>(children).failed...}, std::get<I>(children).result...);
  }
};

template <class Context, class... F>
std::tuple<value_or_monostate<task_result<Context, F>>...> recorded_places::special_fork(fiber& on, fork_slot* position,
                                                                                         F&... f) {
  return special_fork_in<Context, F...>::run(on, position, f...);
}

/// For a context that may have no record because it leaves the order to the executor.
template <class Context, class... F>
auto recorded_fork_of(Context const& c, F&... f) {
  fiber& on = context_access::fiber_of(c);
  fork_slot* const position = context_access::position_of(c);
  if (recorded_places::has_record(position)) return recorded_fork<Context, F...>::run(on, position, f...);
  recorded_places::without_context const place{on};
  return recorded_fork<Context, F...>::run(on, place.position, f...);
}

/// Frames with such contexts may be recorded.
template <class Context>
inline constexpr bool may_be_recorded =
    std::is_same_v<Context, context> || std::is_same_v<Context, basic_context<order::recorded>>;

inline bool records(fiber const& on) noexcept {
  return on.order == fork_order::recorded;
}

// For the children of scopes.

template <class Context>
using frame_that_calls = std::conditional_t<may_be_recorded<Context>, recorded_frame, calling_frame>;

/// `frame` is about to call child number `index` of the frame at `position`.
template <class Frame>
void enter_branch(Frame& frame, fork_slot* position, std::uint32_t index) noexcept {
  if constexpr (std::is_base_of_v<recorded_frame, Frame>) recorded_places::enter(frame.place, position, index);
}

/// Gives a frame a record that has none because it belongs to no run.
template <class Context, bool = may_be_recorded<Context>>
struct scope_root {
  static fork_slot* position_of(Context const& c) noexcept { return context_access::position_of(c); }
};
template <class Context>
struct scope_root<Context, true> {
  fork_slot* position_of(Context const& c) noexcept {
    fork_slot* const position = context_access::position_of(c);
    if (!records(context_access::fiber_of(c)) || recorded_places::has_record(position)) return position;
    return recorded_places::position_of(of_no_run);
  }
  frame_record of_no_run{nullptr, 0, 0};
};

[[noreturn]] HEIST_RARE void refuse_designated(std::size_t worker, std::size_t workers);

}  // namespace heist::detail

namespace heist {

template <class Order>
void basic_context<Order>::designate(std::size_t worker) const {
  if (worker >= fiber_->home.worker_count) detail::refuse_designated(worker, fiber_->home.worker_count);
  if constexpr (detail::may_be_recorded<basic_context>) {
    if (!detail::records(*fiber_) || !detail::recorded_places::has_record(position_)) return;
    detail::frame_record& record = *detail::recorded_places::record_of(position_);
    if ((record.forks & detail::frame_record::serial) != 0) {
      throw region_error{
          "ctx.designate: the rest of this task cannot be given away, because that of a task above it was not (the "
          "paper's validity check: a steal needs the steals above it). Mend it by designating in the task that forked "
          "this one; in a run that follows a tree, the tree says what is stolen"};
    }
    if (detail::recorded_run::of(&record) == nullptr) return;
    fiber_->designated_worker = static_cast<std::uint32_t>(worker);
    record.forks |= detail::frame_record::designated |
                    (record.is_special() ? 0 : detail::frame_record::special | detail::frame_record::plain);
  }
}

template <class Order>
bool basic_context<Order>::may_be_stolen() const noexcept {
  if (fiber_->on->alone) return false;
  if constexpr (detail::may_be_recorded<basic_context>) {
    if (detail::records(*fiber_) && detail::recorded_places::has_record(position_))
      return (detail::recorded_places::record_of(position_)->forks & detail::frame_record::serial) == 0;
  }
  return true;
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/fork/recorded.ipp"
#endif
