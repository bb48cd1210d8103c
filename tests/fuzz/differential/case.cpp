#include "fuzz/differential/case.hpp"

#include <algorithm>  // find
#include <charconv>   // from_chars
#include <cstddef>    // size_t

namespace heist_fuzz {

using heist_test::any_of;
using heist_test::chance;
using heist_test::no_node;
using heist_test::program_node;
using heist_test::random_program;
using heist_test::way;

namespace {

void append_node(std::string& out, random_program const& p, std::uint32_t n) {
  program_node const& d = p.nodes[n];
  out += heist_test::way_names[static_cast<std::size_t>(d.how)];
  if (d.how != way::leaf) out += std::to_string(d.group);
  for (std::size_t i = 0; i != heist_test::trait_names.size(); ++i) {
    if (d.is(1u << i)) (out += '!') += heist_test::trait_names[i];
  }
  for (std::size_t i = 0; i != d.after.size(); ++i) (out += i == 0 ? '<' : ',') += std::to_string(d.after[i]);
  if (d.children.empty()) return;
  for (std::size_t i = 0; i != d.children.size(); ++i) {
    out += i == 0 ? '(' : ' ';
    append_node(out, p, d.children[i]);
  }
  out += ')';
}

/// Reads from left to right; says where it could not go on.
class reader {
 public:
  explicit reader(std::string_view text) : text_{text} {}

