// Arrival times in a circuit: each gate is a task.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "multiplier.hpp"
#include "netlist.hpp"
#include "problem.hpp"
#include "reader.hpp"

namespace graph_locality {

/// A circuit with as many corners as the wanted size has room for. In each corner, a gate's output arrives when its
/// last input has arrived and the gate's own delay has passed. The delays change a little in each run, as after an
/// edit.
class circuit final : public problem {
 public:
  circuit(std::string name, timing::netlist const& of, std::size_t bytes) : name_{std::move(name)} {
    std::vector<std::size_t> place(of.gates.size());
    for (std::size_t i = 0; i != of.order.size(); ++i) place[of.order[i]] = i;
    std::uint32_t const levels = *std::max_element(of.level.begin(), of.level.end()) + 1;
    std::vector<std::size_t> on_level(levels, 0);
    for (timing::gate_id const g : of.order) {
      gate made;
      of.for_each_fan_in(g, [&](timing::gate_id from) {
        if (std::find(made.from.begin(), made.from.end(), place[from]) == made.from.end())
          made.from.push_back(place[from]);
      });
      made.level = of.level[g];
      made.number = on_level[made.level]++;
      gates_.push_back(std::move(made));
    }
    for (gate& g : gates_) g.of = on_level[g.level];
    corners_ = std::max<std::size_t>(1, bytes / (gates_.size() * 2 * sizeof(double)));
    reset();
  }
  std::string name() const override { return name_; }
  void reset() override {
    arrival_.assign(gates_.size() * corners_, 0.0);
    delay_.resize(gates_.size() * corners_);
    for (std::size_t i = 0; i != delay_.size(); ++i) delay_[i] = 1.0 + static_cast<double>(i * 7919 % 1000) / 1000;
  }
  double sum() const override {
    double s = 0;
    for (std::size_t i = 0; i != arrival_.size(); ++i) s += arrival_[i] * static_cast<double>(i % 17 + 1);
    return s;
  }
  std::vector<heist::task<>> build(heist::task_graph& g) override { return build_by_lists(g); }
  std::size_t tasks() const override { return gates_.size(); }
  /// Each level in equal parts.
  unsigned owner(std::size_t i, unsigned n) const override {
    return static_cast<unsigned>(gates_[i].number * n / gates_[i].of);
  }
  std::vector<std::size_t> before(std::size_t i) const override { return gates_[i].from; }
  void do_task(std::size_t i) override {
    double* const out = arrival_.data() + i * corners_;
    double* const delay = delay_.data() + i * corners_;
    std::fill(out, out + corners_, 0.0);
    for (std::size_t const from : gates_[i].from) {
      double const* const in = arrival_.data() + from * corners_;
      for (std::size_t k = 0; k != corners_; ++k) out[k] = std::max(out[k], in[k]);
    }
    for (std::size_t k = 0; k != corners_; ++k) out[k] += delay[k] = delay[k] * 0.999 + 0.001;
  }
  double elements() const override { return static_cast<double>(arrival_.size()); }
  double bytes() const override { return static_cast<double>(arrival_.size() * 2 * sizeof(double)); }

 private:
  struct gate {
    std::vector<std::size_t> from;
    std::size_t level = 0, number = 0, of = 1;  ///< its number on its level, of how many
  };
  std::string name_;
  std::vector<gate> gates_;
  std::size_t corners_ = 1;
  std::vector<double> arrival_, delay_;
};

}  // namespace graph_locality
