// The cell library, made once from the table: families with pins and logic, cells with drive and capacitance.
#pragma once

#include "cell_table.hpp"
#include "delay_tables.hpp"
#include "logic.hpp"

#include <array>
#include <charconv>  // from_chars
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace timing {

using cell_id = std::uint16_t;

inline constexpr std::size_t most_outputs = 2;

/// The properties that all sizes of a cell share. Pin numbers begin with the inputs; the outputs follow.
struct family {
  std::string name;
  cell_kind kind{};
  std::vector<std::string> pinned;
  std::size_t input_count = 0;
  std::size_t output_count = 0;
  std::array<std::array<sense, most_inputs>, most_outputs> senses{};  // [output][input]
  std::vector<truth_table> functions;                                 // per output
  femtoseconds setup = 0;
  femtoseconds hold = 0;
  std::vector<cell_id> sizes;  // weakest first
  bool is_hidden = false;      // no netlist may name it

  /// Number of the pin called `pin`, or pins.size().
  std::size_t find_pin(std::string_view pin) const noexcept {
    std::size_t at = 0;
    while (at < pinned.size() && pinned[at] != pin) ++at;
    return at;
  }
  bool is_combinational() const noexcept { return kind == cell_kind::combinational; }
  /// True for the clock pin of a flip-flop. It has no set-up check, because the clock is taken as ideal.
  bool is_clock(std::size_t pin) const noexcept { return kind == cell_kind::flip_flop && pin == 0; }
};

/// One family at one size.
struct cell {
  std::uint16_t family = 0;
  std::uint16_t size = 1;
  std::uint32_t first_arc = 0;   // the tables of input pin i are arcs[first_arc + i]
  std::int64_t capacitance = 0;  // of each input pin, attofarads
  std::string name;
};

/// All cells. One constant instance, `library()`; any thread may read it.
class cell_library {
 public:
  static constexpr cell_id unknown = 0xFFFF;

  cell_library() {
    for (auto const& row : cell_table) add(row);
  }

  cell const& operator[](cell_id id) const noexcept { return cells_[id]; }
  family const& family_of(cell_id id) const noexcept { return families_[cells_[id].family]; }
  /// The tables of input pin `pin` of a cell that is no source. All outputs of a flip-flop depend on its clock, pin 0.
  arc_tables const& arc(cell const& of, std::size_t pin) const noexcept { return arcs_[of.first_arc + pin]; }
  std::vector<family> const& families() const noexcept { return families_; }
  std::size_t size() const noexcept { return cells_.size(); }
  cell_id input_port() const noexcept { return input_port_; }
  cell_id assignment() const noexcept { return assignment_; }

  /// The cell that a netlist calls `name`, or `unknown`.
  cell_id find(std::string_view name) const {
    auto const found = by_name_.find(std::string{name});
    return found == by_name_.end() ? unknown : found->second;
  }

 private:
  static std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> result;
    while (!text.empty()) {
      auto const end = text.find(' ');
      result.emplace_back(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return result;
  }

  void add(family_row const& row) {
    family made;
    made.name = row.name;
    made.kind = row.kind;
    made.setup = row.setup;
    made.hold = row.setup / 8;
    made.is_hidden = row.name.front() == '(';
    made.pinned = words(row.inputs);
    made.input_count = made.pinned.size();
    add_outputs(made, row);
    for (auto const& size : words(row.sizes)) made.sizes.push_back(add_size(made, row, size));
    families_.push_back(std::move(made));
  }

  static void add_outputs(family& made, family_row const& row) {
    auto const inputs = made.pinned;
    for (auto const& output : words(row.outputs)) {
      auto const equals = output.find('=');
      made.pinned.push_back(output.substr(0, equals));
      auto const function = logic_expression{std::string_view{output}.substr(equals + 1), inputs}.table();
      made.functions.push_back(function);
      auto& senses = made.senses.at(made.output_count);
      for (std::size_t i = 0; row.kind == cell_kind::combinational && i < inputs.size(); ++i) {
        senses[i] = sense_of(function, i);
      }
      ++made.output_count;
    }
  }

  cell_id add_size(family const& made, family_row const& row, std::string const& text) {
    std::int64_t size = 1;
    std::from_chars(text.data(), text.data() + text.size(), size);
    auto const id = static_cast<cell_id>(cells_.size());
    cells_.push_back({static_cast<std::uint16_t>(families_.size()), static_cast<std::uint16_t>(size),
                      static_cast<std::uint32_t>(arcs_.size()),
                      row.buffered ? row.capacitance * (3 + size) / 4 : row.capacitance * size,
                      made.is_hidden ? made.name : made.name + "_X" + text});
    for (std::size_t pin = 0; pin < timed_pinned(made); ++pin) {
      auto const later = static_cast<femtoseconds>(pin) * row.step;
      arcs_.push_back(
          make_arc_tables({row.rise + later, row.fall + later}, {row.pull_up / size, row.pull_down / size}, size));
    }
    if (!made.is_hidden) by_name_.emplace(cells_.back().name, id);
    if (made.name == "(input)") input_port_ = id;
    if (made.name == "(assign)") assignment_ = id;
    return id;
  }

  static std::size_t timed_pinned(family const& kin) noexcept {
    if (kin.kind == cell_kind::flip_flop) return 1;
    return kin.is_combinational() ? kin.input_count : 0;
  }

  std::vector<family> families_;
  std::vector<cell> cells_;
  std::vector<arc_tables> arcs_;
  std::unordered_map<std::string, cell_id> by_name_;
  cell_id input_port_ = unknown;
  cell_id assignment_ = unknown;
};

inline cell_library const& library() {
  static cell_library const all;
  return all;
}

}  // namespace timing
