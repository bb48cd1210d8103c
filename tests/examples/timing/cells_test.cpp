// The cell library: logic, senses and numbers that make sense together.
#include "examples/timing/cells.hpp"

#include "simulate.hpp"
#include "support/catch.hpp"

using timing::library;
using timing::sense;

namespace {

timing::family const& family_named(std::string const& cell) {
  auto const id = library().find(cell);
  REQUIRE(id != timing::cell_library::unknown);
  return library().family_of(id);
}

bool output(timing::family const& kin, std::size_t out, std::initializer_list<int> inputs) {
  std::size_t state = 0;
  std::size_t i = 0;
  for (int const bit : inputs) state |= static_cast<std::size_t>(bit) << i++;
  return (kin.functions[out] >> state & 1) != 0;
}

}  // namespace

TEST_CASE("cells compute what their names say") {
  CHECK(output(family_named("NAND2_X1"), 0, {1, 0}));
  CHECK_FALSE(output(family_named("NAND2_X4"), 0, {1, 1}));
  CHECK(output(family_named("XNOR2_X1"), 0, {1, 1}));
  auto const& mux = family_named("MUX2_X2");
  CHECK(output(mux, 0, {1, 0, 0}));
  CHECK_FALSE(output(mux, 0, {1, 0, 1}));
  CHECK(output(mux, 0, {0, 1, 1}));
  auto const& aoi = family_named("AOI221_X2");  // !(A | B1 B2 | C1 C2)
  CHECK(output(aoi, 0, {0, 1, 0, 0, 1}));
  CHECK_FALSE(output(aoi, 0, {0, 1, 1, 0, 0}));
  CHECK_FALSE(output(aoi, 0, {1, 0, 0, 0, 0}));
  auto const& oai = family_named("OAI33_X1");
  CHECK(output(oai, 0, {1, 1, 1, 0, 0, 0}));
  CHECK_FALSE(output(oai, 0, {1, 0, 0, 0, 0, 1}));
  auto const& adder = family_named("FA_X1");
  for (int state = 0; state < 8; ++state) {
    int const a = state & 1, b = state >> 1 & 1, c = state >> 2;
    CHECK(output(adder, 0, {a, b, c}) == (a + b + c >= 2));
    CHECK(output(adder, 1, {a, b, c}) == ((a + b + c) % 2 == 1));
  }
}

TEST_CASE("senses follow from the logic") {
  CHECK(family_named("NAND3_X1").senses[0][2] == sense::negative);
  CHECK(family_named("AND2_X1").senses[0][0] == sense::positive);
  CHECK(family_named("XOR2_X1").senses[0][1] == sense::both);
  CHECK(family_named("MUX2_X1").senses[0][0] == sense::positive);
  CHECK(family_named("MUX2_X1").senses[0][2] == sense::both);
  CHECK(family_named("HA_X1").senses[0][0] == sense::positive);
  CHECK(family_named("HA_X1").senses[1][0] == sense::both);
}

TEST_CASE("every cell has sensible numbers") {
  for (std::size_t id = 0; id < library().size(); ++id) {
    auto const& cell = library()[static_cast<timing::cell_id>(id)];
    auto const& kin = library().family_of(static_cast<timing::cell_id>(id));
    INFO(cell.name);
    CHECK(kin.pinned.size() == kin.input_count + kin.output_count);
    CHECK(kin.output_count >= 1);
    CHECK(kin.input_count <= timing::most_inputs);
    CHECK((library().find(cell.name) == id) == !kin.is_hidden);
    if (kin.kind == timing::cell_kind::source) continue;
    CHECK(cell.capacitance > 0);
    if (kin.kind == timing::cell_kind::flip_flop) {
      CHECK(kin.pinned[0] == "CK");
      CHECK(kin.setup > 0);
      CHECK(kin.hold > 0);
      continue;
    }
    CHECK(kin.output_count <= timing::most_outputs);
    for (std::size_t out = 0; out < kin.output_count; ++out) {
      for (std::size_t pin = 0; pin < kin.input_count; ++pin) CHECK(kin.senses[out][pin] != sense::none);
    }
  }
}

