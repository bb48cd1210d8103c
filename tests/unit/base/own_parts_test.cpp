// heist's vector, unique_ptr, number_map and format_text, which are lighter to compile than the standard's and fmt's. The
// tests compare each with the standard's, or with results that are written down.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heist/core/base/format.hpp"
#include "heist/core/base/number_map.hpp"
#include "heist/core/base/random.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "support/catch.hpp"

using heist::detail::format_text;
using heist::detail::make_unique;
using heist::detail::make_unique_for_overwrite;
using heist::detail::number_map;
using heist::detail::unique_ptr;
using heist::detail::vector;

namespace {

/// Counts how many live, and fails to be copied when told.
struct counted {
  inline static int living = 0;
  inline static int copies_left = 1'000'000;

  int value;

  counted(int v = 0) : value{v} { ++living; }
  counted(counted const& other) : value{other.value} {
    if (copies_left-- == 0) throw std::runtime_error{"no more copies"};
    ++living;
  }
  counted(counted&& other) noexcept : value{std::exchange(other.value, -1)} { ++living; }
  counted& operator=(counted const&) = default;
  counted& operator=(counted&& other) noexcept {
    value = std::exchange(other.value, -1);
    return *this;
  }
  ~counted() { --living; }
  bool operator==(counted const&) const = default;
};

template <class T>
bool same(vector<T> const& a, std::vector<T> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// The same changes to both, drawn by chance.
template <class T>
void change_alike(std::uint32_t seed) {
  heist::fast_random random{seed};
  vector<T> mine;
  std::vector<T> standard;
  for (int step = 0; step != 2000; ++step) {
    auto const value = static_cast<int>(random.below(100));
    std::size_t const at = standard.empty() ? 0 : random.below(static_cast<std::uint32_t>(standard.size()));
    auto const before = static_cast<std::ptrdiff_t>(at);
    switch (random.below(12)) {
      case 0:
        mine.emplace_back(value), standard.emplace_back(value);
        break;
      case 1:  // its own element, also when it grows
        if (!standard.empty()) mine.push_back(mine[at]), standard.push_back(T{standard[at]});
        break;
      case 2:
        mine.insert(mine.begin() + before, T(value)), standard.insert(standard.begin() + before, T(value));
        break;
      case 3:
        if (!standard.empty()) mine.erase(mine.begin() + before), standard.erase(standard.begin() + before);
        break;
      case 4:
        if (!standard.empty()) mine.pop_back(), standard.pop_back();
        break;
      case 5:
        mine.resize(standard.size() + at), standard.resize(standard.size() + at);
        break;
      case 6:
        mine.resize(at, T(value)), standard.resize(at, T(value));
        break;
      case 7:
        CHECK(heist::detail::erase_if(mine, [&](T const& v) { return v == T(value); }) ==
              std::erase(standard, T(value)));
        break;
      case 8: {
        vector<T> const copy{mine};
        CHECK(copy == mine);
        mine = copy;
        break;
      }
      case 9: {
        vector<T> moved{std::move(mine)};
        mine = std::move(moved);
        break;
      }
      case 10: {
        std::vector<T> const more{T(value), T(value + 1)};
        mine.append(more.begin(), more.end());
        standard.insert(standard.end(), more.begin(), more.end());
        break;
      }
      default:
        if (standard.size() > 200) mine.clear(), standard.clear();
    }
    REQUIRE(same(mine, standard));
    REQUIRE(mine.capacity() >= mine.size());
  }
}

struct base {
  virtual ~base() = default;
  virtual int number() const { return 1; }
};
struct derived : base {
  counted inside;
  int number() const override { return 2; }
};

}  // namespace

TEST_CASE("vector: changes as std::vector does", "[base]") {
  auto const seed = GENERATE(1u, 2u, 3u);
  change_alike<int>(seed);
  change_alike<counted>(seed);
  CHECK(counted::living == 0);
}

TEST_CASE("vector: keeps the elements when one cannot be added", "[base]") {
  {
    vector<counted> v{1, 2, 3, 4};
    counted const more{5};
    counted::copies_left = 0;
    CHECK_THROWS_AS(v.push_back(more), std::runtime_error);
    counted::copies_left = 2;
    CHECK_THROWS_AS(vector<counted>(v), std::runtime_error);
    counted::copies_left = 2;
    CHECK_THROWS_AS(vector<counted>(9, more), std::runtime_error);
    CHECK(v.size() == 4);
    counted::copies_left = 1'000'000;
    CHECK(v == vector<counted>({1, 2, 3, 4}));
    CHECK_THROWS_AS(v.reserve(std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
    CHECK_THROWS_AS(vector<char>().reserve(std::numeric_limits<std::size_t>::max() / 2 + 2), std::bad_alloc);
    CHECK(v.size() == 4);
  }
  CHECK(counted::living == 0);
}

TEST_CASE("vector: respects alignment, also of what only moves", "[base]") {
  struct alignas(128) line {
    unique_ptr<int> owned;
  };
  vector<line> v;
  for (int i = 0; i != 100; ++i) v.push_back({make_unique<int>(i)});
  for (int i = 0; i != 100; ++i) {
    CHECK(*v[static_cast<std::size_t>(i)].owned == i);
    CHECK(reinterpret_cast<std::uintptr_t>(&v[static_cast<std::size_t>(i)]) % 128 == 0);
  }
}

TEST_CASE("unique_ptr: owns objects, arrays, and what is derived", "[base]") {
  {
    unique_ptr<counted> one = make_unique<counted>(7);
    CHECK(one->value == 7);
    unique_ptr<counted> other{std::move(one)};
    CHECK(one == nullptr);
    CHECK(counted::living == 1);
    other = make_unique<counted>(8);
    CHECK(counted::living == 1);
    one.swap(other);
    CHECK((*one).value == 8);
    delete one.release();
    CHECK(counted::living == 0);

    auto const many = make_unique<counted[]>(5);
    CHECK(counted::living == 5);
    many[4].value = 1;
    CHECK(make_unique<int[]>(3)[2] == 0);
    CHECK(make_unique_for_overwrite<char[]>(3) != nullptr);

    unique_ptr<base> some = make_unique<derived>();
    CHECK(some->number() == 2);
    CHECK(counted::living == 6);
    some.reset();
    CHECK(counted::living == 5);
  }
  CHECK(counted::living == 0);
  int closed = 0;
  auto const close = [&closed](int* p) { closed += *p; };
  int three = 3;
  { unique_ptr<int, decltype(close)> const closes(&three, close); }
  CHECK(closed == 3);
}

TEST_CASE("number_map: as std::unordered_map, also for keys that share low bits", "[base]") {
  auto const stride = GENERATE(std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1} << 40);
  heist::fast_random random{42};
  number_map mine;
  std::unordered_map<std::uint64_t, std::uint64_t> standard;
  CHECK(mine.find(0) == nullptr);
  for (int step = 0; step != 3000; ++step) {
    std::uint64_t const key = random.below(500) * stride, value = random.below(20);
    switch (random.below(8)) {
      case 0:
        ++mine[key], ++standard[key];
        break;
      case 1:
        if (random.below(50) == 0) {
          mine.erase_value(value);
          std::erase_if(standard, [&](auto const& pair) { return pair.second == value; });
        }
        break;
      default: {
        auto const [place, is_new] = mine.try_emplace(key, value);
        auto const [there, was_new] = standard.try_emplace(key, value);
        REQUIRE(is_new == was_new);
        REQUIRE(place == there->second);
      }
    }
    REQUIRE(mine.size() == standard.size());
    auto const found = standard.find(key);
    REQUIRE((mine.find(key) == nullptr) == (found == standard.end()));
    if (found != standard.end()) REQUIRE(*mine.find(key) == found->second);
  }
}

TEST_CASE("format_text: texts, characters and integers of all sizes", "[base]") {
  CHECK(format_text("{}", {"all"}) == "all");
  CHECK(format_text("a {} of {}{}.", {std::string{"b"}, std::string_view{"cd"}.substr(1), 'e'}) == "a b of de.");
  CHECK(format_text("{} {} {}", {0, -1, 42u}) == "0 -1 42");
  CHECK(format_text("{}", {std::numeric_limits<std::uint64_t>::max()}) == "18446744073709551615");
  CHECK(format_text("{}", {std::numeric_limits<std::int64_t>::min()}) == "-9223372036854775808");
  CHECK(format_text("{}{}", {std::uint8_t{200}, std::int16_t{-7}}) == "200-7");
  CHECK(format_text("{} {}", {"{}", "x"}) == "{} x");  // "{}" in a value is left alone
}
