// Policies with tiers.
#include "fuzz/differential/executor_subject.hpp"

heist_fuzz::subject_type heist_fuzz::cab() {
  return subject_of<heist::policy::cab>("cab");
}
heist_fuzz::subject_type heist_fuzz::cats() {
  return subject_of<heist::policy::with_idle<heist::policy::cats, heist::idle::bws>>("cats");
}
