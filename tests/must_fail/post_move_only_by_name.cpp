// expect: a callable that cannot be copied was passed by its name
// lines: 15
// As submit_move_only_by_name.
#include <heist/heist.hpp>

#include <memory>
#include <utility>

int main() {
  heist::executor ex{1};
  auto f = [n = std::make_unique<int>(1)] { return *n; };
#ifdef HEIST_FIXED
  ex.post(std::move(f));
#else
  ex.post(f);
#endif
}
