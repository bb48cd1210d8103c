// The portable driver: a fixed number of inputs for each reader, the same on every machine.
//
//   fuzz_readers                                  the planted bugs, then all readers
//   --target NAME --inputs N --seed S             one of them; other numbers
//   --target NAME --only K [--write FILE]         input K alone; its bytes
//   --target NAME --file FILE                     a file
//   --planted | --list | --data DIR | --json FILE
#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>  // fork, pipe, read

#include <cstdio>
#include <cstdlib>  // free, exit
#include <fstream>
#include <optional>
#include <typeinfo>
#include <utility>  // pair
#include <vector>

#include "all_targets.hpp"
#include "crash_report.hpp"
#include "files.hpp"
#include "mutator.hpp"

namespace {

using fuzz::target;

struct hints {
  std::string data = HEIST_SOURCE_DIR "/tests/fuzz/readers";
  std::string target, json, write, file;
  std::optional<std::uint64_t> inputs, only;
  std::uint64_t seed = 1;
  bool planted_only = false, list = false;
};

struct totals {
  std::uint64_t targets = 0, inputs = 0, accepted = 0, rejected = 0, found = 0, round_trips = 0;
  totals& operator+=(totals const& o) noexcept {
    targets += o.targets, inputs += o.inputs, accepted += o.accepted, rejected += o.rejected;
    found += o.found, round_trips += o.round_trips;
    return *this;
  }
};

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: [--target NAME] [--inputs N] [--seed S] [--only K [--write FILE]] [--file FILE]\n"
               "       [--planted] [--list] [--data DIR] [--json FILE]\n");
  std::exit(2);
}

hints hints_of(int argc, char** argv) {
  hints w;
  for (int i = 1; i < argc; ++i) {
    std::string_view const flag = argv[i];
    auto const value = [&]() -> char const* {
      if (++i == argc) usage();
      return argv[i];
    };
    auto const number = [&] { return std::strtoull(value(), nullptr, 10); };
    if (flag == "--target")
      w.target = value();
    else if (flag == "--inputs")
      w.inputs = number();
    else if (flag == "--seed")
      w.seed = number();
    else if (flag == "--only")
      w.only = number();
    else if (flag == "--write")
      w.write = value();
    else if (flag == "--file")
      w.file = value();
    else if (flag == "--data")
      w.data = value();
    else if (flag == "--json")
      w.json = value();
    else if (flag == "--planted")
      w.planted_only = true;
    else if (flag == "--list")
      w.list = true;
    else
      usage();
  }
  return w;
}

std::string name_of(std::type_info const& type) {
  int status = 0;
  char* const text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = text != nullptr ? text : type.name();
  std::free(text);
  return name;
}

/// The broken promise of the reader, nothing if it keeps its promises.
std::optional<std::string> broken_promise(target const& t, std::string const& input, totals& sums,
                                          std::optional<bool> must_accept) {
  // A copy that ends where the input ends: AddressSanitizer then sees a reader that goes one byte too far.
  std::vector<char> const exact(input.begin(), input.end());
  try {
    auto const result = t.run({exact.data(), exact.size()});
    ++sums.inputs;
    ++(result.accepted ? sums.accepted : sums.rejected);
    sums.round_trips += result.round_trips;
    if (must_accept && *must_accept != result.accepted)
      return result.accepted ? "what must be refused is accepted" : "what must be accepted is refused";
    return std::nullopt;
  } catch (fuzz::finding const& e) {
    return e.what();
  } catch (std::exception const& e) {
    return fmt::format("it throws {}: {}", name_of(typeid(e)), e.what());
  } catch (...) {
    return "it throws something that is no std::exception";
  }
}

std::optional<bool> wanted(std::string const& name) {
  if (name.substr(0, 3) == "ok_") return true;
  if (name.substr(0, 3) == "no_") return false;
  return std::nullopt;
}

/// First the unchanged examples, then mutations of them.
totals run(target const& t, hints const& w, std::vector<fuzz::example> const& examples,
           std::vector<std::string> words) {
  std::vector<std::string> texts;
  for (auto const& e : examples) texts.push_back(e.text);
  fuzz::mutator mutator(std::move(texts), std::move(words), t.longest);
  auto const name = std::string(t.name);
  std::uint64_t const own_seed = w.seed * 0x9e3779b97f4a7c15 ^ fuzz::digest(t.name);
  std::uint64_t const first = w.only.value_or(0), last = w.only ? first + 1 : w.inputs.value_or(t.inputs);
  totals sums;
  sums.targets = 1;
  fuzz::now = {name.c_str(), w.seed, 0};
  for (std::uint64_t i = first; i != last; ++i) {
    bool const is_example = i < examples.size();
    auto const input = is_example ? examples[i].text : mutator.make(own_seed + i * 0xd1342543de82ef95);
    fuzz::now.number = i;
    if (!w.write.empty()) std::ofstream(w.write, std::ios::binary) << input;
    auto const broken = broken_promise(t, input, sums, is_example ? wanted(examples[i].name) : std::nullopt);
    if (!broken) continue;
    std::fflush(stdout);
    fuzz::print_found(*broken);
    if (is_example) fmt::print("  it is {}\n", examples[i].name);
    ++sums.found;
    break;
  }
  if (sums.found == 0 && !w.only && sums.inputs >= 1000 &&
      (sums.accepted == 0 || sums.rejected == 0 || (t.has_round_trips && sums.round_trips == 0))) {
    fuzz::print_found("nothing was accepted, nothing was refused, or nothing was read twice: this shows nothing");
    ++sums.found;
  }
  fmt::print("readers  {:<12} inputs {}  accepted {}  refused {}  round trips {}\n", t.name, sums.inputs, sums.accepted,
             sums.rejected, sums.round_trips);
  std::fflush(stdout);
  return sums;
}

