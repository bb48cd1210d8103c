// On Boost.Context.
#include "fuzz/differential/on_boost.hpp"
// After it.
#include "fuzz/differential/executor_subject.hpp"

namespace heist_fuzz {

using namespace heist::policy;

subject_type boost_parent_first() {
  return subject_of<with_idle<heist::policy::random, heist::idle::adaptive>, heist::context>("boost_parent_first");
}
subject_type boost_child_first() {
  return subject_of<with_order<hierarchical, heist::order::child_first>, heist::context>("boost_child_first");
}
subject_type boost_cats() {
  return subject_of<heist::policy::cats, heist::context>("boost_cats");
}
subject_type boost_replay() {
  return subject_of<heist::policy::replay, heist::context>("boost_replay");
}

}  // namespace heist_fuzz
