// Reads a circuit from structural Verilog: one module of input, output, wire and assign statements and cells.
#pragma once

#include "lexer.hpp"
#include "link.hpp"
#include "netlist.hpp"

#include <fmt/ranges.h>  // join

#include <fstream>
#include <iterator>  // istreambuf_iterator
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace timing {
namespace detail {

/// Reads one text, once. Nets keep the order of their declarations, gates the order of the file.
class reader {
 public:
  reader(std::string_view file, std::string_view text) : lexer_{file, text} { circuit_.file = file; }

  netlist read() {
    advance();
    header();
    while (!now_.is_keyword("endmodule")) statement();
    advance_or_end();
    if (now_.kind != token_kind::end) {
      fail(fmt::format("'{}' follows the end of the module: one file holds one flat module; remove what follows",
                       printable(now_.text)));
    }
    check_ports();
    name_constants();
    link(circuit_);
    return std::move(circuit_);
  }

 private:
  [[noreturn]] void fail(std::string_view text) const { throw netlist_error{circuit_.file, now_.line, text}; }

  void advance_or_end() { now_ = lexer_.next(); }

  void advance() {
    advance_or_end();
    if (now_.kind != token_kind::end) return;
    fail(is_open_ ? "the file ends inside the module, before 'endmodule': it is cut; get the whole file"
                  : "the file holds no module: it is empty or no netlist; give a gate-level Verilog file");
  }

  void expect(char c, std::string_view where) {
    if (!now_.is(c)) {
      fail(fmt::format("'{}' stands where '{}' is expected {}; correct the statement", printable(now_.text), c, where));
    }
    advance();
  }

  token take_name(std::string_view what) {
    if (now_.kind != token_kind::name || is_reserved(now_)) {
      fail(fmt::format("'{}' stands where {} is expected; a ',' or ';' or a name may be missing before it",
                       printable(now_.text), what));
    }
    auto const taken = now_;
    advance();
    return taken;
  }

  static bool is_reserved(token const& t) noexcept {
    for (auto const word : {"module", "endmodule", "input", "output", "inout", "wire", "assign"}) {
      if (t.is_keyword(word)) return true;
    }
    return false;
  }

  void header() {
    if (!now_.is_keyword("module")) {
      fail(fmt::format("'{}' stands where 'module' is expected: this is no Verilog netlist; give a gate-level file",
                       printable(now_.text)));
    }
    is_open_ = true;
    advance();
    circuit_.name = take_name("the module's name").text;
    if (now_.is('(')) port_list();
    expect(';', "after the module's header");
  }

  void port_list() {
    advance();
    while (!now_.is(')')) {
      auto const direction = now_;
      bool const declares = now_.is_keyword("input") || now_.is_keyword("output");
      if (declares) advance();
      auto const port = take_name("a port's name");
      auto const n = declare(port);
      if (!is_listed_.emplace(n, port.line).second) {
        now_.line = port.line;
        fail(fmt::format("port '{}' is listed twice; remove one", printable(port.text)));
      }
      circuit_.ports.push_back(n);
      if (declares) set_direction(n, direction);
      if (now_.is(')')) break;
      expect(',', "between ports");
    }
    advance();
  }

  net_id declare(token const& t) {
    auto const [found, is_unused] = by_name_.try_emplace(t.text, static_cast<net_id>(circuit_.nets.size()));
    if (is_unused) circuit_.add_net(std::string{t.text}, t.line);
    return found->second;
  }

  void set_direction(net_id n, token const& direction) {
    auto& port = circuit_.nets[n];
    port.line = direction.line;
    (direction.text == "input" ? port.is_input : port.is_output) = true;
    if (port.is_input && port.is_output) {
      throw netlist_error{circuit_.file, direction.line,
                          fmt::format("port '{}' is declared both input and output; keep one", printable(port.name))};
    }
  }

  void statement() {
    if (now_.is_keyword("input") || now_.is_keyword("output") || now_.is_keyword("wire")) return declaration();
    if (now_.is_keyword("assign")) return assignment();
    if (now_.is_keyword("inout")) fail("inout ports are not timed: a direction is needed; make it input or output");
    instance();
  }

  void declaration() {
    auto const direction = now_;
    advance();
    for (;;) {
      auto const declared = take_name("the name of a net");
      auto const n = declare(declared);
      if (direction.text != "wire") {
        if (!is_listed_.contains(n)) {
          throw netlist_error{circuit_.file, declared.line,
                              fmt::format("'{}' is declared {} but is no port of the module; add it to the port list",
                                          printable(declared.text), direction.text)};
        }
        set_direction(n, {direction.kind, direction.text, false, declared.line});
      }
      if (!now_.is(',')) break;
      advance();
    }
    expect(';', "after the declaration");
  }

  net_id take_net() {
    if (now_.kind == token_kind::constant) return constant();
    auto const used = take_name("the name of a net");
    auto const found = by_name_.find(used.text);
    if (found == by_name_.end()) {
      throw netlist_error{circuit_.file, used.line,
                          fmt::format("net '{}' is not declared, so its driver cannot be known; "
                                      "add 'wire {};' before its use or correct the name",
                                      printable(used.text), printable(used.text))};
    }
    return found->second;
  }

  /// The net that carries 1'b0 or 1'b1, with its own tie cell.
  net_id constant() {
    bool const is_high = now_.text == "1'b1";
    auto& n = constants_[is_high ? 1 : 0];
    if (n == nothing) {
      n = circuit_.add_net(std::string{now_.text}, now_.line);
      net_id const ties[] = {n};
      circuit_.add_gate(is_high ? "1'b1" : "1'b0", library().find(is_high ? "LOGIC1_X1" : "LOGIC0_X1"), ties,
                        now_.line);
    }
    advance();
    return n;
  }

  void assignment() {
    auto const line = now_.line;
    advance();
    auto const target = take_net();
    expect('=', "in the assign statement");
    auto const source = take_net();
    expect(';', "after the assign statement");
    net_id const ties[] = {source, target};
    circuit_.add_gate("assign " + circuit_.nets[target].name, library().assignment(), ties, line);
  }

  void instance() {
    auto const type = take_name("a cell, a declaration or 'endmodule'");
    auto const cell = library().find(type.text);
    if (cell == cell_library::unknown) fail_unknown(type);
    auto const name = take_name("the name of the gate");
    ties_.assign(library().family_of(cell).pinned.size(), nothing);
    expect('(', fmt::format("after gate '{}'", printable(name.text)));
    while (!now_.is(')')) {
      connection(cell, name);
      if (now_.is(')')) break;
      expect(',', "between connections");
    }
    advance();
    expect(';', "after the gate");
    circuit_.add_gate(std::string{name.text}, cell, ties_, name.line);
  }

  void connection(cell_id cell, token const& name) {
    if (!now_.is('.')) {
      fail(fmt::format("gate '{}' is connected by position: the order of pins is not known; write .PIN(net)",
                       printable(name.text)));
    }
    advance();
    auto const pin = take_name("the name of a pin");
    auto const& kin = library().family_of(cell);
    auto const number = kin.find_pin(pin.text);
    if (number == kin.pinned.size()) {
      fail(fmt::format("cell {} has no pin '{}'; its pins are {}", library()[cell].name, printable(pin.text),
                       fmt::join(kin.pinned, " ")));
    }
    expect('(', "after the pin's name");
    if (!now_.is(')')) {
      if (ties_[number] != nothing) {
        fail(fmt::format("gate '{}' connects pin {} twice; remove one", printable(name.text), kin.pinned[number]));
      }
      ties_[number] = take_net();
    }
    expect(')', "after the pin's net");
  }

  [[noreturn]] void fail_unknown(token const& type) const {
    auto const end = type.text.rfind("_X");
    std::string known;
    for (auto const& kin : library().families()) {
      if (kin.is_hidden) continue;
      if (kin.name != type.text.substr(0, end)) {
        known += (known.empty() ? "" : " ") + kin.name;
        continue;
      }
      known.clear();
      for (auto const size : kin.sizes) known += (known.empty() ? "" : " ") + library()[size].name;
      break;
    }
    throw netlist_error{circuit_.file, type.line,
                        fmt::format("cell type '{}' is not in the library, so its delay is unknown; use one of: {}",
                                    printable(type.text), known)};
  }

  void check_ports() const {
    for (auto const n : circuit_.ports) {
      auto const& port = circuit_.nets[n];
      if (port.is_input || port.is_output) continue;
      throw netlist_error{circuit_.file, is_listed_.at(n),
                          fmt::format("port '{}' has no direction; add 'input {};' or 'output {};'",
                                      printable(port.name), printable(port.name), printable(port.name))};
    }
  }

  /// Renames constants whose name an escaped name has taken: the writer needs different names.
  void name_constants() {
    for (auto const n : constants_) {
      if (n == nothing) continue;
      auto& name = circuit_.nets[n].name;
      while (by_name_.contains(name)) name += '_';
    }
  }

  lexer lexer_;
  token now_;
  bool is_open_ = false;
  netlist circuit_;
  std::unordered_map<std::string_view, net_id> by_name_;
  std::unordered_map<net_id, std::uint32_t> is_listed_;
  net_id constants_[2] = {nothing, nothing};
  std::vector<net_id> ties_;
};

}  // namespace detail

/// The circuit that `text` describes; `file` is only for messages. Throws netlist_error or std::bad_alloc, nothing
/// else.
inline netlist read_verilog(std::string_view file, std::string_view text) {
  return detail::reader{file, text}.read();
}

inline constexpr std::size_t largest_file = std::size_t{256} << 20;

/// The circuit in the file `path`. Throws netlist_error also when the file cannot be read or is too large.
inline netlist read_verilog_file(std::string const& path, std::size_t limit = largest_file) {
  std::ifstream in{path, std::ios::binary};
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  while (in && text.size() <= limit) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > limit) {
    throw netlist_error{
        path, 0, fmt::format("the file is larger than {} bytes, more than this reader takes; split the design", limit)};
  }
  if (!in.eof()) throw netlist_error{path, 0, "the file cannot be read; check the path and its permissions"};
  return read_verilog(path, text);
}

}  // namespace timing
