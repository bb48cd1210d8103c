// A kernel as a program: a step is a complete run.
#pragma once

#include <cstddef>  // size_t
#include <limits>
#include <string>

#include "program.hpp"

namespace locality {

template <kernels::kernel Kernel>
class complete_runs {
 public:
  static constexpr std::size_t branching = [] {
    if constexpr (requires { Kernel::branching; }) return std::size_t{Kernel::branching};
    return std::size_t{0};
  }();
  static std::size_t bytes_for(std::size_t size) {
    if constexpr (requires { Kernel::bytes_for(size); }) return Kernel::bytes_for(size);
    return 0;
  }

  explicit complete_runs(settings const& s) : kernel_{s.size}, bytes_{bytes_for(s.size)} {}

  void prepare() {}
  void restart() { kernel_.prepare(); }
  template <class Context, class Notes>
  void step(Context ctx, std::size_t, Notes const&) {
    kernel_.parallel(ctx);
  }
  void serial_step(std::size_t) { kernel_.serial(); }

  std::size_t most_steps() const { return std::numeric_limits<std::size_t>::max(); }
  double work(std::size_t) const { return 1; }
  std::size_t bytes() const { return bytes_; }
  decltype(auto) result(std::size_t) const { return kernel_.result(); }
  std::string check(std::size_t) const { return kernel_.check(); }

 private:
  Kernel kernel_;
  std::size_t bytes_;
};

}  // namespace locality
