// Command lines of users, and the messages for those that cannot be read.
#include <string>

#include "examples/heat/parse.hpp"
#include "support/catch.hpp"

using namespace heat;

TEST_CASE("arguments: sizes", "[heat]") {
  plate_description p;
  read_size("3", p);
  CHECK(p.rows == 3);
  CHECK(p.columns == 3);
  read_size("600x800", p);
  CHECK(p.rows == 600);
  CHECK(p.columns == 800);
  for (std::string const bad :
       {"", "2", "65537", "x", "3x", "x3", "3x4x5", "3 x 4", "-5", "1e3", "99999999999999999999"}) {
    INFO(bad);
    CHECK_THROWS_AS(read_size(bad, p), argument_error);
  }
  CHECK(p.rows == 600);
  CHECK_THROWS_WITH(read_size("2\x1b[31m", p),
                    "'2?[31m' is no size: give the cells of a side, or rows x columns such as 600x800, each from 3 to "
                    "65536");
}

TEST_CASE("arguments: edges", "[heat]") {
  edge_temperatures e;
  read_edge("top=-5.5", e);
  read_edge("right=1", e);
  read_edge("bottom=2", e);
  read_edge("left=9999", e);
  CHECK(e.top == -5.5);
  CHECK(e.right == 1);
  CHECK(e.bottom == 2);
  CHECK(e.left == 9999);
  for (std::string const bad :
       {"", "top", "top=", "=3", "middle=3", "top=3=4", "top=nan", "top=inf", "top=10000", "top=3 "}) {
    INFO(bad);
    CHECK_THROWS_AS(read_edge(bad, e), argument_error);
  }
  CHECK(e.top == -5.5);
}

TEST_CASE("arguments: spots and tolerances", "[heat]") {
  spot const s = read_spot("12.5,100,0,-40");
  CHECK(s.x == 12.5);
  CHECK(s.y == 100);
  CHECK(s.radius == 0);
  CHECK(s.degrees == -40);
  for (std::string const bad : {"", "1,2,3", "1,2,3,4,5", "101,2,3,4", "1,-2,3,4", "1,2,nan,4", "1,2,3,", "a,b,c,d"}) {
    INFO(bad);
    CHECK_THROWS_AS(read_spot(bad), argument_error);
  }
  CHECK(read_tolerance("1e-6") == 1e-6);
  for (std::string const bad : {"", "0", "-1", "nan", "inf", "0.1x"}) {
    INFO(bad);
    CHECK_THROWS_AS(read_tolerance(bad), argument_error);
  }
}
