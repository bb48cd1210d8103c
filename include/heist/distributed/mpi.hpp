// MPI as the engine: one thread of each process makes all MPI calls (MPI_THREAD_SERIALIZED).
#pragma once

// MPI's own C++ classes are not used.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>  // min
#include <chrono>
#include <condition_variable>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstdio>   // fprintf
#include <cstdlib>  // abort
#include <cstring>  // memcpy
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heist/base/env.hpp"
#include "heist/base/errors.hpp"
#include "heist/distributed/engine.hpp"
#include "heist/distributed/world.hpp"

namespace heist::distributed {

/// Moves large values by messages of MPI's own. A mover is asked by the engine's thread only.
class mpi_mover {
 public:
  static constexpr int thread_level = MPI_THREAD_SERIALIZED;
  /// MPI counts in int; at most so much at a time.
  static constexpr std::size_t part = std::size_t{1} << 30;

  void open(MPI_Comm comm, int) { comm_ = comm; }
  void close() noexcept {}

  /// One value on its way; destroyed when done() was true.
  class move {
   public:
    bool done() {
      int flag = 0;
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &flag, MPI_STATUSES_IGNORE);
      return flag != 0;
    }

   private:
    friend mpi_mover;
    std::vector<MPI_Request> requests_;
  };
  /// `number`: of all values from that rank to this one.
  move send(char* data, std::size_t size, int to, std::uint64_t) {
    return each_part(data, size,
                     [&](char* at, int n, MPI_Request* r) { MPI_Isend(at, n, MPI_BYTE, to, tag, comm_, r); });
  }
  move receive(char* data, std::size_t size, int from, std::uint64_t) {
    return each_part(data, size,
                     [&](char* at, int n, MPI_Request* r) { MPI_Irecv(at, n, MPI_BYTE, from, tag, comm_, r); });
  }

 private:
  static constexpr int tag = 1;  // parts of one rank come in order: MPI's messages of one tag do not overtake

  template <class Post>
  static move each_part(char* data, std::size_t size, Post post) {
    move m;
    for (std::size_t at = 0; at < size; at += part) {
      m.requests_.push_back(MPI_REQUEST_NULL);
      post(data + at, static_cast<int>(std::min(part, size - at)), &m.requests_.back());
    }
    return m;
  }
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Sleeps while nothing is under way or awaited; otherwise looks, with pauses that grow while nothing comes.
template <class Mover>
class basic_mpi_engine {
 public:
  /// Values up to this size come with their head, larger ones by the mover: a second message is some microseconds.
  static constexpr std::size_t together_up_to = 16 * 1024;

