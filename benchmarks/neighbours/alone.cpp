// fib, and nothing else.
#include "fib.hpp"

int main(int argc, char** argv) {
  return neighbours::measure(argc, argv);
}
