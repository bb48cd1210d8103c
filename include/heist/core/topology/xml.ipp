// Bodies of xml.hpp.
#pragma once

#include "heist/core/topology/xml.hpp"

#include <cerrno>    // errno
#include <charconv>  // from_chars
#include <cstddef>   // size_t
#include <cstdint>   // int32_t, uint32_t, uint64_t
#include <cstring>   // strerror
#include <unordered_map>
#include <unordered_set>
#include <utility>  // move
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/topology/read_file.hpp"
#include "heist/core/topology/synthetic.hpp"

namespace heist::topology::detail {

[[noreturn]] HEIST_COLD_BODY void bad_xml(std::string_view origin, std::string_view why) {
  throw topology_error(heist::detail::format_text(
      "{} does not describe a machine: {}; write the file with \"lstopo machine.xml\" (hwloc 2 or later)",
      {origin, why}));
}

/// An <object> of the file: a package, a cache, a PU, ...
struct xml_object {
  std::string_view type;
  std::size_t parent = 0;  ///< index of the object around it; its own for the outermost
  std::uint64_t os_index = 0;
  std::uint64_t bytes = 0;  ///< of a cache or a memory
  std::uint64_t line_bytes = 0;
  bool has_os_index = false;
};

/// A <distances2> of the file.
struct xml_distances {
  std::uint64_t count = 0;
  std::uint64_t kind = 0;
  std::string_view type, indexing;
  std::vector<std::uint64_t> indexes, values;
};

/// Takes the file apart. Elements that heist does not use are only checked for being well formed.
class xml_reader {
 public:
  xml_reader(std::string_view xml, std::string_view origin) : xml_(xml), origin_(origin) {}

  std::vector<xml_object> objects;
  std::vector<xml_distances> distances;

  void read() {
    while (pos_ < xml_.size()) {
      auto const open = xml_.find('<', pos_);
      if (!open_.empty()) text(xml_.substr(pos_, open == std::string_view::npos ? open : open - pos_));
      if (open == std::string_view::npos) break;
      pos_ = open;
      markup();
    }
    if (!open_.empty())
      fail(heist::detail::format_text("<{}> is not closed; is the file cut?", {visible(open_.back().name)}));
    if (!seen_topology_) fail("it has no <topology> element");
    if (version_.empty() || version_[0] < '2' || version_[0] > '9') fail("it is of another version of hwloc");
  }

  [[noreturn]] void fail(std::string_view why) const {
    std::size_t line = 1;
    for (char const c : xml_.substr(0, pos_)) line += c == '\n' ? 1 : 0;
    bad_xml(origin_, heist::detail::format_text("line {}: {}", {line, why}));
  }

 private:
  static constexpr std::size_t deepest = 256;  // real files have about 15 levels
  static constexpr std::size_t no_object = ~std::size_t{0};
  static constexpr std::uint64_t most_nodes = 4096;  // in a matrix of distances

  struct element {
    std::string_view name;
    std::size_t object;  ///< the innermost object at this point, or no_object
  };

  /// A name short enough for a message.
  static std::string_view visible(std::string_view name) noexcept {
    constexpr std::size_t longest = 60;
    return name.substr(0, longest);
  }

  void markup() {
    auto const rest = xml_.substr(pos_);
    if (rest.substr(0, 4) == "<!--") return skip_past("-->");
    if (rest.substr(0, 2) == "<?") return skip_past("?>");
    if (rest.substr(0, 2) == "<!") return skip_past(">");
    if (rest.substr(0, 2) == "</") return close();
    ++pos_;
    auto const name = word();
    static_cast<void>(peek());  // says so if the file is cut here
    if (name.empty()) fail("there is no name after \"<\"");
    if (open_.size() >= deepest) fail("its elements are nested too deeply");
    if (open_.empty()) {
      if (seen_topology_ || name != "topology") fail("it is more than one <topology> element");
      seen_topology_ = true;
    }
    begin(name);
    if (peek() == '/') {
      ++pos_;
      open_.pop_back();
    }
    if (peek() != '>') fail(heist::detail::format_text("<{}> does not end with \">\"", {visible(name)}));
    ++pos_;
  }

  void skip_past(std::string_view end) {
    auto const found = xml_.find(end, pos_);
    if (found == std::string_view::npos) fail("a comment or declaration does not end; is the file cut?");
    pos_ = found + end.size();
  }

  void close() {
    pos_ += 2;
    auto const name = word();
    skip_space();
    if (peek() != '>' || open_.empty() || open_.back().name != name)
      fail(heist::detail::format_text("</{}> does not fit", {visible(name)}));
    ++pos_;
    open_.pop_back();
  }

