// expect: makes a T of its arguments
// An event that is fulfilled with what its value cannot be made of.
#include <heist/heist.hpp>

#include <string>

int main() {
  heist::task_graph g;
  auto e = g.emplace_event<std::string>();
#ifdef HEIST_FIXED
  e.set_value("text");
#else
  e.set_value(e);
#endif
}
