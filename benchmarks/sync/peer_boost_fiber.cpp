// Boost.Fiber: work-stealing over a number of threads. Those without work spin, or sleep until a fiber of
// their own is ready: they are not woken for others' work.
#include <boost/fiber/all.hpp>

#include "rows.hpp"

namespace {

namespace fibers = boost::fibers;

class latch {
 public:
  explicit latch(std::ptrdiff_t n) : left_{n} {}
  void count_down() {
    std::unique_lock<fibers::mutex> lock{mutex_};
    if (--left_ == 0) open_.notify_all();
  }
  void wait() {
    std::unique_lock<fibers::mutex> lock{mutex_};
    while (left_ != 0) open_.wait(lock);
  }

 private:
  fibers::mutex mutex_;
  fibers::condition_variable open_;
  std::ptrdiff_t left_;
};

struct world {
  using mutex = fibers::mutex;
  using condition_variable = fibers::condition_variable;
  using latch = ::latch;
  using shared_mutex = void;
  struct barrier : fibers::barrier {
    explicit barrier(std::ptrdiff_t n) : fibers::barrier{static_cast<std::size_t>(n)} {}
    void arrive_and_wait() { wait(); }
  };
  struct channel : fibers::buffered_channel<int> {
    using fibers::buffered_channel<int>::buffered_channel;
    int pop() { return value_pop(); }
  };

  world(std::size_t n, bool sleeps) {
    for (std::size_t i = 0; i != n; ++i) {
      threads_.emplace_back([this, i, n, sleeps] {
        // One thread alone would look for a victim for ever.
        if (n != 1)
          fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(static_cast<std::uint32_t>(n), sleeps);
        if (i != 0) return over_.wait();
        std::function<void()> job;
        while (jobs_.pop(job) == fibers::channel_op_status::success) job();
        over_.count_down();
      });
    }
  }
  ~world() {
    jobs_.close();
    for (auto& t : threads_) t.join();
  }

  template <class F, class Meanwhile>
  void run(std::size_t n, F const& f, Meanwhile const& meanwhile) {
    latch done{1};
    jobs_.push([&] {
      std::vector<fibers::fiber> all;
      all.reserve(n);
      for (std::size_t i = 0; i != n; ++i) all.emplace_back([&f, i] { f(i); });
      for (auto& one : all) one.join();
      done.count_down();
    });
    meanwhile();
    done.wait();
  }

 private:
  fibers::buffered_channel<std::function<void()>> jobs_{2};
  latch over_{1};
  std::vector<std::thread> threads_;
};

}  // namespace

bench::peer bench::make_boost_fiber(std::size_t workers, idle_threads idle) {
  return peer_of(std::make_shared<world>(workers, idle == idle_threads::sleep));
}
