// heist/core/topology/xml.hpp: machines from hwloc's XML files.
#include "heist/core/topology/xml.hpp"
#include "heist/core/topology/hwloc_machine.hpp"

#include <unistd.h>  // write, close

#include <cstdint>
#include <cstdio>   // remove
#include <cstdlib>  // mkstemp
#include <random>
#include <string>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/core/topology/discover.hpp"
#include "support/catch.hpp"

namespace {

namespace topology = heist::topology;

struct exported {
  std::string xml;
  topology::machine by_hwloc;
};

/// A machine as hwloc writes it, only with the PUs in `mask`, and as hwloc reads it back.
exported export_xml(char const* description, char const* mask = nullptr) {
  exported result;
  topology::detail::hwloc_handle const hwloc;
  REQUIRE(hwloc);
  if (description != nullptr) REQUIRE(hwloc_topology_set_synthetic(hwloc.get(), description) == 0);
  REQUIRE(hwloc_topology_load(hwloc.get()) == 0);
  if (mask != nullptr) {
    topology::detail::bitmap_handle const keep;
    REQUIRE(hwloc_bitmap_sscanf(keep.get(), mask) == 0);
    REQUIRE(hwloc_topology_restrict(hwloc.get(), keep.get(), 0) == 0);
  }
  char* text = nullptr;
  int size = 0;
  REQUIRE(hwloc_topology_export_xmlbuffer(hwloc.get(), &text, &size, 0) == 0);
  result.xml = text;
  hwloc_free_xmlbuffer(hwloc.get(), text);
  result.by_hwloc = topology::detail::machine_builder(hwloc.get()).build();
  return result;
}

std::string why_not_xml(std::string const& xml) {
  try {
    topology::parse_xml(xml);
  } catch (heist::topology_error const& e) {
    return e.what();
  }
  return "";
}

std::string with(std::string const& distances) {
  return R"(<?xml version="1.0"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0">
    <info name="Backend" value="Linux &lt;x&gt;"/>
    <object type="Package" os_index="0">
      <object type="NUMANode" os_index="4" local_memory="0"/>
      <object type="MemCache" cache_size="100"><object type="NUMANode" os_index="2" local_memory="5"/></object>
      <object type="L2Cache" cache_size="2097152" cache_linesize="64">
        <object type="Core" os_index="0"><object type="PU" os_index="7"/><object type="PU" os_index="3"/></object>
      </object>
      <object type="L2Cache" cache_size="4194304" cache_linesize="64">
        <object type="Core" os_index="1"><object type="PU" os_index="1"/></object>
        <object type="Core" os_index="2"><object type="PU" os_index="2"/></object>
      </object>
    </object>
    <object type="Package" os_index="1">
      <object type="NUMANode" os_index="3" local_memory="0"/>
      <object type="PU" os_index="9"/>
    </object>
  </object>
)" + distances +
         "</topology>\n";
}

}  // namespace

TEST_CASE("xml_agrees_with_hwloc") {
  for (auto const* description :
       {"package:2 l3:1 core:4 pu:2", "pack:2 [numa] l3:2 l2:2 core:2 pu:2", "numa:4 core:3 pu:1", "2 2 4 2", "pu:3"}) {
    for (auto const* mask : {static_cast<char const*>(nullptr), "0x3", "0x5", "0xd6"}) {
      if (mask != nullptr && std::string(description) == "pu:3") continue;
      INFO(description << " " << (mask != nullptr ? mask : "all"));
      auto const e = export_xml(description, mask);
      CHECK(topology::parse_xml(e.xml) == e.by_hwloc);
    }
  }
  auto const real = export_xml(nullptr);
  CHECK(topology::parse_xml(real.xml) == real.by_hwloc);
  CHECK_FALSE(topology::parse_xml(real.xml).is_this_machine);
}

TEST_CASE("xml_of_an_asymmetric_machine") {
  auto const m = topology::parse_xml(with(""));
  REQUIRE(m.pu_count() == 5);
  CHECK(m.pus[0] == topology::pu{7, 0, 0, -1, 0, 0});
  CHECK(m.pus[1] == topology::pu{3, 0, 0, -1, 0, 0});
  CHECK(m.pus[2] == topology::pu{1, 1, 1, -1, 0, 0});
  CHECK(m.pus[3] == topology::pu{2, 2, 1, -1, 0, 0});
  CHECK(m.pus[4] == topology::pu{9, 3, -1, -1, 1, 1});  // no core, no cache, memory without bytes
  CHECK(m.l2_bytes == 4u << 20);
  CHECK(m.line_bytes == 64);
  CHECK(m.l3_count() == 0);
}

