// At most two downloads at a time: a limiter bounds how many tasks without an order run at a time. A task that waits
// for a permit blocks no worker: the worker runs other tasks.
//
//   download 0 --+
//   ...          +--> report
//   download 9 --+
#include <heist/graph.hpp>

#include <algorithm>
#include <cstdio>
#include <mutex>

int main() {
  heist::executor ex{4};
  heist::task_graph g;
  heist::limiter lines{2};

  std::mutex m;
  int now = 0, most = 0, files = 0;
  auto report = g.emplace([&] { std::printf("%d files, at most 2 at a time: %s\n", files, most <= 2 ? "yes" : "no"); });
  for (int i = 0; i < 10; ++i) {
    auto download = g.emplace([&] {
      {
        std::lock_guard lock{m};
        most = std::max(most, ++now);
      }
      std::lock_guard lock{m};
      --now, ++files;
    });
    download.limit(lines).precede(report);
  }
  ex.run(g).get();
}
