// The interface that the fuzzer needs of an executor, for every policy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/differential/case.hpp"
#include "support/program_memory.hpp"

namespace heist_fuzz {

/// An executor that runs cases, one after the other.
class subject {
 public:
  subject() = default;
  subject(subject const&) = delete;
  subject& operator=(subject const&) = delete;
  virtual ~subject() = default;

  /// The next case; both arguments live until end().
  virtual void begin(fuzz_case const& c, heist_test::program_memory& m) = 0;
  /// One round. Its memory is cleared, and it is decided whether it is armed.
  virtual heist_test::program_outcome run(std::uint32_t round, std::uint32_t passes) = 0;
  virtual void end() = 0;

  /// Did the last round follow the tree of the first to the letter? Then each node ran where it had run.
  virtual bool repeated() const = 0;
  virtual std::string state_text() const = 0;
};

struct subject_type {
  char const* name;
  abilities can;
  std::unique_ptr<subject> (*make)(setting const&);
};

// In the folder subjects.
subject_type random_parent_first();
subject_type sampling_leapfrog();
subject_type victim_set_wait();
subject_type hierarchical_balanced();
subject_type random_child_first();
subject_type random_always_awake();
subject_type sampling_victim_set();
subject_type cab();
subject_type cats();
subject_type replay();
subject_type boost_parent_first();
subject_type boost_child_first();
subject_type boost_cats();
subject_type boost_replay();

inline std::vector<subject_type> const& all_subjects() {
  static std::vector<subject_type> const all{random_parent_first(),
                                             sampling_leapfrog(),
                                             victim_set_wait(),
                                             hierarchical_balanced(),
                                             random_child_first(),
                                             random_always_awake(),
                                             sampling_victim_set(),
                                             cab(),
                                             cats(),
                                             replay(),
                                             boost_parent_first(),
                                             boost_child_first(),
                                             boost_cats(),
                                             boost_replay()};
  return all;
}

}  // namespace heist_fuzz
