// heist/tools/observe/page_nodes.hpp: pages are counted once, on their nodes. The tests use a simulated machine of two
// nodes and, as far as possible, this machine.
#include "heist/tools/observe/page_nodes.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/texts.hpp"

using heist::basic_first_touch_check;
using heist::first_touch_check;
using heist::page_nodes;
using heist::pages_of;
using heist_test::has;

namespace {

std::size_t const page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

/// Memory of its own, page by page; `count` may be 0.
class mapped_pages {
 public:
  explicit mapped_pages(std::size_t count)
      : bytes_(count * page_bytes),
        begin_(static_cast<char*>(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    REQUIRE(begin_ != MAP_FAILED);
    ::madvise(begin_, bytes_, MADV_NOHUGEPAGE);  // a system that refuses this has no huge pages
  }
  mapped_pages(mapped_pages const&) = delete;
  mapped_pages& operator=(mapped_pages const&) = delete;
  ~mapped_pages() { ::munmap(begin_, bytes_); }

  char* page(std::size_t i) const { return begin_ + i * page_bytes; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  char* begin_;
};

/// Pages of 100 bytes: page n is on the node that `node_of` says, else not present.
struct paged_system {
  std::map<std::uintptr_t, int> node_of;
  int here = 0;
  int rejects_call = 0;              // error of every call of nodes_of
  int calls_before = 0;              // calls that succeed before it
  std::vector<std::size_t> asked{};  // sizes of the calls
};

struct paged_calls {
  paged_system* system;

  int nodes_of(void* const* pages, int* nodes, std::size_t count) noexcept {
    if (system->rejects_call != 0 && system->calls_before-- == 0) return -system->rejects_call;
    system->asked.push_back(count);
    for (std::size_t i = 0; i != count; ++i) {
      auto const address = reinterpret_cast<std::uintptr_t>(pages[i]);
      if (address % 100 != 0) return -EINVAL;
      auto const at = system->node_of.find(address / 100);
      nodes[i] = at == system->node_of.end() ? -ENOENT : at->second;
    }
    return 0;
  }
  int here() noexcept { return system->here; }
  std::size_t page_bytes() noexcept { return 100; }
};

page_nodes fake_pages(paged_system& system, std::uintptr_t begin, std::size_t bytes) {
  paged_calls calls{&system};
  return heist::detail::pages_of(calls, reinterpret_cast<void const*>(begin), bytes);
}

using fake_check = basic_first_touch_check<paged_calls>;

void touch(fake_check& check, std::uintptr_t begin, std::size_t bytes) {
  check.touched(reinterpret_cast<void const*>(begin), bytes);
}

}  // namespace

TEST_CASE("page_nodes: all pages that hold a byte of the range", "[observe]") {
  paged_system two{{{1, 0}, {2, 1}, {3, 1}, {5, -EFAULT}}};
  CHECK(fake_pages(two, 100, 300) == page_nodes{{1, 2}, 0, 0, ""});
  CHECK(fake_pages(two, 199, 2) == page_nodes{{1, 1}, 0, 0, ""});
  CHECK(fake_pages(two, 199, 1) == page_nodes{{1}, 0, 0, ""});
  CHECK(fake_pages(two, 250, 10) == page_nodes{{0, 1}, 0, 0, ""});
  CHECK(fake_pages(two, 0, 600) == page_nodes{{1, 2}, 2, 1, ""});
  CHECK(fake_pages(two, 150, 0) == page_nodes{});
  CHECK(fake_pages(two, 0, 0) == page_nodes{});
  CHECK(fake_pages(two, 0, 600).pages() == 6);
  CHECK(fake_pages(two, 0, 600).text() == "1 pages on node 0, 2 on node 1, 2 not present, 1 unknown");
  CHECK(fake_pages(two, 400, 200).text() == "1 pages not present, 1 unknown");
}

TEST_CASE("page_nodes: many pages are asked for in parts", "[observe]") {
  paged_system two;
  for (std::uintptr_t n = 0; n != 1000; ++n) two.node_of[n + 7] = n % 3 == 0;
  CHECK(fake_pages(two, 700, 100'000) == page_nodes{{666, 334}, 0, 0, ""});
  std::size_t asked = 0;
  for (auto const n : two.asked) asked += n;
  CHECK(asked == 1000);
  CHECK(two.asked.size() == 16);
}

TEST_CASE("page_nodes: the end of all addresses", "[observe]") {
  constexpr auto last = std::numeric_limits<std::uintptr_t>::max();
  paged_system none;
  CHECK(fake_pages(none, last - 250, 1000).pages() == (last - 1) / 100 - (last - 250) / 100 + 1);
  CHECK(fake_pages(none, last, 1).pages() == (last % 100 != 0));
}

TEST_CASE("page_nodes: what the system refuses is unknown, and said", "[observe]") {
  paged_system two{{{1, 0}, {2, 0}}};
  two.rejects_call = ENOSYS;
  auto found = fake_pages(two, 100, 20'000);
  CHECK(found.pages_on.empty());
  CHECK(found.unknown == 200);
  CHECK(has(found.note, "move_pages was refused ("));
  CHECK(has(found.note, "fix it by a kernel with CONFIG_NUMA"));
  CHECK(has(found.text(), "200 unknown (move_pages was refused"));

  two.rejects_call = EPERM;
  two.calls_before = 1;
  found = fake_pages(two, 100, 20'000);
  CHECK(found.pages_on == std::vector<std::size_t>{2});
  CHECK(found.not_present == 62);
  CHECK(found.unknown == 136);
  CHECK(has(found.note, "seccomp profile"));

  two.rejects_call = EIO;
  two.calls_before = 0;
  CHECK(has(fake_pages(two, 100, 1).note, "for a reason that is not known here; fix it"));
}

TEST_CASE("page_nodes: pages of this machine that were written to are on a node", "[observe]") {
  mapped_pages const memory{200};
  for (std::size_t i = 0; i != 200; i += 2) *memory.page(i) = 1;
  auto const found = pages_of(memory.page(0), memory.bytes());
  CHECK(found.pages() == 200);
  if (!found.note.empty()) {  // no NUMA here, or a sandbox
    WARN(found.note);
    CHECK(found.unknown == 200);
    return;
  }
  CHECK(found.unknown == 0);
  CHECK(found.not_present == 100);  // mapped only
  std::size_t present = 0;
  for (auto const n : found.pages_on) present += n;
  CHECK(present == 100);
  if (::access("/sys/devices/system/node/node1", F_OK) != 0) CHECK(found.pages_on == std::vector<std::size_t>{100});

  CHECK(pages_of(memory.page(2) + 5, 1).not_present == 0);
  CHECK(pages_of(memory.page(3) + 5, 1).not_present == 1);
  CHECK(pages_of(memory.page(2) - 1, 2).pages() == 2);
}

TEST_CASE("page_nodes: addresses where nothing is are unknown", "[observe]") {
  CHECK(pages_of(nullptr, 3 * page_bytes).unknown == 3);
  CHECK(pages_of(reinterpret_cast<void const*>(std::numeric_limits<std::uintptr_t>::max() - page_bytes), 1).unknown ==
        1);
  void* gone = nullptr;
  {
    mapped_pages const memory{3};
    *memory.page(0) = 1;
    gone = memory.page(0);
  }
  CHECK(pages_of(gone, 3 * page_bytes).unknown == 3);
}

TEST_CASE("first_touch_check: compares each page with the thread's node", "[observe]") {
  paged_system two;
  for (std::uintptr_t n = 0; n != 20; ++n) two.node_of[n] = n >= 10;
  fake_check check{paged_calls{&two}};
  CHECK(has(check.text(), "No page"));
  touch(check, 0, 900);
  CHECK(check.right() == 9);
  CHECK(
      has(check.text(), "9 of 9 pages (100.0 %) are on the node of the thread that wrote to them first, 0 on another"));
  CHECK(has(check.text(), "only one node was seen, so this says little."));
  two.here = 1;
  touch(check, 900, 1100);
  CHECK(check.right() == 19);
  CHECK(check.wrong() == 1);
  touch(check, 2000, 500);  // nowhere
  CHECK(check.unknown() == 5);
  CHECK(check.text() ==
        "19 of 25 pages (76.0 %) are on the node of the thread that wrote to them first, 1 on another, of 5 it is "
        "unknown.");
}

TEST_CASE("first_touch_check: a page counts once, for the leaf in whose range it begins", "[observe]") {
  for (std::size_t const leaf : {1, 7, 99, 100, 101, 250, 1000, 6400, 20'000}) {
    CAPTURE(leaf);
    paged_system one;
    for (std::uintptr_t n = 0; n != 300; ++n) one.node_of[n] = 0;
    fake_check check{paged_calls{&one}};
    std::uintptr_t const begin = 150, end = 20'150;
    for (std::uintptr_t at = begin; at < end; at += leaf) touch(check, at, std::min<std::size_t>(leaf, end - at));
    CHECK(check.right() == 200);
    CHECK(check.wrong() + check.unknown() == 0);
  }
  paged_system one;
  fake_check check{paged_calls{&one}};
  touch(check, 100, 0);
  touch(check, 150, 0);
  touch(check, std::numeric_limits<std::uintptr_t>::max(), 100);
  CHECK(check.right() + check.wrong() + check.unknown() == 0);
  CHECK(one.asked.empty());
}

TEST_CASE("first_touch_check: refusals are said", "[observe]") {
  paged_system two{{{1, 0}, {2, 0}}};
  two.here = -ENOSYS;
  fake_check no_cpu{paged_calls{&two}};
  touch(no_cpu, 100, 200);
  CHECK(no_cpu.unknown() == 2);
  CHECK(has(no_cpu.text(), "of 2 it is unknown; getcpu was refused ("));

  two.here = 0;
  two.rejects_call = EPERM;
  fake_check no_pages{paged_calls{&two}};
  touch(no_pages, 100, 200);
  CHECK(no_pages.unknown() == 2);
  CHECK(has(no_pages.text(), "0 of 2 pages (0.0 %)"));
  CHECK(has(no_pages.text(), "; move_pages was refused ("));
  CHECK_FALSE(has(no_pages.text(), "one node"));
}

TEST_CASE("first_touch_check: threads of this machine", "[observe]") {
  mapped_pages const memory{400};
  first_touch_check check;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t != 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t leaf = 0; leaf != 10; ++leaf) {
        char* const begin = memory.page(100 * t + 10 * leaf);
        std::memset(begin, 1, 10 * page_bytes);
        check.touched(begin, 10 * page_bytes);
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(check.right() + check.wrong() + check.unknown() == 400);
  if (has(check.text(), "refused")) {
    WARN(check.text());
  } else {
    CHECK(check.unknown() == 0);
    if (::access("/sys/devices/system/node/node1", F_OK) != 0) CHECK(check.right() == 400);
  }
}
