// JSON: read, written, read again, and compared with another reader of JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "all_targets.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/json.hpp"

namespace fuzz {
namespace {

using heist::json_error;
using heist::json::value;

std::string written(value const& v) {
  if (v.is_null()) return "null";
  if (v.is_bool()) return v.as_bool() ? "true" : "false";
  if (v.is_unsigned()) return fmt::format("{}", v.as_unsigned());
  if (v.is_number()) {
    auto text = fmt::format("{}", v.as_double());
    return text.find_first_of(".e-") == std::string::npos ? text + ".0" : text;
  }
  if (v.is_string()) return heist::json::quote(v.as_string());
  std::string text = v.is_array() ? "[" : "{";
  char const* separator = "";
  if (v.is_array()) {
    for (auto const& one : v.as_array()) text += separator + written(one), separator = ",";
    return text + "]";
  }
  for (auto const& [name, one] : v.as_object())
    text += separator + heist::json::quote(name) + ": " + written(one), separator = ",\n";
  return text + "}";
}

bool same(value const& ours, nlohmann::json const& theirs) {
  if (ours.is_null()) return theirs.is_null();
  if (ours.is_bool()) return theirs.is_boolean() && theirs.get<bool>() == ours.as_bool();
  if (ours.is_unsigned()) return theirs.is_number_unsigned() && theirs.get<std::uint64_t>() == ours.as_unsigned();
  if (ours.is_number()) return theirs.is_number() && theirs.get<double>() == ours.as_double();
  if (ours.is_string()) return theirs.is_string() && theirs.get_ref<std::string const&>() == ours.as_string();
  if (ours.is_array()) {
    auto const& all = ours.as_array();
    if (!theirs.is_array() || theirs.size() != all.size()) return false;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!same(all[i], theirs[i])) return false;
    return true;
  }
  if (!theirs.is_object() || theirs.size() != ours.as_object().size()) return false;
  for (auto const& [name, one] : ours.as_object())
    if (auto const found = theirs.find(name); found == theirs.end() || !same(one, *found)) return false;
  return true;
}

bool is_utf_8(std::string_view text) {
  while (!text.empty()) {
    auto const length = heist::json::detail::character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Inputs that heist refuses although RFC 8259 allows them, or leaves them open.
bool may_be_rejected(std::string_view input) {
  try {
    static_cast<void>(heist::json::parse(input));
  } catch (json_error const& e) {
    std::string_view const why = e.what();
    for (auto const reason : {"has this member already", "inside each other", "no double holds"})
      if (why.find(reason) != std::string_view::npos) return true;
  }
  // The other reader skips this mark, and takes a zero byte for the end.
  return input.substr(0, 3) == "\xef\xbb\xbf" || input.find('\0') != std::string_view::npos;
}

outcome run(std::string_view input) {
  outcome result;
  auto const quoted = heist::json::parse(heist::json::quote(input)).as_string();
  require(quoted.size() == input.size() && (quoted == input) == is_utf_8(input), "quote() changes the text");
  ++result.round_trips;

  auto const v = attempt<json_error>(input.size(), {4096, 320}, [&] { return heist::json::parse(input); });
  auto const theirs = nlohmann::json::parse(input, nullptr, false);
  if (!v) {
    require(theirs.is_discarded() || may_be_rejected(input),
            "another reader accepts it, and no rule of ours forbids it");
    return result;
  }
  require(!theirs.is_discarded(), "another reader refuses it");
  require(same(*v, theirs), "another reader reads something else");
  require(heist::json::parse(written(*v)) == *v, "the value changes when written and read");
  ++result.round_trips;
  if (v->is_array() || v->is_object())
    require(rejects_call<json_error>([&] { return heist::json::parse(cut(input)); }), "a cut text is accepted");
  result.accepted = true;
  return result;
}

}  // namespace

target const json_target{"json", 4096, 20000, true, run};

}  // namespace fuzz
