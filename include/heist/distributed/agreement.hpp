// All ranks agree on a value: each rank makes an offer, and rank 0 sends the combined answer to all.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>  // move
#include <vector>

#include "heist/distributed/errors.hpp"
#include "heist/distributed/message.hpp"
#include "heist/distributed/world_access.hpp"

namespace heist::distributed {

/// Threads  agree() by one thread at a time, and by all ranks in the same order; the rest by any.
template <class World>
class agreement {
 public:
  explicit agreement(std::uint32_t port) noexcept : port_{port} {}
  void set_port(std::uint32_t port) noexcept { port_ = port; }

  /// Collective: what rank 0's `combine` makes of all offers, by rank. It is waited for by blocking the thread. Throws
  /// distributed_error if a rank is silent (world_options::silence_ends).
  bytes agree(World& w, bytes const& mine, std::function<bytes(std::vector<bytes> const&)> const& combine) {
    auto const size = static_cast<std::size_t>(w.size());
    if (size == 1) return combine({mine});
    detail::world_access::listens(w);
    struct listening {
      World& w;
      ~listening() { detail::world_access::done_listening(w); }
    } const until_then{w};
    std::unique_lock guard{lock_};
    std::uint32_t const now = ++version_;
    if (w.rank() != 0) {
      guard.unlock();
      detail::world_access::send(w, 0, {{.kind = message_kind::offer, .graph = port_, .run = now}, mine});
      guard.lock();
      wait(guard, [&] { return answers_.contains(now); });
      bytes const answer = std::move(answers_.at(now));
      answers_.erase(now);
      return answer;
    }
    wait(guard, [&] { return offers_[now].size() + 1 == size; });
    std::vector<bytes> all(size);
    all[0] = mine;
    for (auto& [rank, offer] : offers_[now]) all[static_cast<std::size_t>(rank)] = std::move(offer);
    offers_.erase(now);
    guard.unlock();
    bytes const answer = combine(all);
    for (int to = 1; to < w.size(); ++to)
      detail::world_access::send(w, to, {{.kind = message_kind::answer, .graph = port_, .run = now}, answer});
    return answer;
  }

 protected:
  void take_part(int from, message&& m) {
    std::lock_guard const guard{lock_};
    if (m.head.kind == message_kind::offer) {
      offers_[m.head.run][from] = std::move(m.data);
    } else {
      answers_[m.head.run] = std::move(m.data);
    }
    changed_.notify_all();
  }

  /// Returns what the agreement in progress awaits from rank `from`, or from all ranks if `from` is -1. Empty: it
  /// awaits nothing, or no agreement is in progress.
  std::string missing(bool give_up, int me, int from) {
    std::lock_guard const guard{lock_};
    if (!waits_ || (from >= 0 && (me == 0 ? offers_[version_].contains(from) : from != 0))) return {};
    if (give_up) {
      given_up_ = true;
      changed_.notify_all();
    }
    std::string text = "  for all ranks to " + doing_ + ": nothing from";
    if (auto const mine = offers_.find(version_); mine != offers_.end()) {
      text += " ranks that have not come to it (there are";
      for (auto const& [rank, offer] : mine->second) text += " " + std::to_string(rank);
      return text + ")\n";
    }
    return text + " rank 0\n";
  }

  std::string doing_ = "meet";

 private:
  template <class Until>
  void wait(std::unique_lock<std::mutex>& guard, Until until) {
    waits_ = true;
    changed_.wait(guard, [&] { return given_up_ || until(); });
    waits_ = false;
    if (!until()) {
      throw distributed_error{
          -1, "nothing has come for too long from some rank with which all were to " + doing_ + "; this is over."};
    }
  }

  std::uint32_t port_;
  std::mutex lock_;  // guards the rest
  std::condition_variable changed_;
  std::uint32_t version_ = 0;
  std::map<std::uint32_t, std::map<int, bytes>> offers_;
  std::map<std::uint32_t, bytes> answers_;
  bool waits_ = false, given_up_ = false;
};

}  // namespace heist::distributed
