// The reader: the input that it accepts, and its messages for other input.
#include "examples/timing/reader.hpp"

#include <filesystem>
#include <initializer_list>
#include <string>

#include "circuits.hpp"
#include "examples/timing/multiplier.hpp"
#include "examples/timing/sequential.hpp"
#include "examples/timing/writer.hpp"
#include "message.hpp"
#include "simulate.hpp"
#include "support/catch.hpp"

using timing_test::contains;
using timing_test::message_of;
using timing_test::sample;

namespace {

std::string message_for_text(std::string const& text) {
  return message_of([&] { timing::read_verilog("m.v", text); });
}

/// The message for a module "m" with input a, output z and wires n and k, and these statements from line 5 on.
std::string message_for(std::string const& statements) {
  return message_for_text("module m (a, z);\ninput a;\noutput z;\nwire n, k;\n" + statements);
}

/// Does `message` begin with `place` and contain each of `words`?
bool says(std::string const& message, std::string const& place, std::initializer_list<char const*> words) {
  UNSCOPED_INFO(message);
  bool all = message.rfind(place + ": ", 0) == 0;
  for (auto const* word : words) all = all && contains(message, word);
  return all;
}

std::string const inverters = "INV_X1 i (.A(a), .ZN(n));\nINV_X1 j (.A(n), .ZN(z));\n";

}  // namespace

TEST_CASE("comments, escaped names, lists, constants and assign are read") {
  auto const circuit = timing::read_verilog_file(sample("half_adder.v"));
  CHECK(circuit.name == "half_adder");
  CHECK(circuit.ports.size() == 5);
  CHECK(circuit.cell_count == 7);  // five cells, a constant, an assign
  std::vector<std::uint64_t> values(circuit.nets.size());
  values[circuit.ports[0]] = 0b0101;
  values[circuit.ports[1]] = 0b0011;
  timing_test::simulate(circuit, values);
  CHECK((values[circuit.ports[2]] & 0b1111) == 0b0110);
  CHECK((values[circuit.ports[3]] & 0b1111) == 0b0001);
  CHECK(values[circuit.ports[4]] == ~std::uint64_t{0});
}

TEST_CASE("a port may be declared in the header, and a module may have no port") {
  CHECK(timing::read_verilog("m.v", "module m (input a, output z); INV_X1 i (.A(a), .ZN(z)); endmodule").cell_count ==
        1);
  CHECK(timing::read_verilog("m.v", "module m; endmodule").gates.empty());
  CHECK(timing::read_verilog("m.v", "module m (); endmodule\n// end").gates.empty());
}

TEST_CASE("flip-flops close loops that are no error, and may leave outputs open") {
  auto const circuit = timing::read_verilog_file(sample("counter.v"));
  CHECK(circuit.cell_count == 4);
  CHECK(circuit.order.size() == circuit.gates.size());
}

TEST_CASE("what is written reads back to the same circuit") {
  for (auto const& path : {sample("half_adder.v"), sample("counter.v")}) {
    auto const circuit = timing::read_verilog_file(path);
    auto const text = timing::to_verilog(circuit);
    auto const again = timing::read_verilog("again.v", text);
    CHECK(again.cell_count == circuit.cell_count);
    CHECK(again.nets.size() == circuit.nets.size());
    CHECK(timing::to_verilog(again) == text);
    timing::times first{circuit, timing::most_corners};
    timing::times second{again, timing::most_corners};
    timing::time_serial(circuit, first, std::nullopt);
    timing::time_serial(again, second, std::nullopt);
    CHECK(first.period() == second.period());
  }
}

TEST_CASE("an undeclared net is named with its line") {
  CHECK(says(message_for("INV_X1 i (.A(a), .ZN(n));\nINV_X1 j (.A(n_1), .ZN(z));\nendmodule\n"), "m.v:6",
             {"net 'n_1' is not declared", "wire n_1;"}));
}

TEST_CASE("an unknown cell is named with what there is instead") {
  CHECK(says(message_for("NAND9_X1 i (.A(a), .ZN(z));\n"), "m.v:5", {"'NAND9_X1'", "NAND2", "OAI33"}));
  CHECK(says(message_for("NAND2_X7 i (.A(a), .ZN(z));\n"), "m.v:5", {"'NAND2_X7'", "NAND2_X1 NAND2_X2 NAND2_X4"}));
}

TEST_CASE("a missing gate leaves a net without driver") {
  CHECK(says(message_for("INV_X1 j (.A(n), .ZN(z));\nendmodule\n"), "m.v:4",
             {"net 'n' has no driver", "gate 'j' (line 5)", "restore the missing gate"}));
  CHECK(says(message_for("INV_X1 i (.A(a), .ZN(n));\nendmodule\n"), "m.v:3", {"net 'z' has no driver", "output"}));
}

TEST_CASE("two drivers are both named") {
  CHECK(says(message_for(inverters + "BUF_X1 b (.A(k), .Z(n));\nBUF_X1 c (.A(a), .Z(k));\nendmodule\n"), "m.v:7",
             {"net 'n' has two drivers", "'i' (line 5)", "and 'b'"}));
  CHECK(says(message_for(inverters + "BUF_X1 b (.A(n), .Z(a));\nendmodule\n"), "m.v:7", {"net 'a' has two drivers"}));
}

