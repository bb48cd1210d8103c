// expect: a callable that cannot be copied was passed by its name
// lines: 15
// As submit_move_only_by_name.
#include <heist/heist.hpp>

#include <memory>
#include <utility>

int main() {
  heist::task_graph g;
  auto f = [n = std::make_unique<int>(1)] { return *n; };
#ifdef HEIST_FIXED
  g.emplace_condition(std::move(f));
#else
  g.emplace_condition(f);
#endif
}
