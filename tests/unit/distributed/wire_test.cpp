// How values travel between processes, and which do not.
#include <heist/distributed/place.hpp>
#include <heist/distributed/wire.hpp>

#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "support/catch.hpp"

namespace {

/// As Boost.Serialization wants it.
struct by_member {
  int n = 0;
  double x = 0;
  std::array<int, 3> more{};
  by_member() = default;
  by_member(by_member const& other) : n{other.n}, x{other.x}, more{other.more} {}  // not trivial
  by_member& operator=(by_member const&) = default;
  by_member(int a, double b) : n{a}, x{b} {}
  template <class Archive>
  void serialize(Archive& a, unsigned) {
    a& n& x& more[0] & more[1] & more[2];
  }
  bool operator==(by_member const& o) const { return n == o.n && x == o.x && more == o.more; }
};

/// As wire<T> says.
struct by_wire {
  std::string text;
  bool operator==(by_wire const&) const = default;
};

template <class T>
bool returned(T const& x) {
  static_assert(heist::serializable<T>);
  return heist::distributed::detail::unpacked<T>(heist::distributed::detail::packed(x)) == x;
}

}  // namespace

template <>
struct heist::wire<by_wire> {
  static void pack(heist::distributed::writer& to, by_wire const& x) { heist::distributed::detail::pack(to, x.text); }
  static by_wire unpack(heist::distributed::reader& from) {
    return {heist::distributed::detail::unpack<std::string>(from)};
  }
};

TEST_CASE("values come back as they were sent", "[distributed][wire]") {
  CHECK(returned(5));
  CHECK(returned(std::string{"abc"}));
  CHECK(returned(std::string{}));
  CHECK(returned(std::vector<double>{1, 2}));
  CHECK(returned(std::vector<bool>{true, false, true}));
  CHECK(returned(std::map<std::string, std::vector<int>>{{"a", {1, 2}}, {"b", {}}}));
  CHECK(returned(std::unordered_map<int, std::string>{{1, "a"}, {2, ""}}));
  CHECK(returned(std::list<std::set<int>>{{1, 2}, {}}));
  CHECK(returned(std::tuple<int, std::string, std::vector<char>>{1, "x", {'c'}}));
  CHECK(returned(std::pair<int, std::string>{1, "x"}));
  CHECK(returned(std::array<std::string, 2>{"a", "b"}));
  CHECK(returned(std::optional<std::string>{"q"}));
  CHECK(returned(std::optional<std::string>{}));
  CHECK(returned(std::variant<int, std::string>{"z"}));
  CHECK(returned(by_member{1, 2.5}));
  CHECK(returned(std::vector<by_member>{{1, 2.5}, {3, 4}}));
  CHECK(returned(std::map<int, by_wire>{{1, {"text"}}}));
}

TEST_CASE("what has addresses in it does not travel, however deep", "[distributed][wire]") {
  STATIC_REQUIRE_FALSE(heist::serializable<int*>);
  STATIC_REQUIRE_FALSE(heist::serializable<std::string_view>);
  STATIC_REQUIRE_FALSE(heist::serializable<std::vector<int*>>);
  STATIC_REQUIRE_FALSE(heist::serializable<std::map<int, std::unique_ptr<int>>>);
  STATIC_REQUIRE_FALSE(heist::serializable<std::tuple<int, char const*>>);
  STATIC_REQUIRE_FALSE(heist::serializable<std::optional<std::vector<std::shared_ptr<int>>>>);
  STATIC_REQUIRE_FALSE(heist::serializable<std::variant<int, std::string_view>>);
  STATIC_REQUIRE(heist::serializable<std::vector<std::variant<int, std::string>>>);
}

TEST_CASE("a message of another size than its value is refused", "[distributed][wire]") {
  using heist::distributed::bytes;
  using heist::distributed::detail::unpacked;
  CHECK(unpacked<std::string>(bytes{"abc", 3}) == "abc");
  CHECK_THROWS_AS(unpacked<std::vector<short>>(bytes{"abc", 3}), heist::wire_error);
  CHECK_THROWS_AS(unpacked<int>(bytes{"abc", 3}), heist::wire_error);
  CHECK_THROWS_AS(unpacked<short>(bytes{"abc", 3}), heist::wire_error);
  std::string const huge(9, '\x7f');  // a length beyond all memory
  CHECK_THROWS_AS(unpacked<std::vector<std::string>>(bytes{huge.data(), 8}), heist::wire_error);
  CHECK_THROWS_AS(unpacked<std::vector<std::string>>(bytes{std::string(9, '\0').data(), 9}), heist::wire_error);
}

TEST_CASE("places deal all elements, as evenly as can be", "[distributed][place]") {
  for (int const ranks : {1, 3, 4, 7}) {
    for (std::size_t const count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{100}}) {
      heist::place::block const block{count, ranks};
      std::vector<std::size_t> each(static_cast<std::size_t>(ranks));
      int before = 0;
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(block(i) >= before);
        before = block(i);
        ++each.at(static_cast<std::size_t>(block(i)));
      }
      for (std::size_t const n : each) CHECK((n == count / each.size() || n == count / each.size() + 1));
    }
    CHECK(heist::place::cyclic{ranks}(10) == 10 % ranks);
  }
  heist::place::block_cyclic const grid{2, 3};
  CHECK(grid(0, 0) == 0);
  CHECK(grid(1, 2) == 5);
  CHECK(grid(2, 3) == 0);
  CHECK(heist::place::block_cyclic::square(6)(1, 2) == 5);
  CHECK_THROWS_AS((heist::place::block_cyclic{0, 1}), heist::graph_error);
}
