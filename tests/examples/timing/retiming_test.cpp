// Re-timing what changes touch gives the same as timing everything again.
#include "examples/timing/retiming.hpp"

#include <heist/heist.hpp>

#include "circuits.hpp"
#include "examples/timing/multiplier.hpp"
#include "examples/timing/reader.hpp"
#include "examples/timing/sequential.hpp"
#include "oracle.hpp"
#include "random_circuit.hpp"
#include "support/catch.hpp"

namespace {

struct outcome {
  std::size_t wrong = 0;  // batches after which the times were not those of a full analysis
  std::size_t visits = 0;
  bool agrees_with_oracle = false;
};

outcome change_often(timing::netlist circuit, std::size_t workers, std::uint64_t seed, int batches, std::size_t batch) {
  timing::times t{circuit, 2};
  timing::time_serial(circuit, t, std::nullopt);
  heist::executor<> ex{workers};
  timing::change_source source{circuit, seed};
  timing::retimer again{circuit, t};
  outcome result;
  for (int i = 0; i < batches; ++i) {
    std::vector<timing::change> changes;
    while (changes.size() < batch) changes.push_back(source.next());
    result.visits += ex.invoke([&] { return again.run(changes); });
    timing::times unused{circuit, 2};
    timing::time_serial(circuit, unused, t.period());
    result.wrong += t == unused ? 0 : 1;
  }
  result.agrees_with_oracle = timing_test::differences(circuit, t) == 0;
  return result;
}

}  // namespace

TEST_CASE("re-timing equals a full analysis, for many seeds") {
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    INFO("seed " << seed);
    auto const result = change_often(timing_test::random_circuit(seed, 10 + seed * 7 % 400), std::size_t{1} << seed % 3,
                                     seed, 10, 1 + seed % 5);
    CHECK(result.wrong == 0);
    CHECK(result.agrees_with_oracle);
  }
}

TEST_CASE("re-timing a multiplier equals a full analysis") {
  auto const circuit = timing::make_multiplier(16);
  auto const result = change_often(circuit, 2, 7, 50, 1);
  CHECK(result.wrong == 0);
  CHECK(result.agrees_with_oracle);
  CHECK(result.visits > 0);
  CHECK(result.visits < 50 * circuit.gates.size() / 2);  // a full analysis visits each gate twice
}

TEST_CASE("a change that changes nothing ends where it begins") {
  auto circuit = timing::make_multiplier(16);
  timing::times t{circuit, 2};
  timing::time_serial(circuit, t, std::nullopt);
  timing::retimer again{circuit, t};
  timing::change same;
  same.gate = 100;
  same.cell = circuit.gates[same.gate].cell;
  CHECK(again.run(std::span{&same, 1}) < 12);
}

TEST_CASE("wide levels are shared among workers and come out the same") {
  auto const circuit = timing::make_multiplier(24);
  auto const result = change_often(circuit, 4, 11, 10, 400);
  CHECK(result.wrong == 0);
  CHECK(result.agrees_with_oracle);
}

TEST_CASE("re-timing the circuits of the shared folder equals a full analysis") {
  for (auto const& path : timing_test::outside_circuits()) {
    INFO(path);
    auto const result = change_often(timing::read_verilog_file(path), 2, 7, 5, 3);
    CHECK(result.wrong == 0);
  }
}

TEST_CASE("changes are the same for the same seed, and all apply") {
  auto circuit = timing::make_multiplier(8);
  timing::change_source first{circuit, 3};
  timing::change_source second{circuit, 3};
  int resized = 0;
  for (int i = 0; i < 200; ++i) {
    auto const a = first.next();
    auto const b = second.next();
    CHECK(a.gate == b.gate);
    CHECK(a.cell == b.cell);
    CHECK(a.net == b.net);
    CHECK(a.extra_load == b.extra_load);
    if (a.kind == timing::change_kind::resize) {
      ++resized;
      CHECK(a.cell != circuit.gates[a.gate].cell);
      CHECK(timing::library()[a.cell].family == timing::library()[circuit.gates[a.gate].cell].family);
    }
  }
  CHECK(resized > 50);
  CHECK(resized < 150);
}

TEST_CASE("no changes, no visits; a circuit without cells can be changed too") {
  auto circuit = timing::read_verilog("m.v", "module m (a, z); input a; output z; assign z = a; endmodule");
  timing::times t{circuit, 1};
  timing::time_serial(circuit, t, std::nullopt);
  timing::retimer again{circuit, t};
  CHECK(again.run({}) == 0);
  timing::change_source source{circuit, 1};
  auto const change = source.next();
  CHECK(again.run(std::span{&change, 1}) > 0);
  CHECK(timing_test::differences(circuit, t) == 0);
}
