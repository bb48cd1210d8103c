// expect: takes the context of another kind of executor
// lines: 15
// A task of a graph that takes the context of child-first executors: a graph runs on any.
#include <heist/heist.hpp>

using child_first = heist::policy::with_order<heist::policy::random, heist::order::child_first>;

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  g.emplace([](heist::context) {});
#else
  g.emplace([](heist::executor<child_first>::context_type) {});
#endif
}
