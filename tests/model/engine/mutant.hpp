// Which seeded bug is switched on. Only generated copies of headers look at it (run_mutants.py), never shipped code.
#pragma once

namespace model {

inline int mutant = 0;

}  // namespace model
