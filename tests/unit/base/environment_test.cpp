// heist/base/environment.hpp: variables are read whole.
#include "heist/base/environment.hpp"

#include <cstddef>
#include <cstdlib>  // setenv

#include "support/catch.hpp"

using heist::detail::environment_text;
using heist::detail::whole_number;

TEST_CASE("environment: a number is the whole text, and in range") {
  CHECK(whole_number("5", 0.001, 1e6) == 5.0);
  CHECK(whole_number("0.25", 0.001, 1e6) == 0.25);
  CHECK(whole_number<std::size_t>("12", 1, 100) == std::size_t{12});
  for (char const* const text : {"", " 5", "5 ", "5abc", "abc", "inf", "nan", "1e300", "-1", "0", "0x5", "1,5"}) {
    INFO(text);
    CHECK_FALSE(whole_number(text, 0.001, 1e6));
    CHECK_FALSE(whole_number<std::size_t>(text, 1, 100));
  }
  CHECK_FALSE(whole_number<std::size_t>("101", 1, 100));
}

TEST_CASE("environment: a variable that is not set is empty") {
  ::unsetenv("HEIST_TEST_VARIABLE");
  CHECK(environment_text("HEIST_TEST_VARIABLE").empty());
  ::setenv("HEIST_TEST_VARIABLE", "x y", 1);
  CHECK(environment_text("HEIST_TEST_VARIABLE") == "x y");
  ::unsetenv("HEIST_TEST_VARIABLE");
}
