// Machines from the XML files of hwloc 2 and later (`lstopo machine.xml`). Read here and not by hwloc: of 1,500 files
// with one wrong character hwloc 2.9 crashes on 72 with libxml2, and on 100 without. A check that objects have the sets
// that hwloc expects ends this with libxml2, but not with hwloc's own reader, which loses attributes of malformed
// elements.
#pragma once

#include <string>
#include <string_view>

#include "heist/core/base/config.hpp"
#include "heist/core/topology/machine.hpp"

namespace heist::topology {

/// A machine from the text of an XML file that hwloc wrote. Never this machine, even if it was written on it. Throws
/// topology_error for anything else, and for more than max_described_pus PUs. The environment does not matter.
machine parse_xml(std::string_view xml);

/// The same from a file; the error names it.
machine load_xml(std::string const& path);

namespace detail {

machine parse_xml(std::string_view xml, std::string_view origin);

}  // namespace detail

}  // namespace heist::topology

#if HEIST_HEADER_ONLY
#include "heist/core/topology/xml.ipp"
#endif
