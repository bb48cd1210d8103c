// The number of the seeded bug that is on. Generated copies of headers look at it (run_mutants.py); shipped code
// never does.
#pragma once

namespace model {

inline int mutant = 0;

}  // namespace model
