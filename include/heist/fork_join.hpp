// Door: context::fork_join.
#pragma once

#include "heist/fork/fork_join.hpp"