TEST_CASE("xml_distances_are_in_the_order_of_our_nodes") {
  auto const m = topology::parse_xml(with(R"(
  <distances2 type="PU" nbobjs="1" kind="5" indexing="os"><indexes length="2">7 </indexes></distances2>
  <distances2 type="NUMANode" nbobjs="3" kind="9" indexing="os"></distances2>
  <distances2 type="NUMANode" nbobjs="3" kind="5" name="NUMALatency" indexing="os">
    <indexes length="4">3 4 2 </indexes>
    <u64values length="9">10 0 32 0 10 0 </u64values><u64values length="9">31 0 11 </u64values>
  </distances2>)"));
  CHECK(m.numa_distances == std::vector<std::uint64_t>{11, 31, 32, 10});
  CHECK(topology::parse_xml(with(R"(<distances2 type="NUMANode" nbobjs="1" kind="5" indexing="os">
    <indexes>2</indexes><u64values>10</u64values></distances2>)"))
            .numa_distances.empty());
}

TEST_CASE("xml_errors_name_line_and_reason") {
  auto const good = export_xml("package:2 core:2 pu:1").xml;
  auto const changed = [&](std::string const& from, std::string const& to) {
    auto text = good;
    auto const at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  CHECK(why_not_xml("").find("no <topology> element") != std::string::npos);
  CHECK(why_not_xml("hello").find("no <topology> element") != std::string::npos);
  CHECK(why_not_xml("<html></html>").find("<topology>") != std::string::npos);
  CHECK(why_not_xml("<topology version=\"2.0\"></topology>").find("no PUs") != std::string::npos);
  CHECK(why_not_xml("<topology></topology>").find("version") != std::string::npos);
  for (auto length = good.find("<topology") + 1; length < good.find("</topology>") + 11; ++length) {
    INFO(good.substr(0, length));
    REQUIRE(why_not_xml(good.substr(0, length)).find("cut?") != std::string::npos);
  }
  CHECK(why_not_xml(good + good).find("more than one") != std::string::npos);
  CHECK(why_not_xml(changed("type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"0\"")).find("PU 0 occurs twice") !=
        std::string::npos);
  CHECK(why_not_xml(changed("type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"-1\"")).find("\"-1\" is no number") !=
        std::string::npos);
  CHECK(why_not_xml(changed("type=\"PU\" os_index=\"1\"", "type=\"PU\"")).find("no os_index") != std::string::npos);
  CHECK(why_not_xml(changed("</topology>", "")).find("not closed") != std::string::npos);
  CHECK(why_not_xml(changed("</object>", "</objekt>")).find("</objekt> does not fit") != std::string::npos);
  CHECK(why_not_xml(with("<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\"/>")).find("line ") !=
        std::string::npos);
  CHECK(why_not_xml(with("<distances2 nbobjs=\"99999999\"/>")).find("too large") != std::string::npos);
  std::string deep = "<topology version=\"2.0\">";
  for (int i = 0; i < 100000; ++i) deep += "<object type=\"Group\">";
  CHECK(why_not_xml(deep).find("too deeply") != std::string::npos);
}

TEST_CASE("load_xml_names_the_file") {
  auto const message = [](std::string const& path) {
    try {
      topology::load_xml(path);
    } catch (heist::topology_error const& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(message("/no/such/file.xml").find("/no/such/file.xml: No such file") != std::string::npos);
  CHECK(message("/").find("Is a directory") != std::string::npos);
  CHECK(message("/proc/self/status").find("/proc/self/status does not describe a machine") != std::string::npos);
  char path[] = "/tmp/heist_xml_XXXXXX";
  int const fd = ::mkstemp(path);
  REQUIRE(fd >= 0);
  auto const e = export_xml("package:2 l3:1 core:2 pu:1");
  CHECK(::write(fd, e.xml.data(), e.xml.size()) == static_cast<ssize_t>(e.xml.size()));
  ::close(fd);
  CHECK(topology::load_xml(path) == e.by_hwloc);
  std::remove(path);
}

TEST_CASE("xml_survives_garbage") {
  std::mt19937 random(11);
  auto const seed = export_xml("pack:2 [numa] l3:1 core:2 pu:2").xml;
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    auto text = seed;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      auto const at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 60);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 300));
          break;
        default:
          text[at] = "<>/\"= 90"[random() % 8];
          break;
      }
    }
    try {
      auto const m = topology::parse_xml(text);
      ++read;
      if (m.pu_count() == 0 || m.is_this_machine) FAIL(text);
    } catch (heist::topology_error const&) {
    }
  }
  CHECK(read > 0);
}

TEST_CASE("xml_distances_of_few_nodes_cost_nothing_for_many_nodes") {
  constexpr int nodes = 40'000;  // a matrix of all of them would have 12.8 GB
  std::string xml = "<topology version=\"2.0\"><object type=\"Machine\">\n";
  for (int i = 0; i < nodes; ++i) {
    auto const number = std::to_string(i);
    xml += "<object type=\"Group\"><object type=\"NUMANode\" os_index=\"" + number +
           "\"/><object type=\"PU\" os_index=\"" + number + "\"/></object>\n";
  }
  xml +=
      "</object><distances2 type=\"NUMANode\" nbobjs=\"1\" kind=\"5\" indexing=\"os\"><indexes>0</indexes>"
      "<u64values>10</u64values></distances2></topology>";
  auto const m = topology::parse_xml(xml);
  CHECK(m.numa_count() == nodes);
  CHECK(m.numa_distances.empty());
}

TEST_CASE("xml_names_are_shortened_in_messages") {
  std::string const name(100'000, 'n');
  for (auto const& xml : {"<topology version=\"2.0\"><" + name + ">", "<topology version=\"2.0\"></" + name + ">",
                          "<topology version=\"2.0\"><" + name + " x>", "<topology version=\"2.0\"><" + name + "/ "})
    CHECK((why_not_xml(xml).size() > 20 && why_not_xml(xml).size() < 400));
}
