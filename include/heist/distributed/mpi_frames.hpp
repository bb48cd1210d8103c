// Outgoing messages by MPI: messages to one rank that wait together travel together.
#pragma once

#include "heist/distributed/mpi_transport.hpp"  // first: it says which parts of MPI are wanted
//
#include <algorithm>  // max, min
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstdio>   // fputs
#include <cstdlib>  // abort
#include <cstring>  // memcpy
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heist/distributed/message.hpp"

namespace heist::distributed {

[[noreturn]] inline void give_up_all(MPI_Comm comm, std::string const& why) {
  std::fputs(why.c_str(), stderr);
  std::fflush(stderr);
  MPI_Abort(comm, 1);
  std::abort();
}
inline void check_mpi(MPI_Comm comm, int code, char const* doing) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int n = 0, rank = 0;
  MPI_Error_string(code, text, &n);
  MPI_Comm_rank(comm, &rank);
  give_up_all(comm, "heist: rank " + std::to_string(rank) + " cannot " + doing + " by MPI: " + text + "\n");
}

/// Stands in a frame before each message, whose bytes follow if they are few.
struct wire_head {
  message_head head;
  std::uint64_t size;
};

/// Packs messages into frames, one of MPI's messages each, and sends them. MPI takes a third of a microsecond and an
/// allocation or two for each message on each side, and much more for each message that waits in it. So few messages
/// wait in MPI, and messages that come meanwhile share the next frame.
///
/// Threads  one at a time.
class mpi_frames {
 public:
  static constexpr int tag = 0;
  /// Open MPI takes so much at once over shared memory (4 KiB with its own head), without asking the receiver.
  static constexpr std::size_t room = 4000;
  /// On their way to one rank.
  static constexpr unsigned most_flying = 32;

  /// `small`: values up to this size come in a frame.
  void open(MPI_Comm comm, int size, std::size_t small) {
    comm_ = comm;
    small_ = small;
    peers_.resize(static_cast<std::size_t>(size));
  }

  /// May this message be sent now? `anywhere`: by a thread that is not the engine's, and must come back soon: not what
  /// MPI does not take at once, nor the first to a rank, for which MPI may have to make a connection.
  bool takes(int to, message const& m, bool anywhere) const noexcept {
    peer const& p = peers_[static_cast<std::size_t>(to)];
    if (p.flying >= most_flying) return false;
    return !anywhere || (p.met && m.data.size() <= std::min(small_, room - sizeof(wire_head)));
  }
  /// After takes(). True if the value does not go with its head: the caller still has it, and has to send it.
  [[nodiscard]] bool add(int to, message&& m) {
    peer& p = peers_[static_cast<std::size_t>(to)];
    bool const together = m.data.size() <= small_;
    std::size_t const inside = together ? m.data.size() : 0, need = sizeof(wire_head) + inside;
    if (p.open != nullptr && p.open->size + need > p.open->text.size()) post(to, p);
    wire_head const head{m.head, m.data.size()};
    if (need > room) {
      if (char* const front = m.data.front_room(sizeof head); front != nullptr) {  // the message's memory is the frame
        std::memcpy(front, &head, sizeof head);
        p.open = std::make_unique<frame>(frame{{}, std::move(m.data), front, need});
        post(to, p);
        return false;
      }
    }
    if (p.open == nullptr) {
      p.open = unused(need);
      opened_.push_back(to);
    }
    char* const at = p.open->text.data() + p.open->size;
    std::memcpy(at, &head, sizeof head);
    if (inside != 0) std::memcpy(at + sizeof head, m.data.data(), inside);
    p.open->size += need;
    return !together;
  }
  /// Sends the added messages.
  void send_off() {
    for (int const to : opened_) {
      if (peer& p = peers_[static_cast<std::size_t>(to)]; p.open != nullptr) post(to, p);
    }
    opened_.clear();
  }
  /// An empty frame: nothing comes after it.
  void say_goodbye(int to) {
    peer& p = peers_[static_cast<std::size_t>(to)];
    p.open = unused(0);
    post(to, p);
  }

  /// Tests the messages under way. True if one has left.
  bool test() {
    if (requests_.empty()) return false;
    std::size_t const first = next_test_ < requests_.size() ? next_test_ : 0;
    std::size_t const count = std::min(looks, requests_.size() - first);
    next_test_ = first + looks;
    int left = 0;
    std::array<int, looks> which;
    check_mpi(comm_,
              MPI_Testsome(static_cast<int>(count), requests_.data() + first, &left, which.data(), MPI_STATUSES_IGNORE),
              "send");
    if (left == 0) return false;
    for (std::size_t i = first + count; i-- > first;) {
      if (requests_[i] == MPI_REQUEST_NULL) drop(i);
    }
    return true;
  }
  bool all_left() const noexcept { return requests_.empty(); }

 private:
  static constexpr std::size_t looks = 64;  // at a time

  struct frame {
    std::vector<char> text;
    bytes value;                  ///< instead of `text`
    char const* begin = nullptr;  ///< in it
    std::size_t size = 0;
    int to = -1;
  };
  struct peer {
    std::unique_ptr<frame> open;
    unsigned flying = 0;
    bool met = false;
  };

  std::unique_ptr<frame> unused(std::size_t need) {
    std::unique_ptr<frame> f;
    if (need <= room && !cached_.empty()) {
      f = std::move(cached_.back());
      cached_.pop_back();
      f->size = 0;
    } else {
      f = std::make_unique<frame>();
      f->text.resize(std::max(need, room));
    }
    return f;
  }
  void recycle(std::unique_ptr<frame> f) {
    if (f->text.size() == room && cached_.size() < most_flying) cached_.push_back(std::move(f));
  }
  void post(int to, peer& p) {
    std::unique_ptr<frame> f = std::move(p.open);
    f->to = to;
    p.met = true;
    MPI_Request request = MPI_REQUEST_NULL;
    int left = 0;
    char const* const begin = f->begin != nullptr ? f->begin : f->text.data();
    check_mpi(comm_, MPI_Isend(begin, static_cast<int>(f->size), MPI_BYTE, to, tag, comm_, &request), "send");
    check_mpi(comm_, MPI_Test(&request, &left, MPI_STATUS_IGNORE), "send");
    if (left != 0) return recycle(std::move(f));
    ++p.flying;
    requests_.push_back(request);
    frames_.push_back(std::move(f));
  }
  void drop(std::size_t i) {
    --peers_[static_cast<std::size_t>(frames_[i]->to)].flying;
    recycle(std::move(frames_[i]));
    requests_[i] = requests_.back();
    frames_[i] = std::move(frames_.back());
    requests_.pop_back();
    frames_.pop_back();
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::size_t small_ = 0;
  std::vector<peer> peers_;
  std::vector<int> opened_;                     ///< with a frame that has not been sent
  std::vector<MPI_Request> requests_;           ///< of frames that MPI still reads,
  std::vector<std::unique_ptr<frame>> frames_;  ///< which are these
  std::vector<std::unique_ptr<frame>> cached_;
  std::size_t next_test_ = 0;
};

}  // namespace heist::distributed