TEST_CASE("a larger cell drives better and loads more") {
  for (auto const& kin : library().families()) {
    for (std::size_t i = 1; i < kin.sizes.size(); ++i) {
      auto const& small = library()[kin.sizes[i - 1]];
      auto const& large = library()[kin.sizes[i]];
      INFO(large.name);
      if (kin.kind == timing::cell_kind::source) continue;
      for (std::size_t edge : {timing::rise, timing::fall}) {
        auto const place = [](timing::cell const& c) { return timing::find_load(10'000, c.size); };
        auto const slew = timing::find_slew(20'000);
        CHECK(timing::find_delay(library().arc(large, 0)[edge][0], slew, place(large)) <
              timing::find_delay(library().arc(small, 0)[edge][0], slew, place(small)));
      }
      CHECK(large.capacitance >= small.capacitance);
    }
  }
}

TEST_CASE("tables hold what the formula says") {
  auto const& x2 = library()[library().find("NAND2_X2")];
  auto const& table = library().arc(x2, 1)[timing::rise];
  // Second pin: intrinsic 6500 + 1200; half of 6200 ohms; least load 1024 aF, least slew 4096 fs: RC = 3174.
  CHECK(table[0][0][0].delay == 7700 + 3335);          // sqrt(3174^2 + 1024^2) = 3335.1
  CHECK(table[0][0][0].slew == 3850 + 4869);           // sqrt(4761^2 + 1024^2) = 4869.9
  CHECK(table[1][6][6].delay > table[0][6][6].delay);  // the slow corner
  CHECK(table[2][0][0].delay < table[0][0][0].delay);  // the fast corner
}

TEST_CASE("tables grow with slew and load") {
  for (std::size_t id = 0; id < library().size(); ++id) {
    auto const& cell = library()[static_cast<timing::cell_id>(id)];
    if (library().family_of(static_cast<timing::cell_id>(id)).kind == timing::cell_kind::source) continue;
    INFO(cell.name);
    auto const& table = library().arc(cell, 0)[timing::fall][3];
    int falling = 0;
    for (std::size_t s = 0; s < timing::table_points; ++s) {
      for (std::size_t l = 0; l < timing::table_points; ++l) {
        if (s > 0) falling += table[s][l].delay < table[s - 1][l].delay || table[s][l].slew < table[s - 1][l].slew;
        if (l > 0) falling += table[s][l].delay <= table[s][l - 1].delay || table[s][l].slew <= table[s][l - 1].slew;
      }
    }
    CHECK(falling == 0);
  }
}

TEST_CASE("interpolation meets the points, is linear between them, and goes on beyond the heaviest load") {
  auto const& inverter = library()[library().find("INV_X4")];
  auto const& table = library().arc(inverter, 0)[timing::rise][0];
  for (std::size_t s = 0; s < timing::table_points; ++s) {
    auto const slew = timing::find_slew(static_cast<std::int32_t>(timing::least_slew << s));
    for (std::size_t l = 0; l < timing::table_points; ++l) {
      auto const load = timing::find_load((timing::least_load * 4) << l, 4);
      CHECK(timing::find_delay(table, slew, load) == table[s][l].delay);
      CHECK(timing::find_output_slew(table, slew, load) == timing::clamp_slew(table[s][l].slew));
    }
  }
  auto const slew = timing::find_slew(timing::least_slew);
  auto const middle = timing::find_load(timing::least_load * 4 * 3 / 2, 4);
  CHECK(timing::find_delay(table, slew, middle) == table[0][0].delay + ((table[0][1].delay - table[0][0].delay) >> 1));
  auto const last = timing::table_points - 1;
  auto const beyond = timing::find_load((timing::least_load * 4) << (last + 1), 4);
  CHECK(timing::find_delay(table, slew, beyond) ==
        table[0][last].delay + 2 * (table[0][last].delay - table[0][last - 1].delay));
  CHECK(timing::find_delay(table, slew, timing::find_load(0, 4)) < table[0][0].delay);
}

TEST_CASE("truth tables agree with the parallel evaluation of the simulator") {
  auto const& kin = family_named("AOI21_X1");
  std::vector<std::uint64_t> const inputs{timing::variable(0), timing::variable(1), timing::variable(2)};
  CHECK(timing_test::evaluate(kin.functions[0], inputs) == kin.functions[0]);
}

TEST_CASE("an unknown cell is not found") {
  CHECK(library().find("NAND9_X1") == timing::cell_library::unknown);
  CHECK(library().find("NAND2_X3") == timing::cell_library::unknown);
  CHECK(library().find("(input)") == timing::cell_library::unknown);
}
