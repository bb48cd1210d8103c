// Makes the netlist of an N x N array multiplier: rows of adders that add one partial product after the other.
#pragma once

#include "link.hpp"
#include "netlist.hpp"

#include <fmt/format.h>

#include <stdexcept>  // invalid_argument
#include <vector>

namespace timing {
namespace detail {

class multiplier_maker {
 public:
  explicit multiplier_maker(std::size_t bits) : bits_{bits} {
    circuit_.name = fmt::format("multiplier_{}", bits);
    circuit_.file = circuit_.name;
  }

  netlist make() {
    for (std::size_t i = 0; i < bits_; ++i) a_.push_back(circuit_.add_port(fmt::format("a{}", i), true));
    for (std::size_t i = 0; i < bits_; ++i) b_.push_back(circuit_.add_port(fmt::format("b{}", i), true));
    for (std::size_t i = 0; i < 2 * bits_; ++i) product_.push_back(circuit_.add_port(fmt::format("p{}", i), false));
    std::vector<net_id> sum;  // bit k has weight row + k
    for (std::size_t k = 0; k < bits_; ++k)
      sum.push_back(gate2("AND2_X1", a_[k], b_[0], k == 0 ? product_[0] : nothing));
    for (std::size_t row = 1; row < bits_; ++row) sum = add_row(row, sum);
    link(circuit_);
    return std::move(circuit_);
  }

 private:
  /// Adds a * b[row] to the sum of the rows above. Bit 0 of the result is final.
  std::vector<net_id> add_row(std::size_t row, std::vector<net_id> const& above) {
    bool const is_last = row + 1 == bits_;
    std::vector<net_id> sum;
    net_id carry = nothing;
    for (std::size_t k = 0; k < bits_; ++k) {
      auto const addend = gate2("AND2_X1", a_[k], b_[row]);
      auto const other = k + 1 < above.size() ? above[k + 1] : nothing;
      auto const target = k == 0 || is_last ? product_[row + k] : nothing;
      auto const last_carry = is_last && k + 1 == bits_ ? product_[2 * bits_ - 1] : nothing;
      if (k == 0) {
        carry = half_adder(addend, other, target, sum, last_carry);
      } else if (other == nothing) {
        carry = half_adder(addend, carry, target, sum, last_carry);
      } else {
        carry = full_adder(addend, other, carry, target, sum, last_carry);
      }
    }
    sum.push_back(carry);
    return sum;
  }

  net_id half_adder(net_id x, net_id y, net_id target, std::vector<net_id>& sum, net_id carry) {
    sum.push_back(gate2("XOR2_X1", x, y, target));
    return gate2("AND2_X1", x, y, carry);
  }

  net_id full_adder(net_id x, net_id y, net_id z, net_id target, std::vector<net_id>& sum, net_id carry) {
    auto const half = gate2("XOR2_X1", x, y);
    sum.push_back(gate2("XOR2_X1", half, z, target));
    return gate2("NAND2_X1", gate2("NAND2_X1", x, y), gate2("NAND2_X1", half, z), carry);
  }

  /// Adds a gate with two inputs that drives `target`, or else a new net. Returns the net that it drives.
  net_id gate2(char const* cell, net_id x, net_id y, net_id target = nothing) {
    if (target == nothing) target = circuit_.add_net(fmt::format("n{}", circuit_.nets.size()));
    net_id const ties[] = {x, y, target};
    circuit_.add_gate(fmt::format("g{}", circuit_.gates.size()), library().find(cell), ties);
    return target;
  }

  std::size_t bits_;
  netlist circuit_;
  std::vector<net_id> a_, b_, product_;
};

}  // namespace detail

inline constexpr std::size_t min_bits = 2;
inline constexpr std::size_t most_bits = 256;  // some 400 000 gates

/// The linked netlist of a multiplier with inputs a0..., b0... and outputs p0... Throws std::invalid_argument.
inline netlist make_multiplier(std::size_t bits) {
  if (bits < min_bits || bits > most_bits) {
    throw std::invalid_argument{
        fmt::format("a multiplier of {} bits is not made: its gates grow with the square; "
                    "choose {} to {} bits",
                    bits, min_bits, most_bits)};
  }
  return detail::multiplier_maker{bits}.make();
}

}  // namespace timing
