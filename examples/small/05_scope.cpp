// Any number of children: join() waits for all children of a scope. This is a parallel loop written by hand.
//
//   main --+--> rows 0..9
//          +--> rows 10..19
//          +--> ...
#include <heist/fork_join.hpp>

#include <cstdio>
#include <vector>

int main() {
  int const size = 100;
  std::vector<std::vector<int>> table(size, std::vector<int>(size));
  heist::executor ex;

  ex.invoke([&](auto ctx) {
    heist::scope rows{ctx};
    for (int first = 0; first < size; first += 10) {
      rows.fork([&, first] {
        for (int r = first; r < first + 10; ++r)
          for (int c = 0; c < size; ++c) table[r][c] = r * c;
      });
    }
    rows.join();  // the destructor joins as well; both rethrow the exception of a child
    std::printf("the last of the table is %d\n", table[size - 1][size - 1]);
  });
}
