// The pictures: libpng can read the files back, and every place has its expected colour.
#include <png.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "examples/heat/placement_drawing.hpp"
#include "examples/heat/plate_drawing.hpp"
#include "examples/heat/png.hpp"
#include "examples/heat/relax.hpp"
#include "support/catch.hpp"

using namespace heat;

namespace {

image read_png(std::string const& path) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  INFO(path << ": " << header.message);
  REQUIRE(png_image_begin_read_from_file(&header, path.c_str()) != 0);
  header.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> bytes(PNG_IMAGE_SIZE(header));
  REQUIRE(png_image_finish_read(&header, nullptr, bytes.data(), 0, nullptr) != 0);
  image drawing{header.width, header.height};
  for (std::size_t i = 0; i < bytes.size() / 3; ++i) {
    drawing.fill(i % header.width, i / header.width, 1, 1, {bytes[3 * i], bytes[3 * i + 1], bytes[3 * i + 2]});
  }
  return drawing;
}

/// Perceived lightness, 0 to 255.
double lightness(color c) {
  return 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue;
}

}  // namespace

TEST_CASE("pictures: what libpng reads back is what was written", "[heat]") {
  image drawing{5, 3};
  drawing.fill(0, 0, 2, 1, {1, 2, 3});
  drawing.fill(4, 2, 9, 9, {250, 128, 0});  // one pixel of this rectangle is inside the image
  write_png("heat_test.png", drawing);
  auto const read = read_png("heat_test.png");
  CHECK(read.width() == 5);
  CHECK(read.height() == 3);
  CHECK(read.pixels() == drawing.pixels());
  CHECK(read.at(1, 0) == color{1, 2, 3});
  CHECK(read.at(2, 0) == white);
  CHECK(read.at(4, 2) == color{250, 128, 0});
}

TEST_CASE("pictures: a file that cannot be written is an error that says so", "[heat]") {
  CHECK_THROWS_WITH(write_png("no/such/folder/a.png", image(1, 1)),
                    "no/such/folder/a.png: the file cannot be written: No such file or directory; name one in a folder "
                    "that exists and is yours");
  CHECK_THROWS_AS(expect_writable("no/such/folder/a.png"), file_error);
  CHECK_THROWS_AS(expect_writable("/"), file_error);
  CHECK_THROWS_AS(write_png("/dev/full", image(100, 100)), file_error);
  write_png("heat_test.png", image(2, 2));
  expect_writable("heat_test.png");  // and leaves it as it is
  CHECK(read_png("heat_test.png").width() == 2);
}

TEST_CASE("pictures: hotter is lighter", "[heat]") {
  double before = -1;
  for (int i = 0; i <= 64; ++i) {
    double const now = lightness(temperature_color(i / 64.0));
    CHECK(now > before);
    before = now;
  }
  CHECK(lightness(temperature_color(1)) - lightness(temperature_color(0)) > 200);
  CHECK(temperature_color(-1) == temperature_color(0));
  CHECK(temperature_color(2) == temperature_color(1));
}

TEST_CASE("pictures: each squad has a colour of its own", "[heat]") {
  std::set<std::tuple<int, int, int>> seen;
  for (std::size_t id = 0; id < 80; ++id) {
    auto const c = placement_color(id);
    INFO(id);
    CHECK(seen.emplace(c.red, c.green, c.blue).second);
    CHECK_FALSE(c == white);
  }
  for (std::size_t a = 0; a < 16; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      auto const x = placement_color(a), y = placement_color(b);
      INFO(a << " and " << b);
      CHECK(std::abs(x.red - y.red) + std::abs(x.green - y.green) + std::abs(x.blue - y.blue) >= 60);
    }
  }
}

TEST_CASE("pictures: a tiny plate", "[heat]") {
  plate p{{4, 5, {.top = 100, .right = 0, .bottom = 50, .left = 0}, {{50, 50, 0, 75}}}};
  relax_serially(p);
  write_png("heat_test_plate.png", draw(p));
  auto const read = read_png("heat_test_plate.png");
  plate_layout const at{p};
  CHECK(at.enlarged == 80);
  CHECK(at.shrunk == 1);
  CHECK(at.width == 400);
  CHECK(at.height == 320);
  CHECK(read.height() == 320);
  CHECK(read.width() > at.width + plate_layout::gap + plate_layout::bar_width);
  auto const cell = [&](std::size_t row, std::size_t column) { return read.at(column * 80 + 40, row * 80 + 40); };
  CHECK(cell(0, 2) == temperature_color(1));
  CHECK(cell(3, 2) == temperature_color(0.5));
  CHECK(cell(1, 0) == temperature_color(0));
  CHECK(cell(2, 2) == temperature_color(0.75));    // the spot
  CHECK(cell(1, 1) == temperature_color(0.25));    // a quarter of the top's 100
  CHECK(cell(1, 2) == temperature_color(0.4375));  // a quarter of 100 and of the spot's 75
  CHECK(read.at(0, 0) == cell(0, 0));              // a cell is a square of one colour
  CHECK(read.at(79, 79) == cell(0, 0));
  std::size_t const bar = at.width + plate_layout::gap + 1;
  CHECK(read.at(bar, 0) == temperature_color(1));
  CHECK(read.at(bar, 319) == temperature_color(0));
}

