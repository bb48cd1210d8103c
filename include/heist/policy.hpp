// Door: the policy concepts and the policies.
#pragma once

#include "heist/policy/policies.hpp"
