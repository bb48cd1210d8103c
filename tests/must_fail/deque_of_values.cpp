// expect: a deque holds small trivial handles
// A thief reads a slot before it knows that it has won.
#include <string>

#include "heist/core/sync/work_deque.hpp"

int main() {
#ifdef HEIST_FIXED
  heist::detail::work_deque<std::string*> deque;
#else
  heist::detail::work_deque<std::string> deque;
#endif
}
