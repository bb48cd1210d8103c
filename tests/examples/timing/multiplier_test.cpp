// The generated multiplier multiplies, and is the same circuit after being written and read.
#include "examples/timing/multiplier.hpp"

#include <random>

#include "examples/timing/reader.hpp"
#include "examples/timing/sequential.hpp"
#include "examples/timing/writer.hpp"
#include "message.hpp"
#include "simulate.hpp"
#include "support/catch.hpp"

namespace {

/// Multiplies 64 random pairs of numbers in the netlist and compares with the processor's products.
std::size_t wrong_products(timing::netlist const& circuit, std::size_t bits, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  auto const mask = (std::uint64_t{1} << bits) - 1;
  std::vector<std::uint64_t> values(circuit.nets.size());
  std::uint64_t a[64], b[64];
  for (std::size_t pattern = 0; pattern < 64; ++pattern) {
    a[pattern] = pattern == 0 ? mask : random() & mask;
    b[pattern] = pattern == 0 ? mask : random() & mask;
    for (std::size_t i = 0; i < bits; ++i) {
      values[circuit.ports[i]] |= (a[pattern] >> i & 1) << pattern;
      values[circuit.ports[bits + i]] |= (b[pattern] >> i & 1) << pattern;
    }
  }
  timing_test::simulate(circuit, values);
  std::size_t wrong = 0;
  for (std::size_t pattern = 0; pattern < 64; ++pattern) {
    std::uint64_t product = 0;
    for (std::size_t i = 0; i < 2 * bits; ++i) {
      product |= (values[circuit.ports[2 * bits + i]] >> pattern & 1) << i;
    }
    wrong += product != a[pattern] * b[pattern] ? 1 : 0;
  }
  return wrong;
}

}  // namespace

TEST_CASE("the multiplier's product is right") {
  for (std::size_t bits : {2, 3, 4, 5, 8, 16, 31, 32}) {
    auto const circuit = timing::make_multiplier(bits);
    INFO(bits << " bits");
    for (std::uint64_t seed = 0; seed < 4; ++seed) CHECK(wrong_products(circuit, bits, seed) == 0);
  }
}

TEST_CASE("the multiplier is the same after being written and read") {
  for (std::size_t bits : {2, 7, 16}) {
    auto const circuit = timing::make_multiplier(bits);
    auto const again = timing::read_verilog("m.v", timing::to_verilog(circuit));
    CHECK(again.name == circuit.name);
    CHECK(again.cell_count == circuit.cell_count);
    CHECK(wrong_products(again, bits, 5) == 0);
    timing::times first{circuit, timing::most_corners};
    timing::times second{again, timing::most_corners};
    timing::time_serial(circuit, first, 1'000'000);
    timing::time_serial(again, second, 1'000'000);
    CHECK(first == second);
  }
}

TEST_CASE("the size of a multiplier is limited") {
  CHECK(timing_test::contains(timing_test::message_of([] { timing::make_multiplier(1); }), "choose 2 to 256 bits"));
  CHECK_THROWS_AS(timing::make_multiplier(100'000), std::invalid_argument);
}
