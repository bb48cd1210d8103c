// heist/core/base/json.hpp: accepted and refused texts, compared with nlohmann_json, and texts that are cut or damaged.
#include "heist/core/base/json.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/core/base/random.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/texts.hpp"

namespace json = heist::json;
using heist_test::has;

namespace {

std::string const sample =
    "{\"name\": \"a \\\"b\\\" \\\\ \\u00e4\\ud83d\\ude00\\n\", \"list\": [0, 1.5, -2e3, 18446744073709551615, []],\n"
    "\t\"nested\": {\"t\": true, \"f\": false, \"n\": null, \"o\": {}}}";

std::string error_text(std::string_view text, std::size_t depth = 64) {
  try {
    json::parse(text, depth);
  } catch (heist::json_error const& e) {
    return e.what();
  }
  return "accepted";
}

/// The same value as another library understands it.
nlohmann::json translated(json::value const& v) {
  if (v.is_null()) return nullptr;
  if (v.is_bool()) return v.as_bool();
  if (v.is_unsigned()) return v.as_unsigned();
  if (v.is_number()) return v.as_double();
  if (v.is_string()) return v.as_string();
  if (v.is_array()) {
    auto result = nlohmann::json::array();
    for (auto const& e : v.as_array()) result.push_back(translated(e));
    return result;
  }
  auto result = nlohmann::json::object();
  for (auto const& [name, e] : v.as_object()) result[name] = translated(e);
  return result;
}

std::string random_text(heist::fast_random& random, int depth) {
  static std::vector<std::string> const scalars{"null", "true", "false", "0",     "17",          "-1",     "0.5",
                                                "1e9",  "-0",   "\"\"",  "\"a\"", "\"\\u20ac\"", "1.25E-3"};
  auto const blank = [&] { return std::string(random.below(3), " \n\t\r"[random.below(4)]); };
  auto const kind = random.below(depth > 0 ? 3 : 1);
  if (kind == 0)
    return fmt::format("{}{}{}", blank(), scalars[random.below(static_cast<std::uint32_t>(scalars.size()))], blank());
  std::string inside;
  for (std::uint32_t i = 0, n = random.below(4); i < n; ++i) {
    if (i > 0) inside += ',';
    if (kind == 2) inside += fmt::format("{}{}{}:", blank(), json::quote(fmt::format("m{}", i)), blank());
    inside += random_text(random, depth - 1);
  }
  if (inside.empty()) inside = blank();
  return fmt::format("{}{}{}{}{}", blank(), kind == 1 ? '[' : '{', inside, kind == 1 ? ']' : '}', blank());
}

}  // namespace

TEST_CASE("json: values of every type", "[base]") {
  auto const v = json::parse(sample);
  CHECK(v.at("name").as_string() == "a \"b\" \\ \xc3\xa4\xf0\x9f\x98\x80\n");
  auto const& list = v.at("list").as_array();
  REQUIRE(list.size() == 5);
  CHECK(list[0].as_unsigned() == 0);
  CHECK(list[1].as_double() == 1.5);
  CHECK(list[2].as_double() == -2000.0);
  CHECK(list[3].as_unsigned() == ~std::uint64_t{0});
  CHECK(list[4].as_array().empty());
  CHECK(v.at("nested").at("t").as_bool());
  CHECK_FALSE(v.at("nested").at("f").as_bool());
  CHECK(v.at("nested").at("n").is_null());
  CHECK(v.at("nested").at("o").as_object().empty());
  CHECK(v.find("absent") == nullptr);
  CHECK(v.as_object()[1].first == "list");  // in the text's order
  CHECK(json::parse("7").as_double() == 7.0);
  CHECK(json::parse("18446744073709551616").as_double() == 18446744073709551616.0);  // whole, but too large
  CHECK_FALSE(json::parse("1.0").is_unsigned());
  CHECK_FALSE(json::parse("1e2").is_unsigned());
  CHECK(json::parse(" \r\n\t1 ").as_unsigned() == 1);
  CHECK(json::parse(sample) == v);
  CHECK_FALSE(json::parse("1") == json::parse("1.0"));
}

