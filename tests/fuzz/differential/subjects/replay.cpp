// Recording and following.
#include "fuzz/differential/executor_subject.hpp"

heist_fuzz::subject_type heist_fuzz::replay() {
  return subject_of<heist::policy::replay>("replay");
}
