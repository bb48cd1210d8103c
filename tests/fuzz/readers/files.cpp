#include "files.hpp"

#include <algorithm>  // sort
#include <filesystem>
#include <fstream>
#include <iterator>  // istreambuf_iterator
#include <sstream>
#include <stdexcept>  // runtime_error

namespace fuzz {
namespace {

namespace files = std::filesystem;

/// The text in quotes: \\, \" and \x20 are single characters.
std::string unquoted(std::string const& line) {
  auto const bad = [&] { throw std::runtime_error("no line of a dictionary: " + line); };
  auto const begin = line.find('"'), end = line.rfind('"');
  if (begin == end || end + 1 != line.size()) bad();
  std::string word;
  for (auto i = begin + 1; i < end; ++i) {
    if (line[i] != '\\') {
      word += line[i];
    } else if (line[i + 1] == 'x' && i + 3 < end) {
      word += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else if (i + 1 < end && (line[i + 1] == '\\' || line[i + 1] == '"')) {
      word += line[++i];
    } else {
      bad();
    }
  }
  return word;
}

}  // namespace

std::string text_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) throw std::runtime_error("cannot read " + path);
  return text;
}

std::vector<example> examples_of(std::string const& folder, std::string_view target) {
  auto const here = files::path(folder) / "corpus" / target;
  std::vector<example> all;
  if (files::is_directory(here))
    for (auto const& entry : files::directory_iterator(here))
      all.push_back({entry.path().filename().string(), text_of(entry.path().string())});
  if (all.empty()) throw std::runtime_error("no examples in " + here.string() + "; name their folder with --data");
  std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.name < b.name; });
  return all;
}

std::vector<std::string> words_of(std::string const& folder, std::string_view target) {
  auto const path = files::path(folder) / "dictionaries" / (std::string(target) + ".dict");
  std::vector<std::string> words;
  if (!files::exists(path)) return words;
  std::istringstream lines(text_of(path.string()));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') words.push_back(unquoted(line));
  return words;
}

}  // namespace fuzz
