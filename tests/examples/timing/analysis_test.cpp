// The analysis, sequential and as a task graph, against the oracle: every load, arrival and required time.
#include <heist/heist.hpp>

#include "circuits.hpp"
#include "examples/timing/critical_path.hpp"
#include "examples/timing/multiplier.hpp"
#include "examples/timing/parallel.hpp"
#include "examples/timing/reader.hpp"
#include "examples/timing/sequential.hpp"
#include "oracle.hpp"
#include "random_circuit.hpp"
#include "support/catch.hpp"

namespace {

/// The path to the worst end point starts at a start point, adds up, ends with the worst slack, and follows real
/// connections.
void check_path(timing::netlist const& circuit, timing::times const& t, std::size_t bound) {
  auto const end = timing::worst_end_point(circuit, t, bound);
  auto const path = timing::path_to(circuit, t, end);
  if (end.net == timing::nothing) {
    CHECK(path.empty());
    return;
  }
  REQUIRE_FALSE(path.empty());
  auto const& kin = circuit.family_of(path.front().gate);
  CHECK((!kin.is_combinational() || kin.input_count == 0));
  timing::femtoseconds sum = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    sum += path[i].delay;
    REQUIRE(path[i].arrival == sum);
    REQUIRE(circuit.nets[path[i].net].driver == path[i].gate);
    if (i > 0) REQUIRE(circuit.inputs(path[i].gate)[path[i].pin] == path[i - 1].net);
  }
  CHECK(path.back().net == end.net);
  if (bound == timing::late) {
    CHECK(end.slack == t.period() - timing::setup_at(circuit, end.at, end.edge, end.corner) - sum);
  } else {
    CHECK(end.slack == sum - timing::hold_at(circuit, end.at, end.edge, end.corner));
  }
  auto least = timing::unconstrained;
  for (timing::net_id n = 0; n < circuit.nets.size(); ++n) least = std::min(least, t.slack(n, bound));
  CHECK(end.slack == least);
  auto const slacks = timing::end_point_slacks(circuit, t);
  if (bound == timing::late) CHECK(*std::min_element(slacks.begin(), slacks.end()) == least);
}

/// Everything about one circuit; `workers` is how many the task graph runs on.
void check_circuit(timing::netlist const& circuit, std::size_t corner_count, std::size_t workers) {
  INFO(circuit.name << ", " << workers << " workers");
  timing::times sequential{circuit, corner_count};
  timing::time_serial(circuit, sequential, std::nullopt);
  CHECK(sequential.period() == timing_test::shortest_period(circuit, corner_count));
  CHECK(timing_test::differences(circuit, sequential) == 0);
  check_path(circuit, sequential, timing::late);
  check_path(circuit, sequential, timing::early);

  heist::executor<> ex{workers};
  timing::times parallel{circuit, corner_count};
  timing::timing_graph graph{circuit, parallel, std::nullopt};
  CHECK(graph.size() == 2 * circuit.gates.size() + 1);
  for (int run = 0; run < 3; ++run) {
    graph.run(ex);
    CHECK(parallel == sequential);
  }

  timing::femtoseconds const period = sequential.period() / 2 + 1;
  timing::time_serial(circuit, sequential, period);
  timing::times shorter{circuit, corner_count};
  timing::timing_graph again{circuit, shorter, period};
  again.run(ex);
  CHECK(shorter == sequential);
  CHECK(timing_test::differences(circuit, shorter) == 0);
}

}  // namespace

TEST_CASE("two inverters, by hand") {
  auto const circuit = timing::read_verilog_file(timing_test::sample("tiny.v"));
  timing::times t{circuit, 1};
  timing::time_serial(circuit, t, 100'000);
  auto const n = circuit.gates[1].first_pin;  // pins of "second": A, ZN
  auto const inner = circuit.pinned[n];
  auto const z = circuit.pinned[n + 1];
  CHECK(t.load(inner) == 800 + 2 * 1700);  // wire, and the pin of an INV_X2
  CHECK(t.load(z) == 4000);                // an output port
  // A slew of 20 ps lies (20000 - 16384) / 16384 behind the third point. For an INV_X1, a load of 4.2 fF lies (4200 -
  // 4096) / 4096 behind the fourth point. For an INV_X2, a load of 4 fF lies (4000 - 2048) / 2048 behind the second
  // point.
  auto const& first = timing::library().arc(timing::library()[timing::library().find("INV_X1")], 0)[timing::fall][0];
  auto const along_load = [](int a, int b) { return a + ((b - a) * 1664 >> 16); };
  auto const light = along_load(first[2][3].delay, first[2][4].delay);
  auto const heavy = along_load(first[3][3].delay, first[3][4].delay);
  auto const delay = light + ((heavy - light) * 14464 >> 16);
  CHECK(t.arrival(inner, timing::late, timing::fall, 0) == delay);
  CHECK(t.arrival(inner, timing::early, timing::fall, 0) == delay);
  CHECK(delay > 3500 + 4100 * 4200 / 1000);  // more than without any slew
  CHECK(delay < 3500 + 4100 * 4200 / 1000 + 20'000 / 4);
  auto const second = t.delay(1, 0, z, timing::late, timing::fall, timing::rise, 0);
  CHECK(t.arrival(z, timing::late, timing::rise, 0) == delay + second);
  CHECK(t.required(inner, timing::late, timing::fall, 0) == 100'000 - second);
  CHECK(t.required(inner, timing::early, timing::fall, 0) == -second);
  CHECK(t.slack(z) ==
        100'000 - std::max(t.arrival(z, timing::late, timing::rise, 0), t.arrival(z, timing::late, timing::fall, 0)));
  CHECK(timing::path_to(circuit, t, timing::worst_end_point(circuit, t)).size() == 3);
}

TEST_CASE("our own circuits agree with the oracle") {
  for (auto const* name : {"half_adder.v", "counter.v", "tiny.v"}) {
    check_circuit(timing::read_verilog_file(timing_test::sample(name)), timing::most_corners, 2);
  }
  for (std::size_t bits : {2, 3, 8, 16}) check_circuit(timing::make_multiplier(bits), timing::most_corners, 2);
  check_circuit(timing::read_verilog("empty.v", "module empty; endmodule"), 1, 1);
}

TEST_CASE("the circuits of the shared folder agree with the oracle") {
  for (auto const& path : timing_test::outside_circuits()) check_circuit(timing::read_verilog_file(path), 3, 2);
}

TEST_CASE("random circuits agree with the oracle") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::size_t const gates = seed % 10 == 0 ? 3000 : 1 + seed * seed % 300;
    check_circuit(timing_test::random_circuit(seed, gates), 1 + seed % timing::most_corners,
                  std::size_t{1} << seed % 3);
  }
}

TEST_CASE("a circuit without end points has nothing to check") {
  auto const circuit =
      timing::read_verilog("m.v", "module m (a); input a; wire n; INV_X1 i (.A(a), .ZN(n)); endmodule");
  timing::times t{circuit, 1};
  timing::time_serial(circuit, t, std::nullopt);
  CHECK(t.period() == 0);
  CHECK(timing::worst_end_point(circuit, t).net == timing::nothing);
  CHECK(t.slack(0) == timing::unconstrained);
}
