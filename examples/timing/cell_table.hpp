// The numbers of the cell library, under the names of the NanGate 45 nm cells. The numbers are our own: plausible for
// such a process and good for comparing runs, not for making a chip.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace timing {

/// How the outputs of a family get their times: from the inputs, from a clock edge, or at time 0.
enum class cell_kind : std::uint8_t { combinational, flip_flop, source };

/// One family in all its sizes. Times are in femtoseconds, resistances in ohms and capacitances in attofarads, all for
/// size X1. X4 drives with a quarter of the resistance. `buffered` cells have an output stage of their own, so their
/// input capacitance grows less with the size. `step` is the delay that each further input adds. delay_tables.hpp makes
/// tables from them.
struct family_row {
  std::string_view name;
  cell_kind kind;
  std::string_view inputs;   // separated by blanks; a flip-flop's clock is CK
  std::string_view outputs;  // "pin=function" separated by blanks; a flip-flop's function is ignored
  std::string_view sizes;    // separated by blanks
  bool buffered;
  std::int64_t rise, fall;  // intrinsic delay
  std::int64_t step;
  std::int64_t pull_up, pull_down;  // resistance
  std::int64_t capacitance;         // of one input pin
  std::int64_t setup;               // flip-flops only
};

// clang-format off
inline constexpr auto cell_table = [] {
  constexpr auto gate = cell_kind::combinational;
  constexpr auto flip = cell_kind::flip_flop;
  constexpr auto tie = cell_kind::source;
  return std::to_array<family_row>({
    // name      kind  inputs               outputs                             sizes           buf.    rise    fall  step    up  down   cap  setup
    {"INV",      gate, "A",                 "ZN=!A",                            "1 2 4 8 16 32", false,  4500,   3500,    0, 6200, 4100, 1700,     0},
    {"BUF",      gate, "A",                 "Z=A",                              "1 2 4 8 16 32", true,  17000,  19000,    0, 6000, 4000,  950,     0},
    {"CLKBUF",   gate, "A",                 "Z=A",                              "1 2 3",         true,  18000,  19000,    0, 5200, 4900,  800,     0},
    {"NAND2",    gate, "A1 A2",             "ZN=!(A1&A2)",                      "1 2 4",         false,  6500,   6000, 1200, 6200, 5900, 1600,     0},
    {"NAND3",    gate, "A1 A2 A3",          "ZN=!(A1&A2&A3)",                   "1 2 4",         false,  8500,   9500, 1500, 6200, 7600, 1600,     0},
    {"NAND4",    gate, "A1 A2 A3 A4",       "ZN=!(A1&A2&A3&A4)",                "1 2 4",         false, 10500,  13500, 1800, 6200, 9200, 1600,     0},
    {"NOR2",     gate, "A1 A2",             "ZN=!(A1|A2)",                      "1 2 4",         false,  9500,   4500, 1600,10300, 4100, 1650,     0},
    {"NOR3",     gate, "A1 A2 A3",          "ZN=!(A1|A2|A3)",                   "1 2 4",         false, 16500,   5500, 2400,14300, 4100, 1650,     0},
    {"NOR4",     gate, "A1 A2 A3 A4",       "ZN=!(A1|A2|A3|A4)",                "1 2 4",         false, 25000,   6500, 3100,18300, 4100, 1650,     0},
    {"AND2",     gate, "A1 A2",             "ZN=A1&A2",                         "1 2 4",         true,  21000,  22000, 1300, 6000, 4000,  900,     0},
    {"AND3",     gate, "A1 A2 A3",          "ZN=A1&A2&A3",                      "1 2 4",         true,  26500,  26000, 1600, 6000, 4100,  900,     0},
    {"AND4",     gate, "A1 A2 A3 A4",       "ZN=A1&A2&A3&A4",                   "1 2 4",         true,  31500,  29500, 1900, 6000, 4200,  900,     0},
    {"OR2",      gate, "A1 A2",             "ZN=A1|A2",                         "1 2 4",         true,  19500,  31000, 1900, 6000, 4300,  900,     0},
    {"OR3",      gate, "A1 A2 A3",          "ZN=A1|A2|A3",                      "1 2 4",         true,  21500,  45000, 2900, 6000, 4700,  900,     0},
    {"OR4",      gate, "A1 A2 A3 A4",       "ZN=A1|A2|A3|A4",                   "1 2 4",         true,  23500,  61000, 3800, 6000, 5200,  900,     0},
    {"XOR2",     gate, "A B",               "Z=A^B",                            "1 2",           false, 25000,  21000, 2500,10200, 6100, 2200,     0},
    {"XNOR2",    gate, "A B",               "ZN=!(A^B)",                        "1 2",           false, 21000,  22000, 2500, 8600, 7200, 2200,     0},
    {"MUX2",     gate, "A B S",             "Z=(A&!S)|(B&S)",                   "1 2",           true,  30000,  37000, 2200, 6000, 4300, 1100,     0},
    {"AOI21",    gate, "A B1 B2",           "ZN=!(A|(B1&B2))",                  "1 2 4",         false, 11500,   6500, 1800,10300, 5900, 1600,     0},
    {"AOI22",    gate, "A1 A2 B1 B2",       "ZN=!((A1&A2)|(B1&B2))",            "1 2 4",         false, 14500,   8500, 1900,10300, 5900, 1600,     0},
    {"AOI211",   gate, "A B C1 C2",         "ZN=!(A|B|(C1&C2))",                "1 2 4",         false, 21500,   7500, 2600,14300, 5900, 1600,     0},
    {"AOI221",   gate, "A B1 B2 C1 C2",     "ZN=!(A|(B1&B2)|(C1&C2))",          "1 2 4",         false, 25500,   9000, 2700,14300, 5900, 1600,     0},
    {"AOI222",   gate, "A1 A2 B1 B2 C1 C2", "ZN=!((A1&A2)|(B1&B2)|(C1&C2))",    "1 2 4",         false, 29500,  10500, 2700,14300, 5900, 1600,     0},
    {"OAI21",    gate, "A B1 B2",           "ZN=!(A&(B1|B2))",                  "1 2 4",         false, 10500,   8000, 1700,10300, 5900, 1600,     0},
    {"OAI22",    gate, "A1 A2 B1 B2",       "ZN=!((A1|A2)&(B1|B2))",            "1 2 4",         false, 14000,   9500, 1900,10300, 5900, 1600,     0},
    {"OAI211",   gate, "A B C1 C2",         "ZN=!(A&B&(C1|C2))",                "1 2 4",         false, 12500,  11500, 2000,10300, 7600, 1600,     0},
    {"OAI221",   gate, "A B1 B2 C1 C2",     "ZN=!(A&(B1|B2)&(C1|C2))",          "1 2 4",         false, 17500,  13500, 2200,10300, 7600, 1600,     0},
    {"OAI222",   gate, "A1 A2 B1 B2 C1 C2", "ZN=!((A1|A2)&(B1|B2)&(C1|C2))",    "1 2 4",         false, 21500,  15500, 2300,10300, 7600, 1600,     0},
    {"OAI33",    gate, "A1 A2 A3 B1 B2 B3", "ZN=!((A1|A2|A3)&(B1|B2|B3))",      "1",             false, 27500,  12500, 2800,14300, 5900, 1600,     0},
    {"HA",       gate, "A B",               "CO=A&B S=A^B",                     "1",             true,  31000,  33000, 2300, 6000, 4100, 3100,     0},
    {"FA",       gate, "A B CI",            "CO=(A&B)|(CI&(A|B)) S=A^B^CI",     "1",             true,  52000,  58000, 3100, 6000, 4100, 3600,     0},
    {"LOGIC0",   tie,  "",                  "Z=0",                              "1",             false,     0,      0,    0,    0,    0,    0,     0},
    {"LOGIC1",   tie,  "",                  "Z=1",                              "1",             false,     0,      0,    0,    0,    0,    0,     0},
    {"DFF",      flip, "CK D",              "Q=0 QN=0",                         "1 2",           true,  76000,  71000,    0, 6000, 4000, 1050, 32000},
    {"DFFR",     flip, "CK D RN",           "Q=0 QN=0",                         "1 2",           true,  84000,  77000,    0, 6000, 4000, 1100, 35000},
    {"DFFS",     flip, "CK D SN",           "Q=0 QN=0",                         "1 2",           true,  82000,  79000,    0, 6000, 4000, 1100, 35000},
    {"DFFRS",    flip, "CK D RN SN",        "Q=0 QN=0",                         "1 2",           true,  88000,  84000,    0, 6000, 4000, 1150, 38000},
    {"SDFF",     flip, "CK D SE SI",        "Q=0 QN=0",                         "1 2",           true,  79000,  73000,    0, 6000, 4000, 1100, 49000},
    {"SDFFR",    flip, "CK D SE SI RN",     "Q=0 QN=0",                         "1 2",           true,  86000,  79000,    0, 6000, 4000, 1150, 52000},
    {"SDFFS",    flip, "CK D SE SI SN",     "Q=0 QN=0",                         "1 2",           true,  84000,  81000,    0, 6000, 4000, 1150, 52000},
    {"SDFFRS",   flip, "CK D SE SI RN SN",  "Q=0 QN=0",                         "1 2",           true,  90000,  86000,    0, 6000, 4000, 1200, 55000},
    // A netlist may not name these cells: an input port of the circuit, and the wire of an assign statement.
    {"(input)",  tie,  "",                  "Z=0",                              "1",             true,      0,      0,    0,    0,    0,    0,     0},
    {"(assign)", gate, "A",                 "Z=A",                              "1",             true,      0,      0,    0, 6000, 4000,  950,     0},
  });
}();
// clang-format on

/// The slew of input ports and of the clock at flip-flops.
inline constexpr std::int64_t start_slew = 20'000;

/// Capacitance of the piece of wire to each fan-out pin, and of an output port.
inline constexpr std::int64_t wire_capacitance = 800;
inline constexpr std::int64_t port_capacitance = 4000;

}  // namespace timing