TEST_CASE("json: the wrong type and a missing member are errors with a sentence", "[base]") {
  auto const what = [](auto use) -> std::string {
    try {
      use(json::parse(sample));
    } catch (heist::json_error const& e) {
      return e.what();
    }
    return "accepted";
  };
  CHECK(what([](auto const& v) { v.at("weight"); }) == "the JSON object has no member \"weight\"");
  CHECK(what([](auto const& v) { v.as_array(); }) == "JSON: an array is needed, but an object stands there");
  CHECK(what([](auto const& v) { v.at("name").as_bool(); }) ==
        "JSON: true or false is needed, but a string stands there");
  CHECK(what([](auto const& v) { v.at("list").as_array()[1].as_unsigned(); }) ==
        "JSON: a whole number from 0 to 2^64 - 1 is needed, but a number that is not whole stands there");
  CHECK(what([](auto const& v) { v.at("list").at("x"); }) == "JSON: an object is needed, but an array stands there");
  CHECK(what([](auto const& v) { v.at("nested").at("n").as_double(); }) ==
        "JSON: a number is needed, but null stands there");
}

TEST_CASE("json: errors name line and column", "[base]") {
  CHECK(error_text("[1,\n  2,\n  x]") == "JSON, line 3, column 3: no value stands here");
  CHECK(error_text("[1") == "JSON, line 1, column 3: the text ends here; it was probably cut");
  CHECK(error_text("{\"a\":1,\n\"a\":2}") == "JSON, line 2, column 1: the object has this member already");
}

