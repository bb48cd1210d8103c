// How often each word occurs: group equal words, then sort the groups by size.
#include <heist/algorithm.hpp>

#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

int main() {
  std::string const text =
      "the thief that finds nothing asks the owner and the owner that is asked forks the half that is left "
      "so the thief finds the half and the owner goes on with the other half";
  std::vector<std::string> words;
  std::istringstream in{text};
  for (std::string w; in >> w;) words.push_back(w);
  heist::executor ex;

  auto groups = heist::group_by(ex, words, [](std::string const& w) { return w; });  // sorted by word
  heist::stable_sort(ex, groups, std::greater{}, [](auto const& g) { return g.elements.size(); });
  for (auto const& g : groups) {
    if (g.elements.size() > 1) std::printf("%2zu %s\n", g.elements.size(), g.key.c_str());
  }
}