  /// Reads the attributes of an element and opens it.
  void begin(std::string_view name) {
    auto const around = open_.empty() ? no_object : open_.back().object;
    bool const is_object = name == "object";
    bool const is_distances = name == "distances2";
    if (is_object) objects.push_back({{}, around == no_object ? objects.size() : around, 0, 0, 0, false});
    if (is_distances) distances.emplace_back();
    open_.push_back({name, is_object ? objects.size() - 1 : around});
    for (skip_space(); peek() != '>' && peek() != '/'; skip_space()) {
      auto const key = word();
      skip_space();
      if (key.empty() || peek() != '=')
        fail(heist::detail::format_text("<{}> has an attribute without \"=\"", {visible(name)}));
      ++pos_;
      skip_space();
      auto const value = quoted_value();
      if (name == "topology" && key == "version") version_ = value;
      if (is_object) object_attribute(objects.back(), key, value);
      if (is_distances) distances_attribute(distances.back(), key, value);
    }
  }

  void object_attribute(xml_object& object, std::string_view key, std::string_view value) {
    if (key == "type") object.type = value;
    if (key == "os_index") object.os_index = number(value), object.has_os_index = true;
    if (key == "cache_size" || key == "local_memory") object.bytes = number(value);
    if (key == "cache_linesize") object.line_bytes = number(value);
  }

  void distances_attribute(xml_distances& matrix, std::string_view key, std::string_view value) {
    if (key == "type") matrix.type = value;
    if (key == "indexing") matrix.indexing = value;
    if (key == "kind") matrix.kind = number(value);
    if (key == "nbobjs" && (matrix.count = number(value)) > most_nodes) fail("a matrix of distances is too large");
  }

  /// Text between tags: the numbers of a matrix.
  void text(std::string_view content) {
    if (open_.size() < 2 || open_[open_.size() - 2].name != "distances2") return;
    auto& matrix = distances.back();
    bool const indexes = open_.back().name == "indexes";
    if (!indexes && open_.back().name != "u64values") return;
    auto& numbers = indexes ? matrix.indexes : matrix.values;
    for (std::size_t i = 0; i < content.size();) {
      auto end = i;
      while (end < content.size() && !is_space(content[end])) ++end;
      if (end > i) numbers.push_back(number(content.substr(i, end - i)));
      i = end + 1;
      if (numbers.size() > matrix.count * matrix.count) fail("a matrix of distances has too many numbers");
    }
  }

  std::uint64_t number(std::string_view value) const {
    std::uint64_t n = 0;
    auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (error != std::errc{} || end != value.data() + value.size())
      fail(heist::detail::format_text("{} is no number", {in_quotes(value)}));
    return n;
  }

  char peek() const {
    if (pos_ >= xml_.size()) fail("the file ends inside an element; is it cut?");
    return xml_[pos_];
  }
  void skip_space() noexcept {
    while (pos_ < xml_.size() && is_space(xml_[pos_])) ++pos_;
  }
  std::string_view word() noexcept {
    auto const begin = pos_;
    while (pos_ < xml_.size() && (is_alpha(xml_[pos_]) || is_digit(xml_[pos_]) || xml_[pos_] == '_')) ++pos_;
    return xml_.substr(begin, pos_ - begin);
  }
  std::string_view quoted_value() {
    char const quote = peek();
    if (quote != '"' && quote != '\'') fail("the value of an attribute is not in quotes");
    auto const end = xml_.find(quote, pos_ + 1);
    if (end == std::string_view::npos) fail("the value of an attribute does not end; is the file cut?");
    auto const value = xml_.substr(pos_ + 1, end - pos_ - 1);
    pos_ = end + 1;
    return value;
  }

  std::string_view xml_, origin_;
  std::size_t pos_ = 0;
  std::vector<element> open_;
  bool seen_topology_ = false;
  std::string_view version_;
};

/// Makes plain data of the objects of a file.
class xml_machine {
 public:
  explicit xml_machine(xml_reader const& file) : file_(file), memory_of_(file.objects.size(), none) {}

