// The processes that run one program together, as one of them sees them.
#pragma once

#include <unistd.h>  // getpid, gethostname

#include <chrono>
#include <condition_variable>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstdio>  // fputs
#include <deque>
#include <exception>  // uncaught_exceptions
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>  // move
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/distributed/agreement.hpp"
#include "heist/distributed/engine.hpp"
#include "heist/distributed/wire.hpp"
#include "heist/distributed/world_access.hpp"

namespace heist {

/// How a world treats its messages.
struct world_options {
  /// If no awaited message has come from another rank for so many seconds, the awaited messages are reported
  /// (on_silence). 0: never.
  double silence = 60;
  /// If true, a run whose awaited message has not come by then ends with an exception, instead of waiting longer.
  bool silence_ends = false;
  /// Called with the sentences, by a thread of its own; by default they go to stderr.
  std::function<void(std::string const&)> on_silence{};
  /// Each graph of a rank sends at most so many bytes of values to another rank that this rank has not used up. The
  /// rest waits at the sender.
  std::size_t window = std::size_t{64} << 20;
  /// The engine's thread looks for messages after pauses that grow to so many microseconds while no message comes. With
  /// 0 it looks all the time: this takes a CPU, and saves up to 70 us for each message that comes late.
  unsigned pause = 500;
};

namespace distributed {

/// A process of a world.
struct member {
  int rank = 0;
  std::string host;
  long pid = 0;
};

/// A part of a world that has messages of its own: a graph.
class port {
 public:
  port() = default;
  port(port const&) = delete;
  port& operator=(port const&) = delete;
  virtual ~port() = default;
  /// Called by the engine's thread.
  virtual void take(int from, message&& m) = 0;
  /// Called by the engine's thread: returns a message of so many bytes, to which they are then received.
  virtual message prepare(message_head const& head, std::size_t size) { return {head, bytes{size}}; }
  /// Returns what the port awaits from other ranks, or from one of them, one line each. Empty: it awaits nothing.
  /// `give_up`: the port stops waiting for these.
  virtual std::string awaited(bool give_up, int from = -1) = 0;
};

/// MPI's type is one where <heist/distributed.hpp> is included.
template <class>
inline constexpr bool is_communicator = false;

}  // namespace distributed

/// Made by all its processes together, before anything that needs it, and destroyed by all. A program may have several
/// worlds, one after the other or at once.
///
/// Threads  every member may be called by any thread; collective ones by all ranks, in the same order.
/// Promises a message that an engine brings twice is taken once, and in any order. If the world is destroyed by an
///          exception the program is ended on all ranks, because the other ranks wait for this one.
class world {
 public:
  /// All of MPI's processes. Needs <heist/distributed.hpp>. Initializes MPI unless the program has, and then finalizes
  /// it at its end. Throws executor_error if this MPI does not allow threads.
  world(int& argc, char**& argv, world_options const& options = {});

  /// The processes of a communicator (MPI_Comm), which is duplicated and may be freed. Needs <heist/distributed.hpp>.
  /// The program initializes and finalizes MPI. With MPI_THREAD_MULTIPLE it may call MPI at any time, with
  /// MPI_THREAD_SERIALIZED inside of with_mpi(). Collective. Throws executor_error if MPI is not initialized, or allows
  /// no threads.
  template <class Communicator>
  requires distributed::is_communicator<Communicator>
  explicit world(Communicator comm, world_options const& options = {});

  /// The processes of another engine.
  explicit world(std::unique_ptr<distributed::any_engine> e, world_options const& options = {})
      : options_{options}, engine_{std::move(e)}, links_(static_cast<std::size_t>(engine_->size())) {
    begin();
  }
  world(world const&) = delete;
  world& operator=(world const&) = delete;

  ~world() {
    if (std::uncaught_exceptions() > exceptions_ && size() > 1) {
      engine_->give_up(
          "heist: an exception destroys the world of rank " + std::to_string(rank()) +
          ", for which the others would wait; fix it by catching it, or by letting all ranks throw together.\n");
    }
    {
      std::lock_guard const guard{lock_};
      over_ = true;
    }
    changed_.notify_all();
    if (watch_.joinable()) watch_.join();
    engine_->stop();
  }

