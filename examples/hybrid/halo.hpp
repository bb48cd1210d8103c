// The exchange of rows between neighbouring ranks, by plain MPI.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <thread>

namespace hybrid {

enum side { above = 0, below = 1 };

/// One exchange at a time. The thread that has initialized MPI makes all calls (MPI_THREAD_FUNNELED).
class halo {
 public:
  halo(MPI_Comm comm, std::size_t columns) : comm_{comm}, columns_{static_cast<int>(columns)} {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    neighbours_ = {rank > 0 ? rank - 1 : MPI_PROC_NULL, rank + 1 < size ? rank + 1 : MPI_PROC_NULL};
  }

  bool has_neighbour(side s) const { return neighbours_[s] != MPI_PROC_NULL; }

  /// `rows` are the rows of this rank, and one more row before and after them for the neighbours' rows. Until finish(),
  /// the rows of this rank may be read. MPI writes the first and the last row.
  void start(double* rows, std::size_t count) {
    double* const first = rows + columns_;
    double* const last = rows + columns_ * static_cast<std::ptrdiff_t>(count);
    MPI_Irecv(rows, columns_, MPI_DOUBLE, neighbours_[above], down_tag, comm_, &receives_[above]);
    MPI_Irecv(last + columns_, columns_, MPI_DOUBLE, neighbours_[below], up_tag, comm_, &receives_[below]);
    MPI_Isend(first, columns_, MPI_DOUBLE, neighbours_[above], up_tag, comm_, &sends_[above]);
    MPI_Isend(last, columns_, MPI_DOUBLE, neighbours_[below], down_tag, comm_, &sends_[below]);
  }
  /// Calls `came(side)` for each neighbour when its row has arrived. Returns when the sent rows may be overwritten.
  /// MPI_Wait would keep a core busy that a worker needs, so this thread polls and yields.
  template <class F>
  void finish(F came) {
    for (int left = 2; left != 0;) {
      int which = MPI_UNDEFINED, flag = 0;
      MPI_Testany(2, receives_.data(), &which, &flag, MPI_STATUS_IGNORE);
      if (flag == 0) {
        std::this_thread::yield();
        continue;
      }
      --left;
      if (auto const s = static_cast<side>(which); has_neighbour(s)) came(s);
    }
    for (int flag = 0; flag == 0; std::this_thread::yield()) MPI_Testall(2, sends_.data(), &flag, MPI_STATUSES_IGNORE);
  }

 private:
  static constexpr int up_tag = 1, down_tag = 2;

  MPI_Comm comm_;
  int columns_;
  std::array<int, 2> neighbours_{};
  std::array<MPI_Request, 2> receives_{MPI_REQUEST_NULL, MPI_REQUEST_NULL}, sends_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace hybrid
