// One door of heist. The unused variable is on purpose: a warning must stay a warning here.
#include <heist/fork_join.hpp>

#include <cstdio>

int main() {
  int unused_on_purpose;
  heist::executor ex{2};
  int const sum = ex.invoke([](auto context) {
    auto const [a, b] = context.fork_join([] { return 20; }, [] { return 22; });
    return a + b;
  });
  std::printf("sum %d\n", sum);
  return sum == 42 ? 0 : 1;
}
