// The parts of oneTBB's internal headers that its own tests use; not part of the layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "oneapi/tbb/version.h"

#define TBB_USE_EXCEPTIONS 1
#define __TBB_CPP17_INVOKE_PRESENT 1
#define __TBB_CPP17_DEDUCTION_GUIDES_PRESENT 1
#define __TBB_CPP14_GENERIC_LAMBDAS_PRESENT 1
#define __TBB_VARIADIC_MAX 10

namespace tbb::detail {

using std::index_sequence;
using std::make_index_sequence;

/// Is each Check<T> a type?
template <class T, template <class> class... Check>
concept has_each = requires {
  typename std::void_t<Check<T>...>;
};
template <class T, template <class> class... Check>
using supports = std::bool_constant<has_each<T, Check...>>;

inline constexpr std::size_t max_nfs_size = 128;

inline void machine_pause(int) {
  std::this_thread::yield();
}
template <class... T>
void suppress_unused_warning(T const&...) {}
template <class T>
bool is_aligned(T* at, std::uintptr_t alignment) {
  return reinterpret_cast<std::uintptr_t>(at) % alignment == 0;
}
namespace r1 {
inline std::size_t cache_line_size() {
  return 64;
}
}  // namespace r1

/// Arguments that are kept for a later call.
template <class... T>
struct stored_pack : std::tuple<std::decay_t<T>...> {
  using std::tuple<std::decay_t<T>...>::tuple;
};
template <class... T>
stored_pack<T...> save_pack(T&&... args) {
  return {std::forward<T>(args)...};
}
template <class R, class F, class... T>
R call_and_return(F&& f, stored_pack<T...>&& args) {
  return std::apply([&](auto&&... a) { return f(std::move(a)...); },
                    static_cast<std::tuple<std::decay_t<T>...>&&>(args));
}

/// try_call(f).on_completion(g): g() runs also if f() throws.
template <class F>
struct called {
  F& f;
  template <class G>
  void on_completion(G const& g) {
    struct at_end {
      G const& g;
      ~at_end() { g(); }
    } const end{g};
    f();
  }
};
template <class F>
called<F> try_call(F&& f) {
  return {f};
}

}  // namespace tbb::detail