totals run_planted(target const& t, hints const& w) {
  return run(t, w, {{"ok_4", "4:abcd"}, {"ok_12", "12:01234:::6789"}, {"no_3", "3:ab"}}, {"99999", ":", "\x01", "0"});
}

/// Runs f in a process of its own, which ends with the result of f. Returns everything that it prints, and how it
/// ended.
template <class F>
std::pair<std::string, int> in_child(F f) {
  int ends[2];
  std::fflush(nullptr);
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  auto const child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    int const code = f();
    std::fflush(nullptr);
    ::_exit(code);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return {text, status};
}

/// Every planted bug is reported as the planted kind, and the sound reader is not reported. Returns the number of
/// targets with another result.
int check_planted(hints const& w) {
  int bugs = 0, found = 0, false_alarms = 0;
  for (auto const& p : fuzz::planted_targets()) {
    auto const [text, status] = in_child([&] {
      fuzz::report_crashes(2);  // one of them does not end
      return run_planted(p.reader, w).found == 0 ? 0 : fuzz::found_exit_code;
    });
    bool const reported = text.find("FOUND") != std::string::npos && status != 0;
    if (p.report == nullptr) {
      false_alarms += reported || status != 0 ? 1 : 0;
    } else {
      ++bugs;
      bool const right = reported && text.find(p.report) != std::string::npos;
      found += right ? 1 : 0;
      if (!right) fmt::print("readers  the planted bug {} is not found; the driver says:\n{}\n", p.reader.name, text);
    }
  }
  fmt::print("readers  planted bugs {}  found {}  false alarms {}\n", bugs, found, false_alarms);
  return bugs - found + false_alarms;
}

void write_json(std::string const& path, totals const& sums, bool ok) {
  std::ofstream(path) << fmt::format(
      "{{\"readers\": {{\"targets\": {}, \"inputs\": {}, \"accepted\": {}, \"refused\": {}, \"crashes\": {}, "
      "\"round_trips\": {}, \"ok\": {}}}}}\n",
      sums.targets, sums.inputs, sums.accepted, sums.rejected, sums.found, sums.round_trips, ok);
}

int run_file(target const& t, std::string const& path) {
  auto const name = std::string(t.name);
  fuzz::now = {name.c_str(), 0, 0};
  totals sums;
  auto const broken = broken_promise(t, fuzz::text_of(path), sums, std::nullopt);
  fmt::print("{}: {}\n", path, broken ? *broken : sums.accepted != 0 ? "accepted" : "refused");
  return broken ? fuzz::found_exit_code : 0;
}

int run_all(hints const& w) {
  if (w.list)
    for (auto const* t : fuzz::all_targets()) fmt::print("{}\n", t->name);
  if (w.list) return 0;
  bool const everything = w.target.empty();
  int const planted_wrong = w.planted_only || everything ? check_planted(w) : 0;
  if (w.planted_only) return planted_wrong == 0 ? 0 : 1;

  fuzz::report_crashes(20);
  totals sums;
  for (auto const* t : fuzz::all_targets()) {
    if (!everything && w.target != t->name) continue;
    if (!w.file.empty()) return run_file(*t, w.file);
    sums += run(*t, w, fuzz::examples_of(w.data, t->name), fuzz::words_of(w.data, t->name));
  }
  for (auto const& p : fuzz::planted_targets())
    if (w.target == p.reader.name) sums += run_planted(p.reader, w);
  if (sums.targets == 0) usage();
  bool const ok = sums.found == 0 && planted_wrong == 0;
  fmt::print("readers  targets {}  inputs {}  accepted {}  refused {}  crashes {}  round trips {}\n", sums.targets,
             sums.inputs, sums.accepted, sums.rejected, sums.found, sums.round_trips);
  if (!w.json.empty()) write_json(w.json, sums, ok);
  return ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_all(hints_of(argc, argv));
  } catch (std::exception const& e) {
    fmt::print(stderr, "readers  {}\n", e.what());
    return 2;
  }
}
