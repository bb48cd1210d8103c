// All kernels, and a loop over them.
#pragma once

#include <tuple>

#include "cholesky.hpp"
#include "fft.hpp"
#include "fib.hpp"
#include "integrate.hpp"
#include "kernel.hpp"
#include "knapsack.hpp"
#include "mandelbrot.hpp"
#include "matmul.hpp"
#include "multisort.hpp"
#include "nqueens.hpp"
#include "quicksort.hpp"
#include "skynet.hpp"
#include "strassen.hpp"
#include "stress.hpp"
#include "substring_finder.hpp"
#include "uts.hpp"

namespace kernels {

using all = std::tuple<fib, skynet, nqueens, matmul, uts_t1, uts_t3, uts_t3l, multisort, strassen, cholesky, fft,
                       knapsack, stress, substring_finder, mandelbrot, integrate, quicksort>;

/// Calls f.operator()<Kernel>() for every kernel.
template <class F>
void for_each_kernel(F&& f) {
  [&]<kernel... K>(std::tuple<K...>*) {
    (f.template operator()<K>(), ...);
  }
  (static_cast<all*>(nullptr));
}

}  // namespace kernels
