// A genetic algorithm with islands (CATS): each island breeds for some generations on its own, then its best moves to
// the next island. Island and epoch determine all random numbers, so the result does not depend on the schedule.
#pragma once

#include <fmt/format.h>

#include <algorithm>  // min_element, max_element
#include <array>
#include <cmath>  // cos
#include <cstddef>
#include <limits>
#include <numbers>  // pi
#include <string>
#include <vector>

#include "program.hpp"

namespace locality {

/// Minimises Rastrigin's function of 16 numbers. An epoch is a sweep over the islands.
class components {
 public:
  static constexpr description about{.name = "ga",
                                     .problem = "a genetic algorithm on n islands, an epoch per step",
                                     .size_means = "islands n",
                                     .bound = bound_by::cpu,
                                     .smallest = 1,
                                     .largest = 100'000,
                                     .test = 6,
                                     .usual = 64,
                                     .leaf = 1,
                                     .steps = 20};
  static constexpr std::size_t sweeps_per_step = 1;
  static constexpr std::size_t genes = 16, population = 32;
  static constexpr int generations = 10;  // of an epoch
  static std::size_t bytes_for(std::size_t n) { return n * (sizeof(island) + 2 * sizeof(individual)); }

  struct individual {
    std::array<double, genes> values;
    double cost;

    bool operator==(individual const&) const = default;
  };

  explicit components(std::size_t n) : components_(n), emigrants_{burst(n), burst(n)} {}

  void prepare() {
    for (std::size_t i = 0; i < components_.size(); ++i) {
      random_numbers random{i};
      for (individual& one : components_[i]) {
        for (double& x : one.values) x = 10.24 * random.unit() - 5.12;
        one.cost = cost_of(one);
      }
      emigrants_[0][i] = best_of(components_[i]);
    }
    first_best_ = emigrants_[0];
  }

  std::size_t most_sweeps() const { return std::numeric_limits<std::size_t>::max(); }
  range rows(std::size_t) const { return {0, components_.size()}; }
  void compute(std::size_t epoch, range part) {
    for (std::size_t i = part.first; i < part.last; ++i) {
      island& here = components_[i];
      worst_of(here) = emigrants_[epoch % 2][(i + components_.size() - 1) % components_.size()];
      random_numbers random{(epoch + 1) * 1'000'003 + i};
      for (int g = 0; g < generations; ++g) here = next_generation(here, random);
      emigrants_[(epoch + 1) % 2][i] = best_of(here);
    }
  }
  double work(std::size_t) const { return static_cast<double>(components_.size()); }
  std::size_t touched(std::size_t, range part) const { return bytes_for(part.size()); }

  using island = std::array<individual, population>;
  std::vector<island> const& result(std::size_t) const { return components_; }

  /// The best individual of an island stays alive, so no island ends up worse than it began. The stored cost must equal
  /// the computed cost.
  std::string check(std::size_t) const {
    for (std::size_t i = 0; i < components_.size(); ++i) {
      individual const best = best_of(components_[i]);
      if (!(best.cost <= first_best_[i].cost && best.cost >= 0 && best.cost == cost_of(best)))
        return fmt::format("island {}: the best costs {}, at first {}", i, best.cost, first_best_[i].cost);
    }
    return {};
  }

 private:
  using burst = std::vector<individual>;

  static double cost_of(individual const& one) {
    double sum = 10.0 * genes;
    for (double const x : one.values) sum += x * x - 10 * std::cos(2 * std::numbers::pi * x);
    return sum;
  }

  static individual const& best_of(island const& all) {
    return *std::min_element(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.cost < b.cost; });
  }

  static individual& worst_of(island& all) {
    return *std::max_element(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.cost < b.cost; });
  }

  static individual const& winner(island const& all, random_numbers& random) {
    individual const &a = all[random.below(population)], &b = all[random.below(population)];
    return a.cost < b.cost ? a : b;
  }

  /// The best lives on; the others are children of two parents, with one gene in eight changed a little.
  static island next_generation(island const& old, random_numbers& random) {
    island young;
    young.front() = best_of(old);
    for (std::size_t i = 1; i < population; ++i) {
      individual const &mother = winner(old, random), &father = winner(old, random);
      individual& child = young[i];
      for (std::size_t g = 0; g < genes; ++g) {
        child.values[g] = random.below(2) == 0 ? mother.values[g] : father.values[g];
        if (random.below(8) == 0) child.values[g] += 0.5 * (random.unit() + random.unit() - 1);
      }
      child.cost = cost_of(child);
    }
    return young;
  }

  std::vector<island> components_;
  std::array<burst, 2> emigrants_;  ///< each island's best after the epoch before, by the parity of that
  burst first_best_;
};

}  // namespace locality
