// MPI as the engine: one thread of each process receives. A sending thread may call MPI itself while no other thread
// does (MPI_THREAD_SERIALIZED). With MPI_THREAD_MULTIPLE the program calls MPI as it likes.
#pragma once

#include "heist/distributed/mpi_transport.hpp"  // first: it says which parts of MPI are wanted
//
#include <sys/prctl.h>

#include <algorithm>  // any_of, min
#include <chrono>
#include <condition_variable>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstring>  // memcpy
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heist/core/base/env.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/distributed/engine.hpp"
#include "heist/distributed/mpi_frames.hpp"
#include "heist/distributed/mpi_process.hpp"
#include "heist/distributed/world.hpp"

namespace heist::distributed {

/// Its thread sleeps while nothing is under way or awaited; otherwise it looks, with pauses that grow while nothing
/// comes. A thread sends its small message itself if no other thread calls MPI.
template <class Transport>
class basic_mpi_engine final : mpi_sender {
 public:
  /// Values up to this size come with their head, larger ones by the mover: a second message is some microseconds.
  static constexpr std::size_t together_up_to = small_value;

  /// Collective: all processes. `pause`: see world_options. `small`: the same on all ranks.
  basic_mpi_engine(int& argc, char**& argv, unsigned pause, std::size_t small = together_up_to)
      : process_{argc, argv, Transport::thread_level}, pause_{pause}, small_{small} {
    open(MPI_COMM_WORLD);
  }
  /// Collective: the processes of a communicator, of which it makes one of its own.
  basic_mpi_engine(MPI_Comm comm, unsigned pause, std::size_t small = together_up_to)
      : process_{Transport::thread_level}, pause_{pause}, small_{small} {
    open(comm);
  }
  basic_mpi_engine(basic_mpi_engine const&) = delete;
  basic_mpi_engine& operator=(basic_mpi_engine const&) = delete;
  ~basic_mpi_engine() {
    if (thread_.joinable()) stop();
    heist::detail::spin_guard const guard{calls_};
    std::erase(all_calls_.senders, static_cast<mpi_sender*>(this));
    transport_.close();
    MPI_Comm_free(&comm_);
  }

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  void with_mpi(std::function<void()> const& f) { all_calls_.keep_for(f); }
  void start(receiver r, preparer p) {
    receive_ = std::move(r);
    prepare_ = std::move(p);
    thread_ = std::thread{[this] { run(); }};
  }
  void send(int to, message&& m) {
    bool is_batch = false, wakes = false;
    {
      std::lock_guard const guard{lock_};
      outbox_.push_back({to, std::move(m)});
      is_batch = outbox_.size() >= batch;
      if (sleeps_long_) wakes = nudged_ = true;
    }
    // A thread that has sent some alone leaves the next ones to the engine's thread, or until they are a batch.
    if ((is_batch || sent_alone_.load(std::memory_order_relaxed) < alone) && calls_.try_lock()) {  // relaxed: a hint
      sent_alone_.fetch_add(1, std::memory_order_relaxed);                                         // relaxed: a hint
      send_waiting(sender::maker);
      bool const is_left = count_waiting_ != 0 || !frames_.all_left();
      calls_.unlock();
      if (is_left) {
        std::lock_guard const guard{lock_};
        has_work_ = wakes = true;
      }
    } else {
      wakes = true;
    }
    if (wakes) wake_.notify_one();
  }
  void listen(bool awaits) {
    {
      std::lock_guard const guard{lock_};
      listens_ = awaits;
    }
    if (awaits) wake_.notify_one();
  }
  void stop() {
    if (all_calls_.are_kept_here())
      give_up(
          "heist: a world is destroyed inside of with_mpi(), which keeps it from its last messages; fix it by doing so "
          "before or after.\n");
    {
      std::lock_guard const guard{lock_};
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  /// Without the lock of calls: its owner may wait for ever.
  [[noreturn]] void give_up(std::string const& why) { give_up_all(comm_, why); }

 private:
  struct out {
    int to;
    message m;
  };
  /// A large value.
  struct moving {
    typename Transport::move move;
    message m;
    int from;  ///< -1: it is sent
  };
  static constexpr unsigned spins = 200;      ///< fruitless looks before the first pause
  static constexpr unsigned long_pause = 40;  ///< us: a sending thread ends it, because an answer may come
  static constexpr std::uint32_t alone = 8;   ///< messages sent by their makers, between two looks
  static constexpr std::size_t batch = 32;
  static constexpr int frames_at_once = 16;

  void open(MPI_Comm of) {
    all_calls_.check_outside();
    MPI_Request made = MPI_REQUEST_NULL;
    {  // MPI_Comm_dup would wait under the lock, and keep other worlds of this process from calling MPI
      heist::detail::spin_guard const guard{calls_};
      MPI_Comm_idup(of, &comm_, &made);
    }
    while (!has_come(made)) os_env::yield();
    heist::detail::spin_guard const guard{calls_};
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    transport_.open(comm_, rank_);
    frames_.open(comm_, size_, small_);
    sent_.resize(static_cast<std::size_t>(size_));
    got_.resize(static_cast<std::size_t>(size_));
    waiting_.resize(static_cast<std::size_t>(size_));
    arriving_.resize(static_cast<std::size_t>(size_));
    all_calls_.senders.push_back(this);
  }
  void run() {
    ::prctl(PR_SET_TIMERSLACK, 1);
    idle state;
    for (;;) {
      bool const came = receive();
      bool is_busy = came, is_at_rest = false;
      {
        heist::detail::spin_guard const guard{calls_};
        is_busy |= (state.has_mail || count_waiting_ != 0) && send_waiting(sender::engine);
        is_busy |= frames_.test();
        is_busy |= test_moving();
        state.moves = !moving_.empty();
        is_at_rest = count_waiting_ == 0 && frames_.all_left() && moving_.empty() && count_arriving_ == 0;
        if (state.stops && is_at_rest && moved_.empty() && say_goodbye()) return;
        sent_alone_.store(0, std::memory_order_relaxed);  // relaxed: a hint
      }
      deliver_moved();
      tell_of_left();
      if (came) os_env::yield();  // to the worker that is to run now, if it is on this core
      pause_between(state, is_busy, is_at_rest);
    }
  }
  /// The result of the engine's thread's last look.
  struct idle {
    unsigned looks = 0;  ///< in vain
    bool stops = false;
    bool moves = false;    ///< a large value is under way
    bool has_mail = true;  ///< there may be a message in the outbox
  };
  void pause_between(idle& state, bool is_busy, bool is_at_rest) {
    std::unique_lock guard{lock_};
    state.stops = stop_;
    state.has_mail = !outbox_.empty();
    if (std::exchange(nudged_, false) || is_busy) state.looks = 0;
    if (std::exchange(has_work_, false) || is_busy || state.has_mail) return;
    if (is_at_rest && !listens_ && !stop_) {
      wake_.wait(guard, [this] { return stop_ || listens_ || has_work_ || !outbox_.empty(); });
      state = {.looks = 0, .stops = stop_, .has_mail = true};
      return;
    }
    if (state.looks < 1'000'000) ++state.looks;
    if (state.looks > spins && pause_ != 0 && !state.moves && count_arriving_ == 0) {
      // The pauses grow while no message comes; there are none while MPI must be called to move large messages.
      unsigned const us = std::min(pause_, 10u << std::min(16u, (state.looks - spins) / 8));
      sleeps_long_ = us > long_pause;
      wake_.wait_for(guard, std::chrono::microseconds{us});
      sleeps_long_ = false;
      state.has_mail = true;
    } else if (state.looks % 16 == 0) {
      guard.unlock();
      os_env::yield();
    }
  }

  // ---- out; under calls_ ----

  /// The engine's thread; the maker of a message; one that will keep the engine from calling MPI.
  enum class sender { engine, maker, last };
  /// May this message be sent now?
  bool is_taken(int to, message const& m, sender by) const noexcept {
    return by == sender::last || frames_.takes(to, m, by == sender::maker);
  }
  void send_all() override {
    send_waiting(sender::last);
    if (frames_.all_left() && moving_.empty()) return;
    {
      std::lock_guard const guard{lock_};
      has_work_ = true;
    }
    wake_.notify_one();
  }

  /// True if a message has been sent.
  bool send_waiting(sender by) {
    {
      std::lock_guard const guard{lock_};
      now_.swap(outbox_);
    }
    bool any = false;
    for (int to = 0; to < size_ && by != sender::maker && count_waiting_ != 0; ++to) {
      auto& before = waiting_[static_cast<std::size_t>(to)];
      for (; !before.empty() && is_taken(to, before.front(), by); before.pop_front(), --count_waiting_, any = true)
        put(to, std::move(before.front()));
    }
    for (out& o : now_) {
      auto& before = waiting_[static_cast<std::size_t>(o.to)];
      if (before.empty() && is_taken(o.to, o.m, by)) {
        put(o.to, std::move(o.m));
        any = true;
      } else {
        before.push_back(std::move(o.m));
        ++count_waiting_;
      }
    }
    now_.clear();
    frames_.send_off();
    return any;
  }
  void put(int to, message&& m) {
    if (!frames_.add(to, std::move(m))) return;
    auto& on_its_way = *moving_.emplace_back(std::make_unique<moving>(moving{{}, std::move(m), -1}));
    bytes& data = on_its_way.m.data;
    on_its_way.move = transport_.send(data.data(), data.size(), to, ++sent_[static_cast<std::size_t>(to)]);
  }
  bool test_moving() {
    bool any = false;
    std::size_t const first = next_test_ < moving_.size() ? next_test_ : 0;
    std::size_t looks = 64;  // a look at each would cost the square of their number
    next_test_ = first + looks;
    for (std::size_t i = first; i < moving_.size() && looks-- > 0;) {
      if (!moving_[i]->move.is_ready()) {
        ++i;
        continue;
      }
      any = true;
      moved_.push_back(std::move(moving_[i]));
      if (i + 1 != moving_.size()) moving_[i] = std::move(moving_.back());
      moving_.pop_back();
    }
    return any;
  }
  /// At the end, when all messages have left: true when all other ranks have come to their end, too. Their earlier
  /// messages have then been received, because MPI's messages of one tag between two ranks do not overtake.
  bool say_goodbye() {
    for (int r = 0; !said_goodbye_ && r < size_; ++r) {
      if (r != rank_) frames_.say_goodbye(r);
    }
    said_goodbye_ = true;
    return frames_.all_left() && goodbyes_ + 1 == size_;
  }

  // ---- in; on the engine's thread ----

  /// A frame, and what of it MPI has not written yet.
  struct arriving {
    bytes text;
    std::size_t size = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// True if something has come. Never waits in MPI: the sender of a frame may need this rank to send meanwhile.
  bool receive() {
    bool any = count_arriving_ != 0 && take_arrived();
    for (int frames = 0; frames < frames_at_once; ++frames) {
      int from = 0;
      bool is_whole = false;
      if (!fetch(from, is_whole)) return any;
      any = true;
      if (!is_whole) continue;
      take_frame(from, in_);
      if (in_.size > mpi_frames::room) in_ = {};  // its value is there
    }
    return true;
  }
  /// Frames of one rank are taken in the order in which they were sent, because large values follow their heads in it.
  bool take_arrived() {
    bool any = false;
    for (int from = 0; from < size_; ++from) {
      auto& frames = arriving_[static_cast<std::size_t>(from)];
      for (; !frames.empty() && has_come(frames.front().request); frames.pop_front(), --count_arriving_, any = true)
        take_frame(from, frames.front());
    }
    return any;
  }
  bool has_come(MPI_Request& request) {
    heist::detail::spin_guard const guard{calls_};
    int flag = 0;
    check_mpi(comm_, MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "receive");
    return flag != 0;
  }
  void take_frame(int from, arriving const& frame) {
    if (frame.size == 0) ++goodbyes_, left_.push_back(from);
    for (std::size_t at = 0; at < frame.size;) at += unpack(from, frame, at);
  }
  /// True if there is a frame. `is_whole`: it is in `in_`, and is the next one from its rank.
  bool fetch(int& from, bool& is_whole) {
    heist::detail::spin_guard const guard{calls_};
    int flag = 0, n = 0;
    MPI_Message what = MPI_MESSAGE_NULL;
    MPI_Status status;
    check_mpi(comm_, MPI_Improbe(MPI_ANY_SOURCE, mpi_frames::tag, comm_, &flag, &what, &status), "receive");
    if (flag == 0) return false;
    MPI_Get_count(&status, MPI_BYTE, &n);
    from = status.MPI_SOURCE;
    in_.size = static_cast<std::size_t>(n);
    if (in_.size > in_.text.size()) in_.text = bytes{std::max(in_.size, mpi_frames::room)};
    check_mpi(comm_, MPI_Imrecv(in_.text.data(), n, MPI_BYTE, &what, &in_.request), "receive");
    auto& before = arriving_[static_cast<std::size_t>(from)];
    if (before.empty()) {
      check_mpi(comm_, MPI_Test(&in_.request, &flag, MPI_STATUS_IGNORE), "receive");
      if (flag != 0) return is_whole = true;
    }
    before.push_back(std::exchange(in_, {}));
    ++count_arriving_;
    return true;
  }
  /// One message of a frame. Returns how long it was.
  std::size_t unpack(int from, arriving const& frame, std::size_t at) {
    wire_head head;
    std::memcpy(&head, frame.text.data() + at, sizeof head);
    auto const size = static_cast<std::size_t>(head.size);
    at += sizeof head;
    if (size <= small_) {
      bool const is_alone = frame.size > mpi_frames::room;  // then the value stays where MPI has put it
      receive_(from, {head.head, is_alone ? frame.text.part(at, size) : bytes{frame.text.data() + at, size}});
      return sizeof head + size;
    }
    auto made = std::make_unique<moving>(moving{{}, prepare_(head.head, size), from});
    heist::detail::spin_guard const guard{calls_};
    made->move = transport_.receive(made->m.data.data(), size, from, ++got_[static_cast<std::size_t>(from)]);
    moving_.push_back(std::move(made));
    return sizeof head;
  }
  void deliver_moved() {
    for (auto& m : moved_) {
      if (m->from >= 0) receive_(m->from, std::move(m->m));
    }
    moved_.clear();  // those that were sent end their loans
  }

  /// When all values of theirs have come.
  void tell_of_left() {
    if (left_.empty()) return;
    {
      heist::detail::spin_guard const guard{calls_};
      if (std::any_of(moving_.begin(), moving_.end(), [](auto const& m) { return m->from >= 0; })) return;
    }
    for (int const r : std::exchange(left_, {})) receive_(r, {{.kind = message_kind::left}, {}});
  }

  mpi_process process_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 0;
  unsigned const pause_;
  std::size_t const small_;
  receiver receive_;
  preparer prepare_;

  std::mutex lock_;  // guards, until the next one:
  std::condition_variable wake_;
  std::vector<out> outbox_;
  bool listens_ = false, stop_ = false;
  bool sleeps_long_ = false, nudged_ = false;
  bool has_work_ = false;  ///< for the engine's thread, besides the outbox

  // The owner of this lock calls MPI. The engine's thread waits for the lock; other threads try it, send a small
  // message under it and return. In with_mpi() the program has it for as long as its calls take. Taken before lock_. It
  // guards, until the next one:
  mpi_calls own_calls_;
  mpi_calls& all_calls_ = process_.calls_of(own_calls_);
  heist::detail::spin_lock<>& calls_ = all_calls_.lock;
  Transport transport_;
  mpi_frames frames_;
  std::vector<out> now_;
  std::vector<std::deque<message>> waiting_;  ///< by rank: what MPI takes later, or from the engine's thread only
  std::size_t count_waiting_ = 0;
  std::vector<std::unique_ptr<moving>> moving_;
  std::vector<std::uint64_t> sent_, got_;  ///< large values, by rank
  std::size_t next_test_ = 0;
  bool said_goodbye_ = false;
  os_env::atomic<std::uint32_t> sent_alone_{0};

  // Data of the engine's thread.
  std::vector<std::unique_ptr<moving>> moved_;
  arriving in_;
  std::vector<std::deque<arriving>> arriving_;  ///< by rank
  std::size_t count_arriving_ = 0;
  std::vector<int> left_;  ///< have said goodbye, and the world has not been told
  int goodbyes_ = 0;
  std::thread thread_;
};

using mpi_engine = basic_mpi_engine<mpi_transport>;
static_assert(engine<mpi_engine>);

}  // namespace heist::distributed

namespace heist {

template <>
inline constexpr bool distributed::is_communicator<MPI_Comm> = true;

template <class Communicator>
requires distributed::is_communicator<Communicator> world::world(Communicator comm, world_options const& options)
    : world{std::make_unique<distributed::engine_of<distributed::mpi_engine>>(comm, options.pause), options} {}

inline world::world(int& argc, char**& argv, world_options const& options)
    : world{std::make_unique<distributed::engine_of<distributed::mpi_engine>>(argc, argv, options.pause), options} {}

}  // namespace heist
