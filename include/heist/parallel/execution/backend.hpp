// The backend of std::execution's parallel scheduler (P2079): tasks of default_executor() (README.md).
#pragma once

#include "heist/parallel/execution/names.hpp"

#if defined(__cpp_lib_parallel_scheduler) || \
    (!defined(__cpp_lib_senders) && __has_include(<stdexec/__detail/__parallel_scheduler_backend.hpp>))
#define HEIST_HAS_PARALLEL_SCHEDULER 1

#include <cstddef>    // byte, size_t
#include <exception>  // current_exception
#include <memory>     // align, shared_ptr
#include <new>
#include <span>

#include "heist/core/executor/executor.hpp"
#include "heist/parallel/async/default_executor.hpp"
#include "heist/parallel/execution/bulk.hpp"
#include "heist/parallel/execution/scheduler.hpp"

namespace heist::detail {

namespace replacement = execution::parallel_scheduler_replacement;

/// A task in the storage that the parallel scheduler gives, or in a block of its own if the storage is too small.
template <class Receiver>
class backend_item : sender_item {
 public:
  /// Schedules Work{}(receiver, n). A failure is sent as an error, at once.
  template <class Work>
  static void start(Receiver& to, std::size_t n, std::span<std::byte> storage) noexcept {
    backend_item* made = nullptr;
    try {
      core& scheduler = executor_access::core_of(default_executor());
      void* at = storage.data();
      std::size_t space = storage.size();
      bool const fits = std::align(alignof(backend_item), sizeof(backend_item), at, space) != nullptr;
      made = fits ? ::new (at) backend_item{&run<Work>, to, n, false} : new backend_item{&run<Work>, to, n, true};
      scheduler.submit(*made, [made](unsigned w) { made->wave = w; });
    } catch (...) {
      if (made != nullptr) made->leave();
      to.set_error(std::current_exception());
    }
  }

 private:
  backend_item(work_function f, Receiver& to, std::size_t n, bool allocated) noexcept
      : sender_item{f}, allocated_{allocated}, to_{to}, n_{n} {}

  template <class Work>
  static void run(sender_item& self) noexcept {
    auto& item = static_cast<backend_item&>(self);
    Receiver& to = item.to_;
    std::size_t const n = item.n_;
    item.leave();  // before the receiver is called, which may end the storage
    using token = stop_tokens::inplace_stop_token;
    auto const stop = to.template try_query<token>(stop_tokens::get_stop_token);
    if (stop && stop->stop_requested()) return to.set_stopped();
    try {
      Work{}(to, n);
    } catch (...) {
      return to.set_error(exception_of_task());
    }
    to.set_value();
  }
  void leave() noexcept {
    if (allocated_) delete this;
  }

  bool const allocated_;
  Receiver& to_;
  std::size_t const n_;
};

/// Has no state: all copies are the same backend.
class parallel_backend : public replacement::parallel_scheduler_backend {
  using one = replacement::receiver_proxy;
  using many = replacement::bulk_item_receiver_proxy;

 public:
  void schedule(one& to, std::span<std::byte> storage) noexcept override {
    backend_item<one>::start<nothing>(to, 0, storage);
  }
  void schedule_bulk_chunked(std::size_t n, many& to, std::span<std::byte> storage) noexcept override {
    backend_item<many>::start<in_chunks>(to, n, storage);
  }
  void schedule_bulk_unchunked(std::size_t n, many& to, std::span<std::byte> storage) noexcept override {
    backend_item<many>::start<each_alone>(to, n, storage);
  }

 private:
  struct nothing {
    void operator()(one&, std::size_t) const noexcept {}
  };
  struct in_chunks {
    void operator()(many& to, std::size_t n) const {
      auto chunk = [&to](std::size_t lo, std::size_t hi) { to.execute(lo, hi); };
      run_bulk<true>(n, chunk);
    }
  };
  struct each_alone {
    void operator()(many& to, std::size_t n) const {
      each_of_chunk each{[&to](std::size_t i) { to.execute(i, i + 1); }};
      run_bulk<true>(n, each);
    }
  };
};

/// Shares the one backend, without a counter.
inline std::shared_ptr<replacement::parallel_scheduler_backend> share_parallel_backend() {
  static parallel_backend only;
  return {std::shared_ptr<void>{}, &only};
}

}  // namespace heist::detail

#endif
