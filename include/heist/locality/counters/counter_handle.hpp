// A counter source whose type only its maker knows.
#pragma once

#include <string>
#include <utility>  // exchange

#include "heist/locality/counters/hardware_counters.hpp"

namespace heist::detail {

/// The name of the event that a source counts as private_misses; empty if the source does not say.
template <counter_source Source>
std::string event_of(Source const& source) {
  if constexpr (naming_source<Source>) {
    return source.event();
  } else {
    return {};
  }
}

/// The operations on a source, as functions.
struct counter_operations {
  void* (*open)();
  void (*close)(void* source) noexcept;
  counter_values (*read)(void* source) noexcept;
  bool (*available)(void const* source) noexcept;
  std::string (*why)(void const* source);
  std::string (*event)(void const* source);
};

template <counter_source Source>
inline constexpr counter_operations counter_operations_of{
    [] { return static_cast<void*>(new Source); },
    [](void* source) noexcept { delete static_cast<Source*>(source); },
    [](void* source) noexcept { return static_cast<Source*>(source)->read(); },
    [](void const* source) noexcept { return static_cast<Source const*>(source)->available(); },
    [](void const* source) { return std::string{static_cast<Source const*>(source)->why()}; },
    [](void const* source) { return event_of(*static_cast<Source const*>(source)); }};

/// Owns a source, which counts for the thread that has opened it; empty at first.
class counter_handle {
 public:
  counter_handle() = default;
  /// Opens a source. The handle stays empty if `operations` is null.
  explicit counter_handle(counter_operations const* operations)
      : operations_{operations}, source_{operations != nullptr ? operations->open() : nullptr} {}
  counter_handle(counter_handle&& other) noexcept
      : operations_{other.operations_}, source_{std::exchange(other.source_, nullptr)} {}
  counter_handle& operator=(counter_handle&& other) noexcept {
    std::swap(operations_, other.operations_);
    std::swap(source_, other.source_);
    return *this;
  }
  ~counter_handle() {
    if (source_ != nullptr) operations_->close(source_);
  }

  explicit operator bool() const noexcept { return source_ != nullptr; }
  counter_values read() noexcept { return source_ != nullptr ? operations_->read(source_) : counter_values{}; }
  bool available() const noexcept { return source_ != nullptr && operations_->available(source_); }
  std::string why() const { return source_ != nullptr ? operations_->why(source_) : std::string{}; }
  /// The event that private_misses counts; empty if the source does not say.
  std::string event() const { return source_ != nullptr ? operations_->event(source_) : std::string{}; }

 private:
  counter_operations const* operations_ = nullptr;
  void* source_ = nullptr;
};

}  // namespace heist::detail
