// How tokens pass a pipeline: each line carries one token at a time, and a task runs a line as long as it can.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>  // unique_ptr
#include <vector>

#include "heist/compat/taskflow/taskflow/algorithm/deferrals.hpp"
#include "heist/compat/taskflow/taskflow/algorithm/pipe.hpp"
#include "heist/compat/taskflow/taskflow/core/runtime.hpp"

namespace tf::detail {

/// A line is at a pipe when the line before it has left a serial pipe, and when it has left the pipe before.
class pipeline_base {
 public:
  pipeline_base(pipeline_base const&) = delete;
  pipeline_base& operator=(pipeline_base const&) = delete;

  std::size_t num_lines() const noexcept { return lines_.size(); }
  std::size_t num_tokens() const noexcept { return tokens_; }
  /// Begins with token 0 again. Must not be called while the pipeline runs.
  void reset() {
    tokens_ = passed_ = 0;
    held_.clear();
    std::size_t const pipes = types_.size();
    for (std::size_t l = 0; l != lines_.size(); ++l) {
      lines_[l] = {};
      lines_[l].line_ = l;
      for (std::size_t p = 0; p != pipes; ++p) {
        std::size_t const before = wanted(p) - (l == 0 && types_[p] == PipeType::SERIAL ? 1 : 0);
        waits_for(l, p).store(before - (p == 0 ? 1 : 0), std::memory_order_relaxed);  // relaxed: it does not run
      }
    }
  }
  Graph& graph() noexcept { return graph_; }

 protected:
  pipeline_base() = default;
  virtual ~pipeline_base() = default;
  virtual void call(Pipeflow& pf, NonpreemptiveRuntime& runtime) = 0;

  void take(pipeline_base& other) {
    tokens_ = std::exchange(other.tokens_, 0);
    passed_ = std::exchange(other.passed_, 0);
    held_ = std::exchange(other.held_, {});
    types_ = std::exchange(other.types_, {});
    lines_ = std::exchange(other.lines_, {});
    places_ = std::move(other.places_);
    other.graph_.clear();
    build();
  }
  void set_lines(std::size_t n) {
    if (n == 0) reject("heist: a pipeline has no lines; fix it by a number of lines above 0.");
    lines_.assign(n, {});
  }
  /// After set_lines().
  void set_pipes(std::vector<PipeType> types) {
    if (types.empty()) reject("heist: a pipeline has no pipes; fix it by one at least.");
    if (types.front() != PipeType::SERIAL)
      reject("heist: the first pipe of a pipeline is parallel; fix it by tf::PipeType::SERIAL.");
    types_ = std::move(types);
    places_ = std::make_unique<place[]>(lines_.size() * types_.size());
    reset();
  }
  void build() {
    graph_.clear();
    FlowBuilder{graph_}
        .emplace([this](Runtime& runtime) {
          scheduler_ = runtime.scheduler();
          run(passed_ % lines_.size());
        })
        .name("pipeline");
  }

 private:
  struct place {
    std::atomic<std::size_t> waits_for{0};
  };

  std::size_t wanted(std::size_t p) const noexcept { return static_cast<std::size_t>(types_[p]); }
  std::atomic<std::size_t>& waits_for(std::size_t l, std::size_t p) noexcept {
    return places_[l * types_.size() + p].waits_for;
  }
  /// Is that line at that pipe now?
  bool arrives(std::size_t l, std::size_t p) noexcept {
    return waits_for(l, p).fetch_sub(1, std::memory_order_acq_rel) == 1;  // acq_rel: what both lines have done
  }

  /// The first pipe. False: it has stopped.
  bool enter(Pipeflow& pf, NonpreemptiveRuntime& runtime) {
    for (bool unused = true;;) {
      if (unused && !held_.next(pf)) {
        pf.token_ = tokens_;
        pf.deferred_ = 0;
      }
      pf.stop_ = false;
      call(pf, runtime);
      if (pf.stop_) return false;
      if (pf.token_ == tokens_) ++tokens_;
      if (pf.after_.empty()) break;
      unused = held_.hold(pf, tokens_);
    }
    held_.passed(pf.token_);
    ++passed_;
    return true;
  }

  void run(std::size_t l) {
    NonpreemptiveRuntime runtime{*scheduler_.executor};
    for (;;) {
      Pipeflow& pf = lines_[l];
      std::size_t const p = pf.pipe_;
      waits_for(l, p).store(wanted(p), std::memory_order_relaxed);  // relaxed: for the next token; arrives() orders it
      if (p != 0) {
        call(pf, runtime);
      } else if (!enter(pf, runtime)) {
        return;
      }
      std::size_t const next_pipe = (p + 1) % types_.size(), next_line = (l + 1) % lines_.size();
      pf.pipe_ = next_pipe;
      bool const other = types_[p] == PipeType::SERIAL && arrives(next_line, p);
      bool const same = arrives(l, next_pipe);
      if (other && same) {
        start(next_line);
      } else if (other) {
        l = next_line;
      } else if (!same) {
        return;
      }
    }
  }
  void start(std::size_t l) {
    node* const n = make_async(scheduler_, DefaultTaskParams{});
    silent_work(*n, [this, l] { run(l); });
    schedule_async(*scheduler_.executor, *n);
  }

  Graph graph_;
  std::vector<PipeType> types_;
  std::vector<Pipeflow> lines_;
  std::unique_ptr<place[]> places_;      // by line and pipe: how many arrivals are awaited
  std::size_t tokens_ = 0, passed_ = 0;  // known, and through the first pipe
  deferrals held_;
  async_scheduler scheduler_{};
};

template <class C>
void call_pipe(C& callable, Pipeflow& pf, NonpreemptiveRuntime& runtime) {
  if constexpr (std::is_invocable_v<C&, Pipeflow&>) {
    callable(pf);
  } else {
    static_assert(std::is_invocable_v<C&, Pipeflow&, NonpreemptiveRuntime&>,
                  "heist: a pipe takes a tf::Pipeflow&, or that and a tf::NonpreemptiveRuntime&; fix the callable.");
    callable(pf, runtime);
  }
}

}  // namespace tf::detail
