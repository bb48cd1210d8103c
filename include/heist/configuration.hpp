// Door: a description of heist in this process. One file of a program that includes this, or the CMake target heist::compiled, makes
// HEIST_DISPLAY_ENV=1 work.
#pragma once

#include "heist/core/scheduler/configuration.hpp"  // configuration_text
