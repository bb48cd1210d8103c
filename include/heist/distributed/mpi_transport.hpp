// Large values on their way by MPI. First of what includes <mpi.h>: it says which parts of MPI are wanted.
#pragma once

// MPI's own C++ classes are not used.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX 1
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <cstdint>
#include <vector>

namespace heist::distributed {

/// Moves large values by messages of MPI's own. A mover is asked by one thread at a time.
class mpi_transport {
 public:
  static constexpr int thread_level = MPI_THREAD_SERIALIZED;
  /// MPI counts in int; at most so much at a time.
  static constexpr std::size_t part = std::size_t{1} << 30;

  void open(MPI_Comm comm, int) { comm_ = comm; }
  void close() noexcept {}

  /// One value on its way; destroyed when done() was true.
  class move {
   public:
    bool is_ready() {
      int flag = 0;
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &flag, MPI_STATUSES_IGNORE);
      return flag != 0;
    }

   private:
    friend mpi_transport;
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

}  // namespace heist::distributed
