// How the programs use what a context may have: regions to enter, footprints to declare.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <cstddef>  // size_t

namespace locality {

/// Runs f(context) as a run of the region; just so where a context knows no regions (serial_context).
template <class Context, class F>
decltype(auto) enter(Context ctx, heist::region& r, F&& f) {
  if constexpr (requires { ctx.invoke(r, f); }) {
    return ctx.invoke(r, f);
  } else {
    return f(ctx);
  }
}

/// Declares how many bytes this task touches itself, if the context takes footprints.
template <class Context>
void footprint(Context ctx, std::size_t bytes) {
  if constexpr (requires { ctx.footprint(bytes); }) ctx.footprint(bytes);
}

}  // namespace locality