  machine build() {
    find_histories();
    for (std::size_t i = 0; i < file_.objects.size(); ++i)
      if (file_.objects[i].type == "PU") add(i);
    if (result_.pus.empty()) file_.fail("it has no PUs");
    read_distances();
    return std::move(result_);
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  using numbers = std::unordered_map<std::size_t, std::int32_t>;  ///< object -> dense index, in order of the PUs

  static std::int32_t number_of(numbers& known, std::size_t object) {
    return known.try_emplace(object, static_cast<std::int32_t>(known.size())).first->second;
  }

  /// Objects have the memory that stands in them, through memory-side caches; preferably one that is not empty.
  void find_histories() {
    for (std::size_t i = 0; i < file_.objects.size(); ++i) {
      if (file_.objects[i].type != "NUMANode") continue;
      auto owner = file_.objects[i].parent;
      while (file_.objects[owner].type == "MemCache" && file_.objects[owner].parent != owner)
        owner = file_.objects[owner].parent;
      auto& memory = memory_of_[owner];
      if (memory == none || (file_.objects[memory].bytes == 0 && file_.objects[i].bytes > 0)) memory = i;
    }
  }

  void add(std::size_t index) {
    auto const& object = file_.objects[index];
    constexpr std::uint64_t highest = std::uint64_t{1} << 24;
    if (!object.has_os_index || object.os_index > highest) file_.fail("a PU has no os_index, or an absurd one");
    if (!os_indexes_.insert(object.os_index).second)
      file_.fail(heist::detail::format_text("PU {} occurs twice", {object.os_index}));
    if (result_.pus.size() == max_described_pus)
      file_.fail(heist::detail::format_text("it has more than {} PUs", {max_described_pus}));
    pu p;
    p.os_index = static_cast<std::uint32_t>(object.os_index);
    std::size_t memory = none;
    for (std::size_t i = index;; i = file_.objects[i].parent) {
      auto const& around = file_.objects[i];
      if (around.type == "Core" && p.core < 0) p.core = number_of(cores_, i);
      if (around.type == "L1Cache") note_cache(around, &result_.l1d_bytes);
      if (around.type == "L2Cache" && p.l2 < 0) p.l2 = number_of(l2s_, i), note_cache(around, &result_.l2_bytes);
      if (around.type == "L3Cache" && p.l3 < 0) p.l3 = number_of(l3s_, i), note_cache(around, &result_.l3_bytes);
      if (around.type == "Package" && p.package < 0) p.package = number_of(packages_, i);
      if (memory == none) memory = memory_of_[i];
      if (around.parent == i) break;
    }
    if (p.core < 0) p.core = number_of(cores_, index);
    if (memory != none) p.numa = number_of(numas_, memory);
    result_.pus.push_back(p);
  }

  void note_cache(xml_object const& cache, std::uint64_t* bytes) {
    if (cache.bytes > *bytes) *bytes = cache.bytes;
    if (cache.line_bytes > result_.line_bytes) result_.line_bytes = cache.line_bytes;
  }

  /// Takes the first matrix of latencies that has all our nodes.
  void read_distances() {
    constexpr std::uint64_t means_latency = 4;
    std::unordered_map<std::uint64_t, std::size_t> node_of_os_index;
    for (auto const& [object, index] : numas_)
      node_of_os_index.try_emplace(file_.objects[object].os_index, static_cast<std::size_t>(index));
    auto const n = numas_.size();
    for (auto const& matrix : file_.distances) {
      if (matrix.type != "NUMANode" || matrix.indexing == "gp" || (matrix.kind & means_latency) == 0) continue;
      auto const count = static_cast<std::size_t>(matrix.count);
      if (matrix.indexes.size() != count || matrix.values.size() != count * count)
        file_.fail("a matrix of distances is incomplete");
      if (count < n) continue;  // so n * n is no more than the file has
      std::vector<std::uint64_t> values(n * n);
      std::unordered_set<std::size_t> found;
      for (std::size_t i = 0; i < count * count; ++i) {
        auto const from = node_of_os_index.find(matrix.indexes[i / count]);
        auto const to = node_of_os_index.find(matrix.indexes[i % count]);
        if (from == node_of_os_index.end() || to == node_of_os_index.end()) continue;
        values[from->second * n + to->second] = matrix.values[i];
        found.insert(from->second);
      }
      if (found.size() != n) continue;
      result_.numa_distances = std::move(values);
      return;
    }
  }

  xml_reader const& file_;
  std::vector<std::size_t> memory_of_;
  std::unordered_set<std::uint64_t> os_indexes_;
  numbers cores_, l2s_, l3s_, numas_, packages_;
  machine result_;
};

HEIST_COLD_BODY machine parse_xml(std::string_view xml, std::string_view origin) {
  xml_reader file(xml, origin);
  file.read();
  return xml_machine(file).build();
}

}  // namespace heist::topology::detail

namespace heist::topology {

HEIST_COLD_BODY machine parse_xml(std::string_view xml) {
  return detail::parse_xml(xml, "the XML text");
}

HEIST_COLD_BODY machine load_xml(std::string const& path) {
  constexpr std::size_t longest = std::size_t{1} << 28;
  std::string text;
  if (!detail::read_file(path, longest, text))
    throw topology_error(
        heist::detail::format_text("cannot read the machine description {}: {}; name an XML file that lstopo wrote",
                                   {path, errno != 0 ? std::strerror(errno) : "it is too long"}));
  return detail::parse_xml(text, path);
}

}  // namespace heist::topology