TEST_CASE("json: what RFC 8259 does not allow is refused", "[base]") {
  for (std::string_view const text : {"",
                                      " ",
                                      "x",
                                      "nul",
                                      "nulls",
                                      "True",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[",
                                      "]",
                                      "{",
                                      "}",
                                      "{]",
                                      "[}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\" 1}",
                                      "{a:1}",
                                      "{1:1}",
                                      "{\"a\":1,}",
                                      "{,}",
                                      "'a'",
                                      "\"a",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u12g4\"",
                                      "\"\\\"",
                                      "\"\n\"",
                                      "\"\t\"",
                                      "01",
                                      "-",
                                      "+1",
                                      ".5",
                                      "1.",
                                      "1.e2",
                                      "1e",
                                      "1e+",
                                      "0x10",
                                      "--1",
                                      "Infinity",
                                      "NaN",
                                      "1 1",
                                      "[] []",
                                      "// c\n1",
                                      "/* */1",
                                      "\xef\xbb\xbf"
                                      "1",
                                      "1\v",
                                      "\"\\ud800\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\udc00\"",
                                      "\"\xff\"",
                                      "\"\xc0\xaf\"",
                                      "\"\xed\xa0\x80\"",
                                      "\"\xe2\x82\"",
                                      "\"\xf4\x90\x80\x80\"",
                                      "1e999",
                                      "-1e999"}) {
    INFO(text);
    CHECK(has(error_text(text), "JSON, line "));
  }
  CHECK(has(error_text(std::string_view("\"a\0b\"", 5)), "no control characters"));
  CHECK(has(error_text(std::string_view("1\0", 2)), "something follows"));
  CHECK(json::parse("\"a\\u0000b\"").as_string() == std::string("a\0b", 3));
  CHECK(json::parse("\"\\ud834\\udd1e\\uFFFF\\u07ff\\u0800\\/\"").as_string() ==
        "\xf0\x9d\x84\x9e\xef\xbf\xbf\xdf\xbf\xe0\xa0\x80/");
}

TEST_CASE("json: nesting is limited, and a bomb of brackets does not overflow the stack", "[base]") {
  CHECK(error_text("[[1]]", 2) == "accepted");
  CHECK(has(error_text("[[[1]]]", 2), "column 3: too many arrays and objects are inside each other"));
  CHECK(error_text("[[1],[1],{\"a\":1}]", 2) == "accepted");  // side by side is not nested
  CHECK(error_text("1", 0) == "accepted");
  CHECK(has(error_text("{}", 0), "too many"));
  CHECK(has(error_text(std::string(1000000, '[')), "too many"));
}

TEST_CASE("json: a valid text that is cut anywhere is refused", "[base]") {
  REQUIRE(error_text(sample) == "accepted");
  for (std::size_t length = 0; length < sample.size(); ++length)
    REQUIRE(has(error_text(sample.substr(0, length)), "JSON, line "));
  heist::fast_random random(7);
  for (int i = 0; i < 200; ++i) {
    auto text = fmt::format("[{}]", random_text(random, 4));
    REQUIRE(error_text(text) == "accepted");
    for (; text.size() > 1; text.pop_back()) REQUIRE(has(error_text(text.substr(0, text.size() - 1)), "JSON, line "));
  }
}

TEST_CASE("json: random texts mean the same to another library", "[base]") {
  heist::fast_random random(8);
  for (int i = 0; i < 1000; ++i) {
    auto const text = random_text(random, 5);
    REQUIRE(translated(json::parse(text)) == nlohmann::json::parse(text));
  }
}

TEST_CASE("json: damaged texts are accepted or refused as another library does", "[base]") {
  heist::fast_random random(9);
  std::size_t accepted = 0, rejected = 0;
  for (int i = 0; i < 20000; ++i) {
    auto text = i % 2 == 0 ? sample : random_text(random, 4);
    for (auto n = 1 + random.below(2); n > 0 && !text.empty(); --n) {
      auto const at = random.below(static_cast<std::uint32_t>(text.size()));
      static constexpr std::string_view characters = "[]{}:,\"\\0123456789-+.eEtfn ux\n\x80\xc3";
      auto const c = characters[random.below(static_cast<std::uint32_t>(characters.size()))];
      switch (random.below(3)) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(text.begin() + at, c);
          break;
        default:
          text.erase(at, 1);
      }
    }
    auto const what = error_text(text);
    auto const theirs = nlohmann::json::parse(text, nullptr, false);
    if (has(what, "has this member already") || has(what, "no double")) continue;  // stricter than they
    INFO(text << " " << what);
    REQUIRE((what == "accepted") == !theirs.is_discarded());
    ++(what == "accepted" ? accepted : rejected);
    if (what == "accepted") REQUIRE(translated(json::parse(text)) == theirs);
  }
  CHECK(accepted > 1000);
  CHECK(rejected > 1000);
}

TEST_CASE("json: a quoted string comes back, whatever is in it", "[base]") {
  CHECK(json::quote("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\"");
  CHECK(json::parse(json::quote("bad \xff\xc3 \xe2\x82")).as_string() == "bad ?? ??");
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
  CHECK(json::parse(json::quote(all)).as_string() == all);
  heist::fast_random random(10);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (auto n = random.below(12); n > 0; --n) bytes += static_cast<char>(random.below(256));
    auto const back = json::parse(json::quote(bytes)).as_string();
    REQUIRE(nlohmann::json::parse(json::quote(bytes)) == back);
  }
}

TEST_CASE("json: an object of very many members is read in proportion to its length", "[base]") {
  constexpr int members = heist_test::slow ? 40'000 : 200'000;  // in pairs: 8 * 10^8, or 2 * 10^10 comparisons
  std::string text = "{";
  for (int i = 0; i < members; ++i) text += fmt::format("\"member {}\": {},", i, i);
  text.back() = '}';
  auto const v = json::parse(text);
  CHECK(v.as_object().size() == members);
  CHECK(v.at("member 7777").as_unsigned() == 7777);
  for (int const twice : {0, 15, 16, 17, members - 1}) {
    auto again = text;
    again.back() = ',';
    CHECK(has(error_text(again + fmt::format("\"member {}\": 0}}", twice)), "the object has this member already"));
  }
}
