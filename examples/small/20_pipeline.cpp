// A pipeline: it reads lines in order, counts their words in parallel, and writes the counts in order. At most four
// lines are in the pipeline at a time, so memory is bounded for any length of input.
#include <heist/pipeline.hpp>

#include <cstdio>
#include <sstream>
#include <string>
#include <utility>

int main() {
  std::istringstream text{"one\ntwo words\n\nthree words here\nthe end"};
  heist::executor ex;
  int all = 0;
  heist::pipeline p{4,  //
                    heist::serial_stage([&](heist::token& t) {
                      std::string line;
                      if (!std::getline(text, line)) t.stop();  // end of input: this token carries no line
                      return line;
                    }),
                    heist::parallel_stage([](std::string line) {
                      std::istringstream words{line};
                      int n = 0;
                      for (std::string word; words >> word;) ++n;
                      return std::pair{std::move(line), n};
                    }),
                    heist::serial_stage([&](std::pair<std::string, int> counted) {
                      std::printf("%d: %s\n", counted.second, counted.first.c_str());
                      all += counted.second;
                    })};
  ex.run(p).get();
  std::printf("%d words\n", all);
}
