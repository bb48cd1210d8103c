// expect: the first stage of a pipeline says when there are no more tokens, so it is serial
#include <heist/pipeline.hpp>

int main() {
#ifdef HEIST_FIXED
  heist::pipeline p{2, heist::serial_stage([](heist::token& t) { t.stop(); })};
#else
  heist::pipeline p{2, heist::parallel_stage([](heist::token& t) { t.stop(); })};
#endif
}
