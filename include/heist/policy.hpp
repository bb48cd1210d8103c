// Door: the policy concepts and the policies.
#pragma once

#include "heist/policy/adaptation.hpp"
#include "heist/policy/policies.hpp"
#include "heist/policy/replay_mode.hpp"
#include "heist/policy/tier_policies.hpp"
