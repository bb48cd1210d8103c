// model::plain: a field without atomics. Every access is checked against those of other threads: two of them, one a
// write, neither before the other, are a data race.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "memory.hpp"

namespace model {

/// The last writer, and the readers since.
class race_cell {
 public:
  race_cell() noexcept : id_{mem.create_cell()} { note_write(); }
  ~race_cell() {
    on_write("is destroyed");
    tag_ = 0;
    mem.destroy_cell(id_);
  }
  race_cell(race_cell const&) = delete;
  race_cell& operator=(race_cell const&) = delete;

  void on_read() const noexcept {
    if (tag_ != alive) sched.fail("a plain field is read after its destruction");
    memory::accesses& of = mem.cell(id_);
    if (!mem.happened(of.writer, of.written))
      sched.fail("data race: a plain field is read while T%d writes it", of.writer);
    of.read[static_cast<std::size_t>(sched.current())] = mem.now();
  }
  void on_write(char const* what = "is written") noexcept {
    if (tag_ != alive) sched.fail("a plain field %s after its destruction", what);
    memory::accesses const& of = mem.cell(id_);
    if (!mem.happened(of.writer, of.written))
      sched.fail("data race: a plain field %s while T%d writes it", what, of.writer);
    for (int i = 0; i < sched.thread_count(); ++i) {
      if (!mem.happened(i, of.read[static_cast<std::size_t>(i)]))
        sched.fail("data race: a plain field %s while T%d reads it", what, i);
    }
    note_write();
  }

 private:
  static constexpr std::uint32_t alive = 0x91A1F1E1;

  void note_write() noexcept {
    mem.cell(id_).writer = sched.current();
    mem.cell(id_).written = mem.now();
  }

  std::uint32_t tag_ = alive;
  int const id_;
};

/// Converts to and from T like the T that it stands for.
template <class T>
class plain {
 public:
  plain() = default;
  template <class U>
  requires std::is_constructible_v<T, U> &&(!std::is_same_v<std::remove_cvref_t<U>, plain>)plain(U&& value)
      : value_(std::forward<U>(value)) {}
  plain(plain const& other) : value_(other.get()) {}

  template <class U>
  requires std::is_assignable_v<T&, U> &&(!std::is_same_v<std::remove_cvref_t<U>, plain>)plain& operator=(U&& value) {
    cell_.on_write();
    value_ = std::forward<U>(value);
    return *this;
  }
  plain& operator=(plain const& other) { return *this = other.get(); }

  operator T const&() const noexcept { return get(); }
  T const& operator->() const noexcept { return get(); }

  template <class U>
  plain& operator+=(U const& by) {
    return *this = static_cast<T>(get() + by);
  }
  template <class U>
  plain& operator-=(U const& by) {
    return *this = static_cast<T>(get() - by);
  }
  plain& operator++() { return *this += 1; }
  plain& operator--() { return *this -= 1; }

 private:
  T const& get() const noexcept {
    cell_.on_read();
    return value_;
  }

  T value_{};
  race_cell cell_;
};

}  // namespace model
