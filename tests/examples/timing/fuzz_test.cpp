// No bytes crash the reader: netlists damaged at random are read or refused with file and line. The seed is printed.
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "circuits.hpp"
#include "examples/timing/multiplier.hpp"
#include "examples/timing/reader.hpp"
#include "examples/timing/sequential.hpp"
#include "examples/timing/writer.hpp"
#include "random_circuit.hpp"
#include "support/catch.hpp"

namespace {

class mutator {
 public:
  explicit mutator(std::uint64_t seed) : random_{seed} {}

  void damage(std::string& text, std::string const& other) {
    for (auto count = 1 + below(4); count > 0; --count) once(text, other);
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound); }

  void once(std::string& text, std::string const& other) {
    static constexpr char const* words[] = {"module", "endmodule", "assign", "/*", "//",   "\\", "1'b0",  "1'b",
                                            ".A(",    "INV_X1",    "input",  ";",  "(",    ")",  ",",     "wire z;",
                                            "=",      "inout",     "output", "\0", "\xff", "[",  "INV_X0"};
    auto const at = below(text.size() + 1);
    auto const length = std::min(below(40), text.size() - at);
    switch (below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, words[below(std::size(words))]);
        break;
      case 3:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 4:
        text.resize(at);
        break;
      case 5:
        text.insert(at, other.substr(below(other.size()), below(100)));
        break;
      default:
        swap_names(text);
    }
  }

  /// Ties a pin to another net: loops, second drivers, missing drivers.
  void swap_names(std::string& text) {
    auto const from = text.find('(', below(text.size() + 1));
    auto const to = text.find('(', below(text.size() + 1));
    if (from == std::string::npos || to == std::string::npos) return;
    auto const end = text.find(')', from);
    auto const end_to = text.find(')', to);
    if (end == std::string::npos || end_to == std::string::npos) return;
    auto const name = text.substr(from, end - from);
    text.replace(to, end_to - to, name);
  }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("damaged netlists are read or refused with file and line") {
  constexpr std::uint64_t seed = 20240607;
  constexpr int rounds = 20000;
  std::vector<std::string> const seeds{timing::to_verilog(timing::make_multiplier(3)),
                                       timing::to_verilog(timing_test::random_circuit(1, 30)),
                                       timing::to_verilog(timing_test::random_circuit(2, 60)),
                                       "module m (a, z); input a; output z; /* c */ assign z = a; // e\nendmodule\n"};
  for (auto const& text : seeds) CHECK_NOTHROW(timing::read_verilog("whole.v", text));
  mutator damage{seed};
  int read = 0;
  for (int round = 0; round < rounds; ++round) {
    auto text = seeds[static_cast<std::size_t>(round) % seeds.size()];
    damage.damage(text, seeds[static_cast<std::size_t>(round / 4) % seeds.size()]);
    try {
      auto const circuit = timing::read_verilog("damaged.v", text);
      timing::times t{circuit, 1};
      timing::time_serial(circuit, t, std::nullopt);
      ++read;
    } catch (timing::netlist_error const& e) {
      std::string const message = e.what();
      INFO("seed " << seed << ", round " << round << ": " << message);
      REQUIRE(message.rfind("damaged.v:", 0) == 0);
      REQUIRE(message.size() < 2000);
      REQUIRE(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    }
  }
  std::printf("seed %llu: %d of %d damaged netlists still could be read\n", static_cast<unsigned long long>(seed), read,
              rounds);
  CHECK(read > 0);
  CHECK(read < rounds);
}
