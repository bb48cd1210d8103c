// The effects of accesses on each other: when a pre-emption can matter.
#pragma once

#include <cstdint>

namespace model {

/// The place that threads touch or sleep on: an object's address as a number, because the object may be gone.
using address = std::uintptr_t;

/// The access that a thread is about to make at a schedule point.
enum class touch : std::uint8_t { load, store, sc_fence, light_fence, heavy_fence, sleep, wake };

/// The steps of other threads while a thread was pre-empted at a schedule point.
enum class meanwhile : std::uint8_t { not_preempted, wrote, anything };

/// Would `pending` come out differently for `done` having been before it?
inline bool notices(touch pending, address pending_object, touch done, address object) noexcept {
  bool const same = pending_object == object;
  switch (pending) {
    case touch::load:
      return same && done == touch::store;
    case touch::store:  // a load of another thread could have read the older store as well; the kernel could not
      return same && (done == touch::store || done == touch::sleep);
    case touch::sleep:
      return same && (done == touch::store || done == touch::wake);
    case touch::wake:
      return same && done == touch::sleep;
    case touch::light_fence:
      return done == touch::heavy_fence;
    case touch::sc_fence:
      return done == touch::sc_fence || done == touch::heavy_fence;
    case touch::heavy_fence:
      return done == touch::sc_fence || done == touch::heavy_fence || done == touch::light_fence;
  }
  return true;
}

}  // namespace model
