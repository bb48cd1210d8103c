// StarPU-MPI as the engine: its requests move the values, MPI the heads that announce them. Its workers are paused;
// tasks stay heist's.
#pragma once

#include "heist/distributed/mpi.hpp"  // first: it says which parts of MPI are wanted
//
#include <starpu.h>
#include <starpu_mpi.h>

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "heist/core/base/env.hpp"
#include "heist/core/base/errors.hpp"

namespace heist::distributed {

/// Moves large values as StarPU's data, by detached requests that its progress thread carries out.
class starpu_mover {
 public:
  static constexpr int thread_level = MPI_THREAD_MULTIPLE;  // StarPU's thread calls MPI, too
  static constexpr std::size_t part = std::size_t{1} << 30;

  void open(MPI_Comm, int) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = 1;  // none is refused
    conf.ncuda = conf.nopencl = 0;
    if (starpu_mpi_init_conf(nullptr, nullptr, 0, MPI_COMM_WORLD, &conf) != 0) {
      throw executor_error{
          "StarPU-MPI does not start; fix it by what it says on stderr (STARPU_SILENT unset), or by "
          "<heist/distributed.hpp>, "
          "which does without."};
    }
    starpu_pause();  // its worker would look for tasks all the time
  }
  void close() noexcept {
    starpu_resume();
    starpu_mpi_shutdown();
  }

  class move {
   public:
    bool is_ready() {
      if (parts_ == nullptr) return true;
      // acquire: pairs with ended()
      if (parts_->left.load(std::memory_order_acquire) != 0) return false;
      for (starpu_data_handle_t h : parts_->handles) starpu_data_unregister_no_coherency(h);
      parts_.reset();
      return true;
    }

   private:
    friend starpu_mover;
    struct state {
      os_env::atomic<std::size_t> left{0};
      std::vector<starpu_data_handle_t> handles;
    };
    static void ended(void* of) {
      static_cast<state*>(of)->left.fetch_sub(1, std::memory_order_release);  // release: the bytes are there
    }
    std::unique_ptr<state> parts_;
  };
  move send(char* data, std::size_t size, int to, std::uint64_t number) {
    return each_part(data, size, number, [&](starpu_data_handle_t h, starpu_mpi_tag_t tag, move::state* s) {
      return starpu_mpi_isend_detached(h, to, tag, MPI_COMM_WORLD, &move::ended, s);
    });
  }
  move receive(char* data, std::size_t size, int from, std::uint64_t number) {
    return each_part(data, size, number, [&](starpu_data_handle_t h, starpu_mpi_tag_t tag, move::state* s) {
      return starpu_mpi_irecv_detached(h, from, tag, MPI_COMM_WORLD, &move::ended, s);
    });
  }

 private:
  template <class Post>
  static move each_part(char* data, std::size_t size, std::uint64_t number, Post post) {
    move m;
    m.parts_ = std::make_unique<typename move::state>();
    std::size_t const count = (size + part - 1) / part;
    m.parts_->left.store(count, std::memory_order_relaxed);  // relaxed: the requests publish it
    m.parts_->handles.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      starpu_data_handle_t& h = m.parts_->handles[i];
      starpu_vector_data_register(&h, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(data + i * part),
                                  static_cast<std::uint32_t>(std::min(part, size - i * part)), 1);
      if (post(h, static_cast<starpu_mpi_tag_t>(number << 16 | i), m.parts_.get()) != 0) {
        throw executor_error{"StarPU-MPI takes no request for a value; fix it by what it says on stderr."};
      }
    }
    return m;
  }
};

using starpu_engine = basic_mpi_engine<starpu_mover>;
static_assert(engine<starpu_engine>);

/// For heist::world: MPI's processes. StarPU moves values of more than `small` bytes, with 0 all values that have
/// bytes; smaller values come with their heads, which is faster. `pause`: see world_options.
inline std::unique_ptr<any_engine> starpu(int& argc, char**& argv, unsigned pause = world_options{}.pause,
                                          std::size_t small = starpu_engine::together_up_to) {
  return std::make_unique<engine_of<starpu_engine>>(argc, argv, pause, small);
}

}  // namespace heist::distributed
