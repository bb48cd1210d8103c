// Mutexes with scoped locks. A task must not wait for other tasks while it holds one, as with oneTBB's.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>  // yield
#include <type_traits>

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/task_state.hpp"

namespace tbb {

namespace detail {

struct no_lock {
  void lock() noexcept {}
  bool try_lock() noexcept { return true; }
  void unlock() noexcept {}
  void lock_shared() noexcept {}
  bool try_lock_shared() noexcept { return true; }
  void unlock_shared() noexcept {}
};

template <class Lock, bool Recursive, bool Fair>
class exclusive_mutex : public Lock {
 public:
  static constexpr bool is_rw_mutex = false, is_recursive_mutex = Recursive, is_fair_mutex = Fair;
  exclusive_mutex() = default;
  exclusive_mutex(exclusive_mutex const&) = delete;
  exclusive_mutex& operator=(exclusive_mutex const&) = delete;

  class scoped_lock {
   public:
    scoped_lock() = default;
    explicit scoped_lock(exclusive_mutex& m) { acquire(m); }
    scoped_lock(scoped_lock const&) = delete;
    scoped_lock& operator=(scoped_lock const&) = delete;
    ~scoped_lock() {
      if (held_ != nullptr) release();
    }
    void acquire(exclusive_mutex& m) {
      m.lock();
      held_ = &m;
    }
    bool try_acquire(exclusive_mutex& m) {
      if (!m.try_lock()) return false;
      held_ = &m;
      return true;
    }
    void release() {
      held_->unlock();
      held_ = nullptr;
    }

   private:
    exclusive_mutex* held_ = nullptr;
  };
};

template <class Lock, bool Recursive, bool Fair>
class reader_writer_mutex : public Lock {
 public:
  static constexpr bool is_rw_mutex = true, is_recursive_mutex = Recursive, is_fair_mutex = Fair;
  reader_writer_mutex() = default;
  reader_writer_mutex(reader_writer_mutex const&) = delete;
  reader_writer_mutex& operator=(reader_writer_mutex const&) = delete;

  class scoped_lock {
   public:
    scoped_lock() = default;
    explicit scoped_lock(reader_writer_mutex& m, bool write = true) { acquire(m, write); }
    scoped_lock(scoped_lock const&) = delete;
    scoped_lock& operator=(scoped_lock const&) = delete;
    ~scoped_lock() {
      if (held_ != nullptr) release();
    }
    void acquire(reader_writer_mutex& m, bool write = true) {
      if (write) {
        m.lock();
      } else {
        m.lock_shared();
      }
      held_ = &m;
      writes_ = write;
    }
    bool try_acquire(reader_writer_mutex& m, bool write = true) {
      if (!(write ? m.try_lock() : m.try_lock_shared())) return false;
      held_ = &m;
      writes_ = write;
      return true;
    }
    void release() {
      if (writes_) {
        held_->unlock();
      } else {
        held_->unlock_shared();
      }
      held_ = nullptr;
    }
    /// False if others may have written in between.
    bool upgrade_to_writer() {
      if (writes_) return true;
      reader_writer_mutex& m = *held_;
      release();
      acquire(m);
      return std::is_same_v<Lock, no_lock>;
    }
    /// False if others may have written in between.
    bool downgrade_to_reader() {
      if (!writes_) return true;
      reader_writer_mutex& m = *held_;
      release();
      acquire(m, false);
      return std::is_same_v<Lock, no_lock>;
    }
    bool is_writer() const { return writes_; }

   private:
    reader_writer_mutex* held_ = nullptr;
    bool writes_ = false;
  };
};

}  // namespace detail

class mutex : public detail::exclusive_mutex<std::mutex, false, false> {};
class spin_mutex : public detail::exclusive_mutex<detail::spinning_lock, false, false> {};
class queuing_mutex : public detail::exclusive_mutex<std::mutex, false, true> {};
class speculative_spin_mutex : public detail::exclusive_mutex<detail::spinning_lock, false, false> {};
class null_mutex : public detail::exclusive_mutex<detail::no_lock, true, true> {};
class rw_mutex : public detail::reader_writer_mutex<std::shared_mutex, false, false> {};
class spin_rw_mutex : public detail::reader_writer_mutex<std::shared_mutex, false, false> {};
class queuing_rw_mutex : public detail::reader_writer_mutex<std::shared_mutex, false, true> {};
class speculative_spin_rw_mutex : public detail::reader_writer_mutex<std::shared_mutex, false, false> {};
class null_rw_mutex : public detail::reader_writer_mutex<detail::no_lock, true, true> {};

}  // namespace tbb
