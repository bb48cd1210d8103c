// A first program with a task.
#include <heist/executor.hpp>

#include <cstdio>

int main() {
  heist::executor ex;
  std::printf("%d\n", ex.submit([] { return 42; }).get());
}
