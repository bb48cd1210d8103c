// Child-first.
#include "fuzz/differential/executor_subject.hpp"

namespace heist_fuzz {

using namespace heist::policy;
using heist::order::child_first;

subject_type random_child_first() {
  return subject_of<with_order<heist::policy::random, child_first>>("random_child_first");
}
subject_type random_always_awake() {
  return subject_of<with_idle<with_order<heist::policy::random, child_first>, heist::idle::spinning>>(
      "random_always_awake");
}
subject_type sampling_victim_set() {
  return subject_of<bundle<heist::victim::sampling_victim_set<>, heist::idle::adaptive, child_first>>(
      "sampling_victim_set");
}

}  // namespace heist_fuzz