  bool take(char c) {
    if (rest().empty() || rest().front() != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    std::size_t n = 0;
    auto const is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    while (n < rest().size() && is_letter(rest()[n])) ++n;
    std::string_view const found = rest().substr(0, n);
    at_ += n;
    return found;
  }
  std::int64_t number() {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(rest().data(), rest().data() + rest().size(), value);
    if (error != std::errc{}) reject("a number");
    at_ += static_cast<std::size_t>(end - rest().data());
    return value;
  }
  std::uint32_t count() { return static_cast<std::uint32_t>(number()); }
  template <std::size_t N>
  std::size_t one_of(std::array<std::string_view, N> const& names, char const* what) {
    std::string_view const found = word();
    auto const at = std::find(names.begin(), names.end(), found);
    if (at == names.end()) reject(what);
    return static_cast<std::size_t>(at - names.begin());
  }
  bool at_end() const { return rest().empty(); }
  bool before_number() const { return !rest().empty() && rest().front() >= '0' && rest().front() <= '9'; }

  [[noreturn]] void reject(char const* wanted) const {
    throw std::runtime_error{"the text of a case: " + std::string{wanted} + " is missing at character " +
                             std::to_string(at_) + ", before '" + std::string{rest().substr(0, 20)} + "'"};
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view text_;
  std::size_t at_ = 0;
};

void read_node(reader& r, random_program& p, std::uint32_t parent) {
  std::uint32_t const n = p.add(parent, static_cast<way>(r.one_of(heist_test::way_names, "a way")));
  if (r.before_number()) p.nodes[n].group = static_cast<std::uint8_t>(r.count());
  while (r.take('!')) p.nodes[n].traits |= 1u << r.one_of(heist_test::trait_names, "a trait");
  if (r.take('<')) {
    do p.nodes[n].after.push_back(r.count());
    while (r.take(','));
  }
  if (r.take('(')) {
    do read_node(r, p, n);
    while (r.take(' '));
    if (!r.take(')')) r.reject("')'");
    for (std::uint32_t const child : p.nodes[n].children) {
      for (std::uint32_t const place : p.nodes[child].after) {
        if (place >= p.nodes[n].children.size() || p.nodes[n].how != way::run) r.reject("a sibling before it");
      }
    }
  }
}

random_program read_program(reader& r) {
  random_program p;
  read_node(r, p, no_node);
  return p;
}

void draw_schedule(fuzz_case& c, heist_test::random_engine& random, heist_test::program_limits const& limits) {
  c.in_region = chance(random, 0.9);
  if (!c.in_region || chance(random, 0.15)) return;
  c.follow = static_cast<schedule>(any_of(random, 1, schedule_names.size() - 1));
  // A start of other workers takes longer than a case does.
  if (c.follow == schedule::other_workers && chance(random, 0.8)) c.follow = schedule::own;
  c.mode = any_of(random, 0, 2);
  if (chance(random, 0.2)) c.prune = any_of(random, 1, 100);
  c.other = worker_counts[any_of(random, 0, worker_counts.size() - 1)];
  c.tree_seed = any_of(random, 0, 0xffff);
  c.tree_steals = any_of(random, 1, 12);
  c.rounds = c.follow == schedule::adapts ? any_of(random, 3, 5) : any_of(random, 2, 3);
  if (c.follow != schedule::donor) return;
  heist_test::program_generator another{random, limits};
  do c.donor = another();
  while (c.donor.is_graph());
}

}  // namespace

std::string to_text(random_program const& p) {
  std::string out;
  if (p.size() != 0) append_node(out, p, 0);
  return out;
}

std::string to_text(fuzz_case const& c) {
  std::string out = "policy=" + c.where.policy;
  auto const add = [&out](char const* name, std::int64_t value, std::int64_t usual) {
    if (value != usual) ((((out += ' ') += name) += '=') += std::to_string(value));
  };
  fuzz_case const usual;
  add("workers", c.where.workers, -1);
  add("machine", c.where.machine, usual.where.machine);
  add("rounds", c.rounds, usual.rounds);
  add("passes", c.passes, usual.passes);
  add("armed", c.armed, usual.armed);
  add("any_context", c.any_context, usual.any_context);
  add("in_region", c.in_region, usual.in_region);
  add("level", c.level, usual.level);
  add("tiers_by_hand", c.tiers_by_hand, usual.tiers_by_hand);
  add("mode", c.mode, usual.mode);
  add("prune", c.prune, usual.prune);
  add("other", c.other, usual.other);
  add("tree_seed", c.tree_seed, usual.tree_seed);
  add("tree_steals", c.tree_steals, usual.tree_steals);
  add("keeps", c.keeps, usual.keeps);
  add("clients", c.clients, usual.clients);
  if (c.after != usual.after) (out += " after=") += graph_end_names[static_cast<std::size_t>(c.after)];
  (out += " follow=") += schedule_names[static_cast<std::size_t>(c.follow)];
  (out += " program=") += to_text(c.program);
  if (c.donor.size() != 0) (out += " donor=") += to_text(c.donor);
  return out;
}

fuzz_case parse_case(std::string_view text) {
  fuzz_case c;
  reader r{text};
  do {
    std::string_view const name = r.word();
    if (!r.take('=')) r.reject("name=value");
    if (name == "policy")
      c.where.policy = r.word();
    else if (name == "workers")
      c.where.workers = r.count();
    else if (name == "machine")
      c.where.machine = r.count() % static_cast<std::uint32_t>(all_machines().size());
    else if (name == "rounds")
      c.rounds = r.count();
    else if (name == "passes")
      c.passes = r.count();
    else if (name == "armed")
      c.armed = r.count();
    else if (name == "any_context")
      c.any_context = r.count() != 0;
    else if (name == "in_region")
      c.in_region = r.count() != 0;
    else if (name == "level")
      c.level = static_cast<int>(r.number());
    else if (name == "tiers_by_hand")
      c.tiers_by_hand = r.count() != 0;
    else if (name == "mode")
      c.mode = r.count() % 3;
    else if (name == "prune")
      c.prune = r.count() % 101;
    else if (name == "other")
      c.other = r.count();
    else if (name == "tree_seed")
      c.tree_seed = r.count();
    else if (name == "tree_steals")
      c.tree_steals = r.count();
    else if (name == "keeps")
      c.keeps = r.count() != 0;
    else if (name == "clients")
      c.clients = std::min(r.count(), 10'000u);
    else if (name == "after")
      c.after = static_cast<graph_end>(r.one_of(graph_end_names, "an end"));
    else if (name == "follow")
      c.follow = static_cast<schedule>(r.one_of(schedule_names, "a schedule"));
    else if (name == "program")
      c.program = read_program(r);
    else if (name == "donor")
      c.donor = read_program(r);
    else
      r.reject("a known name");
  } while (r.take(' '));
  if (!r.at_end()) r.reject("the end");
  if (c.program.size() == 0) r.reject("a program");
  return c;
}

fuzz_case generate(std::uint64_t seed, setting const& where, abilities const& can, bool slow) {
  heist_test::random_engine random{seed};
  heist_test::program_limits limits;
  limits.may_wait = can.may_wait;
  limits.largest = slow ? 64 : 256;
  limits.deepest = slow ? 60 : 200;
  if (chance(random, 0.0005)) limits.largest *= slow ? 8 : 400;
  fuzz_case c;
  c.where = where;
  c.program = heist_test::program_generator{random, limits}();
  c.rounds = any_of(random, 1, 2);
  c.any_context = chance(random, 0.3);
  if (c.program.is_graph()) {
    if (chance(random, 0.3)) c.passes = any_of(random, 2, 3);
    if (chance(random, 0.3)) c.after = static_cast<graph_end>(any_of(random, 1, graph_end_names.size() - 1));
    c.keeps = chance(random, 0.2);
    if (c.after != graph_end::stays) c.rounds = any_of(random, 2, 3);
  } else {
    c.in_region = chance(random, can.tiers ? 0.9 : 0.1);
    if (chance(random, 0.5)) c.level = static_cast<int>(any_of(random, 0, 4));
    c.tiers_by_hand = chance(random, 0.25);
    if (can.tiers) c.rounds = any_of(random, 1, 3);
    limits.largest = 64;
    if (can.records) draw_schedule(c, random, limits);
  }
  if (c.follow == schedule::free && chance(random, 0.05)) c.clients = heist_test::any_size(random, 1000);
  if (c.program.has(heist_test::all_throws | heist_test::stops)) {
    c.rounds = std::min<std::uint32_t>(c.rounds + any_of(random, 0, 1), 5);
    c.armed = any_of(random, 1, (1u << c.rounds) - 1);
  }
  return c;
}

}  // namespace heist_fuzz
