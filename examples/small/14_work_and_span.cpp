// How parallel is a program? The context measures each strand. Work is the sum of all strands, and span is the longest
// chain. No number of workers gives a speed-up above work / span.
//
//   root --+--> 8 children, equal
#include <heist/heist.hpp>
#include <heist/measure.hpp>

#include <cstdio>

template <class Context>
void tree(Context ctx, int depth) {
  if (depth > 0) {
    ctx.fork_join([=](Context c) { tree(c, depth - 1); }, [=](Context c) { tree(c, depth - 1); });
    return;
  }
  double volatile x = 1;
  for (int i = 0; i < 100'000; ++i) x = x * 1.0000001;
}

int main() {
  heist::executor ex{1};  // work and span do not depend on the workers; one has the least noise
  auto const measured = heist::measure_work_span(ex, [](auto ctx) { tree(ctx, 3); });
  std::printf("tasks %llu, work is more than span: %s\n", static_cast<unsigned long long>(measured.profile.tasks),
              measured.profile.work > measured.profile.span ? "yes" : "no");
}
