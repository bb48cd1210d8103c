// Door: the policy concepts and the policies.
#pragma once

#include "heist/core/policy/policies.hpp"
#include "heist/locality/policy/adaptation.hpp"
#include "heist/locality/policy/replay_mode.hpp"
#include "heist/locality/policy/tier_policies.hpp"
