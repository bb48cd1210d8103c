// expect: a stage of a pipeline is called with what the stage before it returns
#include <heist/pipeline.hpp>

#include <string>

int main() {
  heist::pipeline p{2, heist::serial_stage([](heist::token& t) {
                      t.stop();
                      return 1;
                    }),
#ifdef HEIST_FIXED
                    heist::parallel_stage([](int) {})};
#else
                    heist::parallel_stage([](std::string) {})};
#endif
}
