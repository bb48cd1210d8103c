// Parent-first: three ways to wait, three ways to choose victims.
#include "fuzz/differential/executor_subject.hpp"

namespace heist_fuzz {

using namespace heist::policy;

subject_type random_parent_first() {
  return subject_of<heist::policy::random>("random_parent_first");
}
subject_type sampling_leapfrog() {
  return subject_of<with_join<sampling, heist::join::leapfrog>>("sampling_leapfrog");
}
subject_type victim_set_wait() {
  return subject_of<with_idle<with_join<victim_set, heist::join::spin>, heist::idle::adaptive>>("victim_set_wait");
}
subject_type hierarchical_balanced() {
  return subject_of<with_idle<hierarchical, heist::idle::bws>>("hierarchical_balanced");
}

}  // namespace heist_fuzz
