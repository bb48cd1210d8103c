// Every fork/join kernel: right by its own check, and equal to its serial result on any number of workers.
#include <heist/heist.hpp>
#include <heist/measure.hpp>
#include <heist/tools/measure/work_span.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "examples/kernels/all.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

/// Sizes at which a kernel's recursion takes its shortest ways out, and the size for tests.
template <class K>
std::set<std::size_t> sizes_to_test() {
  auto const& about = K::about;
  std::set<std::size_t> sizes{about.test};
  for (std::size_t const size : {0, 1, 2, 3, 4, 5, 7, 8, 13, 16, 64}) {
    bool const fits = size >= about.smallest && size <= about.test;
    bool const power = size != 0 && (size & (size - 1)) == 0;
    if (fits && (power || !about.power_of_two)) sizes.insert(size);
  }
  return sizes;
}

std::string digest_text(kernels::sha1::digest const& d) {
  return fmt::format("{:08x}{:08x}{:08x}{:08x}{:08x}", d[0], d[1], d[2], d[3], d[4]);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("kernels: the serial version is right", "[kernels]", kernels::all) {
  using K = TestType;
  for (std::size_t const size : sizes_to_test<K>()) {
    INFO(K::about.name << " of size " << size);
    K k{size};
    k.prepare();
    k.serial();
    CHECK(k.check() == "");
  }
}

TEMPLATE_LIST_TEST_CASE("kernels: the serial elision equals the serial version", "[kernels]", kernels::all) {
  using K = TestType;
  INFO(K::about.name);
  K k{K::about.test};
  k.prepare();
  k.serial();
  auto const expected = k.result();
  k.prepare();
  k.parallel(kernels::serial_context{});
  CHECK(k.check() == "");
  CHECK((k.result() == expected));
}

TEMPLATE_LIST_TEST_CASE("kernels: on 1, 2, 4 and 16 workers the result is the serial one", "[kernels]", kernels::all) {
  using K = TestType;
  std::size_t const size = K::about.test;
  K k{size};
  k.prepare();
  k.serial();
  auto const expected = k.result();
  for (std::size_t const workers : {1u, 2u, 4u, 16u}) {
    INFO(K::about.name << " on " << workers << " workers");
    heist::executor<> ex{
        heist::options{.workers = workers, .stack_size = std::max(K::about.stack, std::size_t{4} << 20)}};
    heist_test::watchdog guard{std::string{K::about.name}, 100s, [&] { return ex.state_text(); }};
    for (int round = 0; round < 3; ++round) {
      k.prepare();
      ex.invoke([&](auto ctx) { k.parallel(ctx); });
      CHECK(k.check() == "");
      CHECK((k.result() == expected));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("kernels: with a context that measures, the result is the serial one", "[kernels]",
                        kernels::all) {
  using K = TestType;
  INFO(K::about.name);
  K k{K::about.test};
  k.prepare();
  k.serial();
  auto const expected = k.result();
  heist::executor<> ex{heist::options{.workers = 2, .stack_size = std::max(K::about.stack, std::size_t{4} << 20)}};
  heist_test::watchdog guard{std::string{K::about.name}, 100s, [&] { return ex.state_text(); }};
  k.prepare();
  auto const measured = heist::measure_work_span(ex, [&](auto ctx) { k.parallel(ctx); }).profile;
  CHECK((k.result() == expected));
  CHECK(measured.work >= measured.burdened_span);
  CHECK(measured.burdened_span >= measured.span);
  CHECK(measured.span > 0);
  CHECK(measured.tasks > 0);
}

TEMPLATE_LIST_TEST_CASE("kernels: small sizes in parallel", "[kernels]", kernels::all) {
  using K = TestType;
  heist::executor ex{3};
  heist_test::watchdog guard{std::string{K::about.name}, 100s, [&] { return ex.state_text(); }};
  for (std::size_t const size : sizes_to_test<K>()) {
    if (size == K::about.test) continue;
    INFO(K::about.name << " of size " << size);
    K k{size};
    k.prepare();
    ex.invoke([&](auto ctx) { k.parallel(ctx); });
    CHECK(k.check() == "");
  }
}

TEST_CASE("kernels: a check finds a wrong result", "[kernels]") {
  kernels::for_each_kernel([]<class K>() {
    if (K::about.name.substr(0, 3) == "uts") return;  // below the published size there is no answer to compare with
    INFO(K::about.name);
    K k{K::about.test};
    k.prepare();
    CHECK(k.check() != "");
  });
}

TEST_CASE("kernels: SHA-1 of known messages", "[kernels]") {
  using kernels::sha1;
  // "abcd" and "abc...x": the published test vectors are not whole words, so these digests are coreutils'.
  CHECK(digest_text(sha1::of(std::array<std::uint32_t, 1>{0x61626364})) == "81fe8bfe87576c3ecb22426f8e57847382917acf");
  CHECK(digest_text(sha1::of(std::array<std::uint32_t, 6>{0x61626364, 0x65666768, 0x696a6b6c, 0x6d6e6f70, 0x71727374,
                                                          0x75767778})) == "d717e22e1659305fad6ef08864923db64aba9c08");
}

TEST_CASE("kernels: the UTS trees have the known numbers of nodes", "[kernels]") {
#ifdef __OPTIMIZE__
  constexpr bool fast = !heist::under_tsan && !heist::under_asan;
#else
  constexpr bool fast = false;
#endif
  heist::executor<> ex{heist::options{.workers = 2, .stack_size = kernels::uts_t3::about.stack}};
  heist_test::watchdog guard{"uts", 100s, [&] { return ex.state_text(); }};
  auto const count = [&](auto k) {
    ex.invoke([&](auto ctx) { k.parallel(ctx); });
    return k.result();
  };
  // Cut short, as a plain program with another library's SHA-1 counts them.
  CHECK(count(kernels::uts_t1{7}) == 63'914);
  CHECK(count(kernels::uts_t3{100}) == 6'797);
  CHECK(count(kernels::uts_t3l{100}) == 2'931);
  if (fast) {  // as published
    CHECK(count(kernels::uts_t1{10}) == 4'130'071);
    CHECK(count(kernels::uts_t3{2000}) == 4'112'897);
  }
}

TEST_CASE("kernels: the picture of the Mandelbrot set is a PPM file", "[kernels]") {
  kernels::mandelbrot k{20};
  k.prepare();
  k.serial();
  k.write_drawing("kernels_test.ppm");
  std::ifstream in{"kernels_test.ppm", std::ios::binary};
  std::string const text{std::istreambuf_iterator<char>{in}, {}};
  std::string const head = "P6\n20 20\n255\n";
  CHECK(text.substr(0, head.size()) == head);
  CHECK(text.size() == head.size() + 20 * 20 * 3);
  CHECK_THROWS_WITH(k.write_drawing("no/such/folder/m.ppm"), "no/such/folder/m.ppm: the file cannot be written");
}
