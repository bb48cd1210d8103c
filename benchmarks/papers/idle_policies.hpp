// The compared idle policies, with the adaptive paper's names for them.
#pragma once

#include <heist/policy.hpp>

#include <string>
#include <vector>

namespace papers {

/// Calls f.operator()<Idle>(name) for each policy.
template <class F>
void for_each_idle_policy(F&& f) {
  f.template operator()<heist::idle::spinning>("spinning (ABP)");
  f.template operator()<heist::idle::bws>("balanced (MBWS)");
  f.template operator()<heist::idle::adaptive>("adaptive (theirs)");
  f.template operator()<heist::idle::standard>("standard (ours)");
}

inline std::vector<std::string> idle_policy_names() {
  std::vector<std::string> names;
  for_each_idle_policy([&]<class Idle>(std::string const& name) { names.push_back(name); });
  return names;
}

}  // namespace papers