  /// Collective: begins MPI. `pause`: see world_options. `small`: the same on all ranks.
  basic_mpi_engine(int& argc, char**& argv, unsigned pause, std::size_t small = together_up_to)
      : pause_{pause}, small_{small} {
    int given = 0;
    MPI_Init_thread(&argc, &argv, Mover::thread_level, &given);
    if (given < Mover::thread_level) {
      throw executor_error{
          "this MPI allows no threads (MPI_THREAD_SERIALIZED, for StarPU MPI_THREAD_MULTIPLE); fix it by an MPI that "
          "was built with them, as those of distributions are."};
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    mover_.open(comm_, rank_);
    sent_.resize(static_cast<std::size_t>(size_));
    got_.resize(static_cast<std::size_t>(size_));
  }
  basic_mpi_engine(basic_mpi_engine const&) = delete;
  basic_mpi_engine& operator=(basic_mpi_engine const&) = delete;
  ~basic_mpi_engine() {
    if (thread_.joinable()) stop();
    mover_.close();
    MPI_Comm_free(&comm_);
    MPI_Finalize();
  }

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  void start(receiver r) {
    receive_ = std::move(r);
    thread_ = std::thread{[this] { run(); }};
  }
  void send(int to, message&& m) {
    {
      std::lock_guard const guard{lock_};
      outbox_.push_back({to, std::move(m)});
      pending_.store(true, std::memory_order_relaxed);  // relaxed: the lock
    }
    wake_.notify_one();
  }
  void listen(bool awaits) {
    {
      std::lock_guard const guard{lock_};
      listens_ = awaits;
    }
    if (awaits) wake_.notify_one();
  }
  void stop() {
    {
      std::lock_guard const guard{lock_};
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  [[noreturn]] void give_up(std::string const& why) {
    std::fputs(why.c_str(), stderr);
    std::fflush(stderr);
    MPI_Abort(comm_, 1);
    std::abort();
  }

 private:
  struct out {
    int to;
    message m;
  };
  struct flying {
    typename Mover::move move;
    MPI_Request head;  ///< of what is sent, if it is not done yet
    bytes text;        ///< of that
    message m;
    int from;  ///< of what comes; -1: it is sent
  };
  struct wire_head {
    message_head head;
    std::uint64_t size;
  };
  static constexpr int head_tag = 0, bye_tag = 2;
  static constexpr int spins = 200;

  void run() {
    ::prctl(PR_SET_TIMERSLACK, 1);
    int idle = 0;
    std::deque<out> sends;
    for (;;) {
      bool busy = false;
      if (pending_.load(std::memory_order_relaxed)) {  // relaxed: the lock
        std::lock_guard const guard{lock_};
        pending_.store(false, std::memory_order_relaxed);  // relaxed: as above
        sends.swap(outbox_);
      }
      for (; !sends.empty(); sends.pop_front(), busy = true) post(std::move(sends.front()));
      busy |= receive();
      busy |= test();
      std::unique_lock guard{lock_};
      if (!outbox_.empty()) continue;
      if (stop_ && say_goodbye()) return;
      if (busy) {
        idle = 0;
      } else if (flying_.empty() && !listens_ && !stop_) {
        wake_.wait(guard, [this] { return stop_ || listens_ || !outbox_.empty(); });
        idle = 0;
      } else if (idle += idle<1'000'000; idle> spins && pause_ != 0 && moving_ == 0) {
        // The longer nothing comes, the longer the pauses; none while MPI has to be called to move what is large.
        unsigned const us = std::min(pause_, 10u << std::min(16, (idle - spins) / 8));
        wake_.wait_for(guard, std::chrono::microseconds{us});
      } else if (idle % 16 == 0) {
        guard.unlock();
        std::this_thread::yield();
      }
    }
  }

  void post(out&& o) {
    std::size_t const size = o.m.data.size();
    wire_head const head{o.m.head, size};
    bool const together = size <= small_;
    bytes text{sizeof head + (together ? size : 0)};
    std::memcpy(text.data(), &head, sizeof head);
    if (together && size != 0) std::memcpy(text.data() + sizeof head, o.m.data.data(), size);
    flying_.push_back({{}, MPI_REQUEST_NULL, std::move(text), std::move(o.m), -1});
    flying& f = flying_.back();
    check(MPI_Isend(f.text.data(), static_cast<int>(f.text.size()), MPI_BYTE, o.to, head_tag, comm_, &f.head), "send");
    if (!together) {
      ++moving_;
      f.move = mover_.send(f.m.data.data(), size, o.to, ++sent_[static_cast<std::size_t>(o.to)]);
    } else {
      f.m.data = {};
    }
  }
  bool receive() {
    bool any = false;
    for (;;) {
      int flag = 0;
      MPI_Message what = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, head_tag, comm_, &flag, &what, &status), "receive");
      if (!flag) return any;
      any = true;
      int n = 0;
      MPI_Get_count(&status, MPI_BYTE, &n);
      in_.resize(static_cast<std::size_t>(n));
      check(MPI_Mrecv(in_.data(), n, MPI_BYTE, &what, MPI_STATUS_IGNORE), "receive");
      wire_head head;
      std::memcpy(&head, in_.data(), sizeof head);
      int const from = status.MPI_SOURCE;
      if (head.size <= small_) {
        receive_(from, {head.head, bytes{in_.data() + sizeof head, static_cast<std::size_t>(head.size)}});
        continue;
      }
      message m{head.head, bytes{static_cast<std::size_t>(head.size)}};
      ++moving_;
      char* const to = m.data.data();
      flying_.push_back({mover_.receive(to, m.data.size(), from, ++got_[static_cast<std::size_t>(from)]),
                         MPI_REQUEST_NULL,
                         {},
                         std::move(m),
                         from});
    }
  }
  bool test() {
    bool any = false;
    std::size_t const first = next_test_ < flying_.size() ? next_test_ : 0;
    std::size_t looks = 64;  // a look at each would cost the square of their number
    next_test_ = first + looks;
    for (std::size_t i = first; i < flying_.size() && looks-- > 0;) {
      flying& f = flying_[i];
      int flag = 0;
      check(MPI_Test(&f.head, &flag, MPI_STATUS_IGNORE), "send");
      if (!flag || !f.move.done()) {
        ++i;
        continue;
      }
      any = true;
      flying done = std::move(f);
      if (!done.m.data.empty()) --moving_;  // of what is small, the data have gone with the head
      if (i + 1 != flying_.size()) flying_[i] = std::move(flying_.back());
      flying_.pop_back();
      if (done.from >= 0) receive_(done.from, std::move(done.m));
    }
    return any;
  }
  /// At the end, when all that was sent has left: true when all others have come to it, too. What they had sent before
  /// has then been received, because MPI's messages between two ranks do not overtake.
  bool say_goodbye() {
    if (!flying_.empty()) return false;
    if (goodbyes_.empty()) {
      for (int r = 0; r < size_; ++r) {
        if (r == rank_) continue;
        for (bool const comes : {false, true}) {
          goodbyes_.push_back(MPI_REQUEST_NULL);
          check(comes ? MPI_Irecv(nullptr, 0, MPI_BYTE, r, bye_tag, comm_, &goodbyes_.back())
                      : MPI_Isend(nullptr, 0, MPI_BYTE, r, bye_tag, comm_, &goodbyes_.back()),
                "end");
        }
      }
    }
    int flag = 1;
    if (!goodbyes_.empty())
      check(MPI_Testall(static_cast<int>(goodbyes_.size()), goodbyes_.data(), &flag, MPI_STATUSES_IGNORE), "end");
    return flag != 0;
  }
  void check(int code, char const* doing) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int n = 0;
    MPI_Error_string(code, text, &n);
    give_up("heist: rank " + std::to_string(rank_) + " cannot " + doing + " by MPI: " + text + "\n");
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 0;
  unsigned const pause_;
  std::size_t const small_;
  Mover mover_;
  receiver receive_;
  os_env::atomic<bool> pending_{false};
  std::mutex lock_;  // guards outbox_, listens_, stop_
  std::condition_variable wake_;
  std::deque<out> outbox_;
  bool listens_ = false, stop_ = false;
  // Of the engine's thread.
  std::vector<flying> flying_;
  std::size_t next_test_ = 0;
  std::size_t moving_ = 0;                 ///< large values among `flying_`
  std::vector<std::uint64_t> sent_, got_;  ///< large values, by rank
  std::vector<char> in_;
  std::vector<MPI_Request> goodbyes_;
  std::thread thread_;
};

using mpi_engine = basic_mpi_engine<mpi_mover>;
static_assert(engine<mpi_engine>);

}  // namespace heist::distributed

namespace heist {

inline world::world(int& argc, char**& argv, world_options const& options)
    : world{std::make_unique<distributed::engine_of<distributed::mpi_engine>>(argc, argv, options.pause), options} {}

}  // namespace heist
