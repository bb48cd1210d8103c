// A graph whose tasks spell the order in which one worker runs them.
#pragma once

#include <chrono>
#include <string>

#include "heist/executor.hpp"
#include "heist/graph.hpp"
#include "support/watchdog.hpp"

namespace heist_test {

/// The tasks of one worker, in the order in which they run; each task adds its letter.
struct spelled {
  heist::executor<> ex{1};
  watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  std::string text;

  heist::task<> letter(char c, int how = 0) {
    return g.emplace([this, c] { text += c; }).priority(heist::priority(how));
  }
  std::string run() {
    text.clear();
    ex.run(g).get();
    return text;
  }
};

}  // namespace heist_test
