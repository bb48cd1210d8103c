// A program whose parts cost the same on every worker. It measures the cost of a scheduler's steps with full caches.
#pragma once

#include <cstddef>  // size_t
#include <optional>
#include <string>

#include "../locality/heat.hpp"
#include "../locality/programs.hpp"

namespace papers {

/// Heat, where each thread has its own plates. No line moves to another core, and each thread finds a part in
/// its own plates. The results have no meaning.
template <std::size_t SweepsPerStep>
class private_plates {
 public:
  static constexpr locality::description about = locality::heat_plate::about;
  static constexpr std::size_t sweeps_per_step = SweepsPerStep;
  static std::size_t bytes_for(std::size_t n) { return locality::heat_plate::bytes_for(n); }

  explicit private_plates(std::size_t n) : n_{n} {}

  void prepare() {}
  std::size_t most_sweeps() const { return own().most_sweeps(); }
  locality::range rows(std::size_t sweep) const { return own().rows(sweep); }
  void compute(std::size_t sweep, locality::range part) { own().compute(sweep, part); }
  double work(std::size_t sweep) const { return own().work(sweep); }
  std::size_t touched(std::size_t sweep, locality::range part) const { return own().touched(sweep, part); }
  std::size_t result(std::size_t) const { return 0; }
  std::string check(std::size_t) const { return {}; }

 private:
  locality::heat_plate& own() const {
    thread_local std::optional<locality::heat_plate> plates;
    if (!plates || plates->result(0).size() != n_) plates.emplace(n_).prepare();
    return *plates;
  }

  std::size_t n_;
};
template <std::size_t SweepsPerStep>
using private_rows = locality::in_halves<private_plates<SweepsPerStep>>;

}  // namespace papers