  /// Of this process: 0 to size() - 1.
  int rank() const { return engine_->rank(); }
  int size() const { return engine_->size(); }

  /// Collective: rank, host and process number of all.
  std::vector<distributed::member> members() {
    distributed::member me{rank(), std::string(256, '\0'), static_cast<long>(::getpid())};
    if (::gethostname(me.host.data(), me.host.size()) != 0) me.host = "?";
    me.host.resize(me.host.find('\0') == std::string::npos ? me.host.size() : me.host.find('\0'));
    auto const mine = distributed::detail::packed(std::tuple{me.rank, me.host, me.pid});
    auto const all = world_port_->agree(*this, mine, [](std::vector<distributed::bytes> const& offers) {
      std::vector<std::tuple<int, std::string, long>> list;
      for (auto const& o : offers) list.push_back(distributed::detail::unpacked<std::tuple<int, std::string, long>>(o));
      return distributed::detail::packed(list);
    });
    std::vector<distributed::member> found;
    for (auto& [r, host, pid] : distributed::detail::unpacked<std::vector<std::tuple<int, std::string, long>>>(all))
      found.push_back({r, std::move(host), pid});
    return found;
  }
  /// Runs `f` while heist makes no call of MPI: for calls of the program where MPI has only MPI_THREAD_SERIALIZED. The
  /// messages that stand ready in this process are given to MPI before. So `f` may wait, by calls of MPI, for a rank that
  /// waits for the end of a run which has ended here. `f` must not wait for a rank that
  /// still needs heist here: for a run in progress, barrier(), or the end of a world. Throws executor_error inside of
  /// another with_mpi(). A world may not be made or destroyed inside of `f`.
  void with_mpi(std::function<void()> const& f) { engine_->with_mpi(f); }

  /// Collective: returns when all ranks have called it.
  void barrier() {
    world_port_->agree(*this, {}, [](std::vector<distributed::bytes> const&) { return distributed::bytes{}; });
  }

 private:
  friend struct distributed::detail::world_access;
  using clock = std::chrono::steady_clock;

  /// To and from one rank.
  struct link {
    std::uint64_t sent = 0;
    std::size_t most = 0;            ///< bytes that a graph had in flight
    std::uint64_t taken = 0;         ///< all messages up to this number have come
    std::set<std::uint64_t> beyond;  ///< these, too

    /// False if it has come before.
    bool is_new(std::uint64_t number) {
      if (number == taken + 1 && beyond.empty()) return ++taken, true;
      if (number <= taken || !beyond.insert(number).second) return false;
      while (!beyond.empty() && *beyond.begin() == taken + 1) ++taken, beyond.erase(beyond.begin());
      return true;
    }
  };

  /// The values of one graph to and from one rank. Each graph has a window of its own, so values that the other rank
  /// does not use up yet delay no other graph.
  struct flow {
    std::size_t in_flight = 0;  ///< bytes of values that are not known to be used up there
    std::deque<distributed::message> waiting;
    std::size_t used_up = 0;  ///< here, of its values, and not yet told
  };
  struct open_port {
    std::shared_ptr<distributed::port> to;
    std::vector<flow> flows;  ///< by rank
  };

  /// The number of the port, the same on all ranks.
  std::uint32_t add(std::shared_ptr<distributed::port> p) {
    std::uint32_t number = 0;
    std::vector<std::pair<int, distributed::message>> early;
    {
      std::lock_guard const guard{lock_};
      number = next_port_++;
      ports_.emplace(number, open_port{p, std::vector<flow>(links_.size())});
      if (auto const found = early_.find(number); found != early_.end()) {
        early = std::move(found->second);
        early_.erase(found);
      }
    }
    for (auto& [from, m] : early) p->take(from, std::move(m));
    return number;
  }
  void remove(std::uint32_t number) {
    std::lock_guard const guard{lock_};
    ports_.erase(number);
  }

  /// Something is awaited from other ranks, until done_listening().
  void listens() {
    std::lock_guard const guard{lock_};
    last_news_ = clock::now();
    if (listeners_++ == 0) engine_->listen(true);
  }
  void done_listening() {
    std::lock_guard const guard{lock_};
    if (--listeners_ == 0) engine_->listen(false);
  }

