// The steps of a Fourier transform that are not parallel, for libraries whose tasks cannot be those of the kernel
// itself.
#pragma once

#include <array>
#include <cstddef>  // size_t

#include "../../examples/kernels/fft.hpp"

namespace bench {

/// A transform of n numbers divided into R of m each. `step`: how far apart the n-th roots of unity are.
template <std::size_t R>
struct division {
  std::size_t n, m = n / R;
  kernels::fft::complex *in, *out;
  kernels::fft::complex const* roots;
  std::size_t step;

  void unshuffle(std::size_t i) const {
    for (std::size_t j = 0; j < R; ++j) out[j * m + i] = in[i * R + j];
  }
  void put_together(std::size_t i) const {
    std::array<kernels::fft::complex, R> turned, sums;
    for (std::size_t j = 0; j < R; ++j) turned[j] = in[j * m + i] * roots[i * j * step];
    kernels::fft::small<R>(turned.data(), 1, sums.data());
    for (std::size_t j = 0; j < R; ++j) out[j * m + i] = sums[j];
  }
};

}  // namespace bench
