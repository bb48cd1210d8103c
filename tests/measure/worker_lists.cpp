// Tests the lists of workers that benchmark programs take, and the sentences for malformed lists.
#include "benchmarks/workers.hpp"

#include <fmt/ranges.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

int failures = 0;

void expect(std::string const& list, std::size_t max, std::vector<std::size_t> const& wanted) {
  try {
    auto const found = bench::worker_list(list, max);
    if (found == wanted) return;
    fmt::print("{} with at most {} is {} instead of {}\n", list, max, found, wanted);
  } catch (std::exception const& e) {
    fmt::print("{} is refused: {}\n", list, e.what());
  }
  ++failures;
}

/// One sentence, which names the list and says `why`.
void expect_refused(std::string const& list, std::string const& why) {
  try {
    bench::worker_list(list, 8);
    fmt::print("'{}' is taken for a list\n", list);
  } catch (std::invalid_argument const& e) {
    std::string const text = e.what();
    bool const one_line = text.find('\n') == std::string::npos;
    if (one_line && text.find("'" + list + "'") != std::string::npos && text.find(why) != std::string::npos) return;
    fmt::print("'{}' is refused with: {}\n", list, text);
  }
  ++failures;
}

}  // namespace

int main() {
  expect("1", 8, {1});
  expect("max", 8, {8});
  expect("1,2,4..max", 1, {1, 2});
  expect("1,2,4..max", 2, {1, 2});
  expect("1,2,4..max", 6, {1, 2, 4, 6});
  expect("1,2,4..max", 64, {1, 2, 4, 8, 16, 32, 64});
  expect("1..max", 12, {1, 2, 4, 8, 12});
  expect("3..20", 2, {3, 6, 12, 20});
  expect("8,2,2,max", 4, {2, 4, 8});
  expect("5..5", 1, {5});
  expect("max..max", 3, {3});
  expect("max", 5000, {bench::most_workers});
  expect_refused("", "a number is missing");
  expect_refused(",", "a number is missing");
  expect_refused("1,,2", "a number is missing");
  expect_refused("1,", "a number is missing");
  expect_refused("..4", "a number is missing");
  expect_refused("4..", "a number is missing");
  expect_refused("two", "is no number");
  expect_refused("1 2", "is no number");
  expect_refused("-1", "is no number");
  expect_refused("1.5", "is no number");
  expect_refused("0", "0 workers");
  expect_refused("0..4", "0 workers");
  expect_refused("4..2", "begins above its end");
  expect_refused("max..2", "begins above its end");
  expect_refused("1..2..4", "too many dots");
  expect_refused("1...4", "too many dots");
  expect_refused("1025", "too large");
  expect_refused("99999999999999999999999", "too large");
  if (bench::worker_list("max").front() != bench::usable_workers()) ++failures;
  return failures == 0 ? 0 : 1;
}