  /// At once; not to this rank.
  void send(int to, distributed::message&& m) {
    {
      std::lock_guard const guard{lock_};
      number(to, m);
    }
    engine_->send(to, std::move(m));
  }
  /// A value: when the other rank has room for it. Lent bytes are copied, once for all ranks, if they have to wait.
  void send_value(int to, distributed::message_head const& head, distributed::bytes& value) {
    distributed::message m{head, value};
    {
      std::unique_lock guard{lock_};
      for (;;) {
        flow& f = ports_.at(m.head.graph).flows[static_cast<std::size_t>(to)];
        if (f.waiting.empty() && fits(f, m)) {
          admit(to, f, m);
          break;
        }
        if (!m.data.is_lent()) {
          f.waiting.push_back(std::move(m));
          return;
        }
        guard.unlock();
        value.keep();
        m.data = value;
        guard.lock();
      }
    }
    engine_->send(to, std::move(m));
  }
  /// A value of a graph from a rank has been used up here.
  void used_up(int from, std::uint32_t graph, std::size_t size) {
    std::size_t amount = 0;
    {
      std::lock_guard const guard{lock_};
      auto const found = ports_.find(graph);
      if (found == ports_.end()) return;
      flow& f = found->second.flows[static_cast<std::size_t>(from)];
      f.used_up += size + sizeof(distributed::message_head);
      if (f.used_up < options_.window / 4) return;
      amount = std::exchange(f.used_up, 0);
    }
    send(from, {{.kind = distributed::message_kind::received, .graph = graph, .amount = amount}, {}});
  }
  /// The most that a graph ever had under way to a rank, in bytes; for tests.
  std::size_t most_in_flight() const {
    std::lock_guard const guard{lock_};
    std::size_t most = 0;
    for (link const& l : links_) most = std::max(most, l.most);
    return most;
  }

  void begin() {
    world_port_ = std::make_shared<world_port>(*this);
    add(world_port_);
    engine_->start([this](int from, distributed::message&& m) { take(from, std::move(m)); },
                   [this](distributed::message_head const& h, std::size_t size) { return prepare(h, size); });
    if (size() > 1) watch_ = std::thread{[this] { watch(); }};
  }

  static std::size_t cost(distributed::message const& m) noexcept {
    return m.data.size() + sizeof(distributed::message_head);
  }
  /// The bytes that are used up and not reported are less than a quarter of the window: no message waits for ever.
  bool fits(flow const& f, distributed::message const& m) const noexcept {
    return f.in_flight <= options_.window / 2 || f.in_flight + cost(m) <= options_.window;
  }
  /// Under the lock.
  void admit(int to, flow& f, distributed::message& m) {
    f.in_flight += cost(m);
    link& l = links_[static_cast<std::size_t>(to)];
    l.most = std::max(l.most, f.in_flight);
    number(to, m);
  }
  /// Under the lock; the engine is given the message after it: the order does not matter, and an engine may take a
  /// while.
  void number(int to, distributed::message& m) { m.head.number = ++links_[static_cast<std::size_t>(to)].sent; }

  /// On the engine's thread.
  void take(int from, distributed::message&& m) {
    std::shared_ptr<distributed::port> to;
    {
      std::unique_lock guard{lock_};
      if (m.head.kind == distributed::message_kind::left) {
        left_.push_back(from);
        return changed_.notify_all();
      }
      link& l = links_[static_cast<std::size_t>(from)];
      if (!l.is_new(m.head.number)) return;
      last_news_ = clock::now();
      auto const found = ports_.find(m.head.graph);
      if (m.head.kind == distributed::message_kind::received) {
        if (found == ports_.end()) return;
        flow& f = found->second.flows[static_cast<std::size_t>(from)];
        f.in_flight -= std::min<std::size_t>(f.in_flight, m.head.amount);
        std::vector<distributed::message> go;
        for (; !f.waiting.empty() && fits(f, f.waiting.front()); f.waiting.pop_front())
          admit(from, f, go.emplace_back(std::move(f.waiting.front())));
        guard.unlock();
        for (distributed::message& next : go) engine_->send(from, std::move(next));
        return;
      }
      if (found == ports_.end()) {
        if (m.head.graph >= next_port_) early_[m.head.graph].emplace_back(from, std::move(m));
        return;
      }
      to = found->second.to;
    }
    to->take(from, std::move(m));
  }

