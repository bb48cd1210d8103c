// Bodies of broken_promise.hpp.
#pragma once

#include "heist/tools/simulate/broken_promise.hpp"

#include "heist/tools/simulate/fail.hpp"

namespace heist::sim::detail {

HEIST_COLD_BODY std::string names_no_worker(std::uint32_t named, std::uint32_t workers) {
  return fmt::format("names worker {} of {}; fix its next() to stay below the number of workers that it is told (V1)",
                     named, workers);
}

HEIST_COLD_BODY std::string neglects_worker(std::uint32_t neglected, std::uint64_t attempts, std::uint32_t thief) {
  return fmt::format(
      "never names worker {}, which has work, in {} attempts of worker {}; fix its next() so that it names every "
      "worker "
      "from time to time, its own number too (V2)",
      neglected, attempts, thief);
}

HEIST_COLD_BODY void reject_endless_sleep(ticks now) {
  fail(
      "after {} ticks all workers sleep although tasks have not run: the idle policy lets work wait for ever; fix it "
      "by "
      "keeps_a_thief or wakes_on_push",
      now);
}

}  // namespace heist::sim::detail