TEST_CASE("a combinational loop is shown as a path") {
  auto const message = message_of([] { timing::read_verilog_file(sample("loop.v")); });
  INFO(message);
  bool const from_upper = contains(message, "upper -> lower -> upper");
  bool const from_lower = contains(message, "lower -> upper -> lower");
  CHECK((from_upper || from_lower));
  CHECK(contains(message, from_upper ? "loop.v:5: " : "loop.v:6: "));
  CHECK_FALSE(contains(message, "behind"));
  CHECK(contains(message, "flip-flop"));
  CHECK(says(message_for("XOR2_X1 x (.A(a), .B(z), .Z(z));\nendmodule\n"), "m.v:5", {"loop x -> x"}));
}

TEST_CASE("a long loop is cut to a readable length") {
  std::string text = "module m (z);\noutput z;\nwire n0";
  for (int i = 1; i < 100; ++i) text += ", n" + std::to_string(i);
  text += ";\nBUF_X1 b (.A(n0), .Z(z));\n";
  for (int i = 0; i < 100; ++i) {
    auto const n = std::to_string(i);
    text += "INV_X1 g" + n + " (.A(n" + n + "), .ZN(n" + std::to_string((i + 1) % 100) + "));\n";
  }
  CHECK(says(message_for_text(text + "endmodule"), "m.v:5", {"... 88 more gates ..."}));
}

TEST_CASE("a cut file is recognised wherever the cut is") {
  CHECK(contains(message_of([] { timing::read_verilog_file(sample("cut.v")); }),
                 "cut.v:7: the file ends inside the module"));
  auto const whole = timing::to_verilog(timing::make_multiplier(3));
  auto const end = whole.find("endmodule") + 9;
  for (std::size_t length = 0; length < end; ++length) {
    CHECK(message_for_text(whole.substr(0, length)).rfind("m.v:", 0) == 0);
  }
  CHECK(message_for_text(whole.substr(0, end)) == "no error");
  CHECK(says(message_for("/* no end"), "m.v:5", {"comment", "no end"}));
}

TEST_CASE("bytes that are no netlist are refused") {
  CHECK(says(message_for_text(""), "m.v:1", {"no module"}));
  CHECK(says(message_for_text("\x7f"
                              "ELF\x02"),
             "m.v:1", {"byte 0x7F"}));
  CHECK(says(message_for_text("hello"), "m.v:1", {"'hello'", "module"}));
  CHECK(says(message_for_text(std::string("module m;\n\0\0", 12)), "m.v:2", {"byte 0x00"}));
  CHECK(says(message_for("input [7:0] v;\n"), "m.v:5", {"vectors", "one net per bit"}));
  CHECK(says(message_for("`include \"x\"\n"), "m.v:5", {"unexpected '`'"}));
  CHECK(says(message_for("\\ \n"), "m.v:5", {"backslash"}));
  CHECK(says(message_for("assign n = 8'hFF;\n"), "m.v:5", {"8'hFF", "1'b0"}));
  CHECK(says(message_for("wire " + std::string(5000, 'w') + ";\n"), "m.v:5", {"5000 characters"}));
}

TEST_CASE("a net whose escaped name reads like a constant is another net") {
  auto const circuit = timing::read_verilog(
      "m.v",
      "module m (input a, output y); wire \\1'b0 , \\1'b0_ ; INV_X1 i (.A(a), .ZN(\\1'b0 ));\n"
      "BUF_X1 b (.A(a), .Z(\\1'b0_ )); NAND3_X1 n (.A1(\\1'b0 ), .A2(1'b0), .A3(\\1'b0_ ), .ZN(y)); endmodule");
  auto const text = timing::to_verilog(circuit);
  CHECK(timing::to_verilog(timing::read_verilog("again.v", text)) == text);
}

TEST_CASE("statements that do not fit say what is expected") {
  CHECK(says(message_for("INV_X1 i (a, n);\n"), "m.v:5", {"'i' is connected by position", ".PIN(net)"}));
  CHECK(says(message_for("INV_X1 i (.A1(a), .ZN(n));\n"), "m.v:5", {"no pin 'A1'", "A ZN"}));
  CHECK(says(message_for("INV_X1 i (.A(a), .A(n));\n"), "m.v:5", {"connects pin A twice"}));
  CHECK(says(message_for("INV_X1 i (.ZN(z));\nendmodule"), "m.v:5", {"leaves its input pin A open"}));
  CHECK(says(message_for("INV_X1 i (.A(a), .ZN(z))\nendmodule\n"), "m.v:6", {"';' is expected"}));
  CHECK(says(message_for("INV_X1 (.A(a), .ZN(z));\n"), "m.v:5", {"'(' stands where the name of the gate"}));
  CHECK(says(message_for("inout n;\n"), "m.v:5", {"inout"}));
  CHECK(says(message_for("input n;\n"), "m.v:5", {"'n' is declared input but is no port"}));
  CHECK(says(message_for("output a;\n"), "m.v:5", {"both input and output"}));
  CHECK(says(message_for(inverters + "endmodule\nmodule k; endmodule\n"), "m.v:8", {"'module' follows the end"}));
  CHECK(says(message_for_text("module m (a);\nendmodule"), "m.v:1", {"port 'a' has no direction"}));
  CHECK(says(message_for_text("module m (a,\na);\nendmodule"), "m.v:2", {"port 'a' is listed twice"}));
}

TEST_CASE("a file that cannot be read or is too large says so") {
  auto const message = [](std::string const& path, std::size_t limit) {
    return message_of([&] { timing::read_verilog_file(path, limit); });
  };
  CHECK(contains(message("no/such/file.v", 100), "no/such/file.v: the file cannot be read"));
  CHECK(contains(message(std::filesystem::temp_directory_path().string(), 100), "cannot be read"));
  CHECK(contains(message(sample("counter.v"), 100), "larger than 100 bytes"));
}