  /// On the engine's thread.
  distributed::message prepare(distributed::message_head const& head, std::size_t size) {
    std::shared_ptr<distributed::port> to;
    if (head.kind == distributed::message_kind::value) {
      std::lock_guard const guard{lock_};
      if (auto const found = ports_.find(head.graph); found != ports_.end()) to = found->second.to;
    }
    if (to != nullptr) return to->prepare(head, size);
    return {head, distributed::bytes{size}};
  }

  /// Reports the awaited messages when no message has come for `silence` seconds. Ends the program if a port awaits a
  /// rank that has left.
  void watch() {
    using seconds = std::chrono::duration<double>;
    bool const is_limited = options_.silence > 0;
    seconds const limit{is_limited ? options_.silence : 3600.0};
    bool told = false;
    std::size_t left = 0, waits_for_left = 0;
    std::unique_lock guard{lock_};
    clock::time_point since = last_news_;
    for (;;) {
      seconds const pause = left == 0 ? limit / 4 : std::min<seconds>(limit / 4, std::chrono::milliseconds{200});
      changed_.wait_for(guard, pause, [&] { return over_ || left_.size() != left; });
      if (over_) return;
      left = left_.size();
      std::vector<std::shared_ptr<distributed::port>> all;
      for (auto const& [number, p] : ports_) all.push_back(p.to);
      if (left != 0 && listeners_ != 0) {
        auto const ranks = left_;
        guard.unlock();
        std::string const text = awaited_from(ranks, all);
        if (!text.empty() && ++waits_for_left == 2)
          engine_->give_up(text);  // at the second look, because a message may be on its way at the first
        if (text.empty()) waits_for_left = 0;
        guard.lock();
      }
      if (last_news_ != since) since = last_news_, told = false;
      if (told || !is_limited || listeners_ == 0 || clock::now() - since < limit) continue;
      guard.unlock();
      std::string text;
      for (auto const& p : all) text += p->awaited(options_.silence_ends);
      if (!text.empty()) {
        char text_of_limit[32];
        std::snprintf(text_of_limit, sizeof text_of_limit, "%g", options_.silence);
        text = "heist: for " + std::string{text_of_limit} + " s nothing has come to rank " + std::to_string(rank()) +
               ", which waits:\n" + text;
        if (options_.on_silence) {
          options_.on_silence(text);
        } else {
          std::fputs(text.c_str(), stderr);
        }
      }
      guard.lock();
      told = !text.empty() && !options_.silence_ends;
    }
  }

  std::string awaited_from(std::vector<int> const& ranks, std::vector<std::shared_ptr<distributed::port>> const& all) {
    for (int const r : ranks) {
      std::string what;
      for (auto const& p : all) what += p->awaited(false, r);
      if (what.empty()) continue;
      return "heist: rank " + std::to_string(r) + " has left its world, and rank " + std::to_string(rank()) +
             " waits for it:\n" + what +
             "fix it by the same runs on all ranks before one of them ends its world, or by an exception that leaves "
             "it.\n";
    }
    return {};
  }

  /// The port for messages of the world that belong to no graph.
  struct world_port final : distributed::port, distributed::agreement<world> {
    explicit world_port(world const& of) : distributed::agreement<world>{0}, of_{of} {}
    void take(int from, distributed::message&& m) override { take_part(from, std::move(m)); }
    std::string awaited(bool give_up, int from) override { return missing(give_up, of_.rank(), from); }

   private:
    world const& of_;
  };

  world_options options_;
  std::unique_ptr<distributed::any_engine> engine_;
  mutable std::mutex lock_;  // guards the rest
  std::condition_variable changed_;
  std::vector<link> links_;
  std::unordered_map<std::uint32_t, open_port> ports_;
  std::unordered_map<std::uint32_t, std::vector<std::pair<int, distributed::message>>> early_;
  std::shared_ptr<world_port> world_port_;
  std::uint32_t next_port_ = 0;
  std::size_t listeners_ = 0;
  std::vector<int> left_;  ///< ranks whose world has ended
  clock::time_point last_news_ = clock::now();
  bool over_ = false;
  int exceptions_ = std::uncaught_exceptions();
  std::thread watch_;
};

}  // namespace heist
