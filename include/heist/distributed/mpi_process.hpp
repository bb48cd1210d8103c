// MPI in this process: begun and ended by the program, or by the world that needs it first.
#pragma once

#include "heist/distributed/mpi_transport.hpp"  // first: it says which parts of MPI are wanted
//
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "heist/core/base/env.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::distributed {

/// Has messages to send.
class mpi_sender {
 public:
  /// Gives them all to MPI, and does not wait. Under mpi_calls::lock.
  virtual void send_all() = 0;

 protected:
  ~mpi_sender() = default;
};

/// Those who call MPI one at a time.
class mpi_calls {
 public:
  /// Runs `f` while no engine among them calls MPI. `f` may wait for other ranks, and these for messages from here: what
  /// stands ready is sent before.
  void keep_for(std::function<void()> const& f) {
    check_outside();
    heist::detail::spin_guard const guard{lock};
    for (mpi_sender* const s : senders) s->send_all();
    struct until_end {
      ~until_end() { calls.kept_by_.store(0, std::memory_order_relaxed); }  // relaxed: as are_kept_here()
      mpi_calls& calls;
    } const end{*this};
    kept_by_.store(heist::os_env::thread_number(), std::memory_order_relaxed);  // relaxed: as above
    f();
  }
  /// Does the calling thread run such an `f`?
  bool are_kept_here() const noexcept {
    // relaxed: a thread finds its own number only if it has written that
    return kept_by_.load(std::memory_order_relaxed) == heist::os_env::thread_number();
  }
  void check_outside() const {
    if (!are_kept_here()) return;
    throw executor_error{
        "with_mpi() is called, or a world is made, inside of with_mpi(), which keeps heist from calling MPI; fix it by "
        "doing so before or after."};
  }

  heist::detail::spin_lock<> lock;   ///< its owner calls MPI, or uses:
  std::vector<mpi_sender*> senders;  ///< these cannot send while another one has the lock

 private:
  heist::os_env::atomic<int> kept_by_{0};  ///< the number of the thread that runs an `f`
};

/// Finalizes MPI at its end if it has initialized it.
class mpi_process {
 public:
  /// Initializes MPI unless the program has. `least`: the level of threads that is needed. Throws executor_error.
  mpi_process(int& argc, char**& argv, int least) {
    int ended = 0, begun = 0;
    MPI_Finalized(&ended);
    if (ended != 0) {
      throw executor_error{
          "a world is made after MPI_Finalize, or after the end of a world that has initialized MPI, and MPI begins "
          "only once; fix it by MPI_Init_thread in main() and heist::world{communicator} for each world."};
    }
    MPI_Initialized(&begun);
    if (begun == 0) {
      MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level_);
      finalizes_ = true;
    }
    check(least);
  }
  /// The program has initialized MPI. Throws executor_error.
  explicit mpi_process(int least) {
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun == 0) {
      throw executor_error{
          "a world is made of a communicator before MPI is initialized; fix it by MPI_Init_thread in main(), or by "
          "heist::world{argc, argv}, which initializes MPI."};
    }
    check(least);
  }
  mpi_process(mpi_process const&) = delete;
  mpi_process& operator=(mpi_process const&) = delete;
  ~mpi_process() {
    if (finalizes_) MPI_Finalize();
  }

  /// Those with which an engine calls MPI: `own`, or those of all worlds if MPI allows one call at a time in the process.
  mpi_calls& calls_of(mpi_calls& own) const noexcept {
    static mpi_calls& all = *new mpi_calls;  // never destroyed: a world may be static
    return level_ == MPI_THREAD_MULTIPLE ? own : all;
  }

 private:
  void check(int least) {
    MPI_Query_thread(&level_);
    if (level_ >= least) return;
    if (finalizes_) {
      MPI_Finalize();
      throw executor_error{
          "this MPI allows no threads (MPI_THREAD_SERIALIZED, for StarPU MPI_THREAD_MULTIPLE); fix it by an MPI that "
          "was built with them, as those of distributions are."};
    }
    throw executor_error{
        "the program has initialized MPI for calls of one thread, and a world has a thread that calls MPI; fix it by "
        "MPI_Init_thread with MPI_THREAD_MULTIPLE, or with MPI_THREAD_SERIALIZED and all calls inside of "
        "world.with_mpi()."};
  }

  bool finalizes_ = false;
  int level_ = MPI_THREAD_SINGLE;
};

}  // namespace heist::distributed
