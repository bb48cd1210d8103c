// The record of which worker computed which part: its entries and its counts.
#include <cstddef>
#include <vector>

#include "examples/heat/placement.hpp"
#include "support/catch.hpp"

using heat::placement_record;

namespace {

void add_step(placement_record& record, std::vector<placement_record::id> const& who) {
  auto const rows = record.begin_step();
  REQUIRE(rows.size() == who.size());
  for (std::size_t i = 0; i < who.size(); ++i) rows[i] = who[i];
  record.end_step();
}

}  // namespace

TEST_CASE("placement: the record keeps its first steps and counts all", "[heat]") {
  placement_record record{4, 2};
  CHECK(record.steps() == 0);
  CHECK_FALSE(record.persistence());
  add_step(record, {0, 0, 1, 1});
  CHECK_FALSE(record.persistence());
  add_step(record, {0, 1, 1, 1});  // three of four stayed
  CHECK(record.persistence() == 0.75);
  add_step(record, {3, 3, 3, 3});  // none
  CHECK(record.persistence() == 0.375);
  CHECK(record.steps() == 3);
  CHECK(record.kept_steps() == 2);
  CHECK(record.at(0, 2) == 1);
  CHECK(record.at(1, 0) == 0);
  CHECK(record.at(1, 1) == 1);
  CHECK(record.id_count() == 4);
  CHECK(record.share_of(0) == 0.25);
  CHECK(record.share_of(2) == 0);
  CHECK(record.persistence_by_chance() == Approx((3. * 3 + 5. * 5 + 4. * 4) / (12 * 12)));
}

TEST_CASE("placement: bands are persistent, swapped halves are not", "[heat]") {
  placement_record bands{2, 10}, swapped{2, 10};
  for (int step = 0; step < 10; ++step) {
    add_step(bands, {0, 1});
    add_step(swapped,
             step % 2 == 0 ? std::vector<placement_record::id>{0, 1} : std::vector<placement_record::id>{1, 0});
  }
  CHECK(bands.persistence() == 1.0);
  CHECK(swapped.persistence() == 0.0);
  CHECK(bands.persistence_by_chance() == 0.5);
  CHECK(swapped.persistence_by_chance() == 0.5);
}