TEST_CASE("pictures: a large plate is shrunk, one of one temperature is dark", "[heat]") {
  plate p{{2001, 5, {.top = 100, .right = 0, .bottom = 0, .left = 0}, {}}};
  plate_layout const at{p};
  CHECK(at.enlarged == 1);
  CHECK(at.shrunk == 2);
  CHECK(at.height == 1001);
  CHECK(at.width == 3);
  auto const drawing = draw(p);
  CHECK(drawing.height() == 1001);
  CHECK(drawing.at(0, 0) == temperature_color(0.5));  // rows 0 and 1
  CHECK(drawing.at(2, 1000) == temperature_color(0));

  plate const cold{{3, 3, {.top = 0, .right = 0, .bottom = 0, .left = 0}, {}}};
  CHECK(draw(cold).at(0, 0) == temperature_color(0));
}

TEST_CASE("pictures: a placement made by hand", "[heat]") {
  placement_record record{3, 4};
  std::vector<std::vector<placement_record::id>> const steps{{0, 0, 1}, {1, 0, 1}, {2, 2, 2}, {0, 1, 2}, {9, 9, 9}};
  for (auto const& who : steps) {
    auto const rows = record.begin_step();
    for (std::size_t row = 0; row < 3; ++row) rows[row] = who[row];
    record.end_step();
  }
  write_png("heat_test_placement.png", draw(record));
  auto const read = read_png("heat_test_placement.png");
  placement_layout const at{record};
  CHECK(at.steps == 4);  // the fifth is not kept
  CHECK(read.width() == at.width());
  CHECK(read.height() == at.full_height());
  for (std::size_t step = 0; step < 4; ++step) {
    for (std::size_t row = 0; row < 3; ++row) {
      INFO("step " << step << ", row " << row);
      CHECK(read.at(at.x_of(step), at.y_of(row)) == placement_color(steps[step][row]));
    }
  }
  REQUIRE(at.legend_lines == 10);
  for (std::size_t id = 0; id < 10; ++id) {
    CHECK(read.at(at.legend_left + 1, at.legend_y_of(id)) == placement_color(id));
  }
}

TEST_CASE("pictures: a placement whose dots are no squares", "[heat]") {
  placement_record record{60, 100};
  auto const who = [](std::size_t step, std::size_t row) {
    return static_cast<placement_record::id>((step / 3 + row / 7) % 5);
  };
  for (std::size_t step = 0; step < 100; ++step) {
    auto const rows = record.begin_step();
    for (std::size_t row = 0; row < 60; ++row) rows[row] = who(step, row);
    record.end_step();
  }
  placement_layout const at{record};
  CHECK(at.cell_width == 9);
  CHECK(at.cell_height == 10);
  auto const drawing = draw(record);
  std::size_t wrong = 0;
  for (std::size_t step = 0; step < 100; ++step) {
    for (std::size_t row = 0; row < 60; ++row) {
      wrong += drawing.at(at.x_of(step), at.y_of(row)) == placement_color(who(step, row)) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("pictures: a placement of many rows and squads fits", "[heat]") {
  placement_record record{9000, 1};
  auto const rows = record.begin_step();
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = static_cast<placement_record::id>(row / 10);
  record.end_step();
  placement_layout const at{record};
  CHECK(at.rows_per_dot == 3);
  auto const drawing = draw(record);
  CHECK(drawing.height() == 3000 + placement_layout::gap / 2 + text_height);
  CHECK(drawing.at(at.x_of(0), at.y_of(8999)) == placement_color(8997 / 10));
  CHECK(at.legend_lines * placement_layout::legend_line <= at.height);
}

TEST_CASE("pictures: numbers are written with dots of two pixels", "[heat]") {
  image drawing{text_width("7-"), text_height};
  drawing.write(0, 0, "7-");
  CHECK(drawing.at(0, 0) == black);  // the 7's bar
  CHECK(drawing.at(5, 1) == black);
  CHECK(drawing.at(6, 0) == white);  // between the two
  CHECK(drawing.at(0, 4) == white);
  CHECK(drawing.at(8, 4) == black);  // the dash
  CHECK(drawing.at(8, 0) == white);
}
