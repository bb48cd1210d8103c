// Lets a program that does not link heist::compiled write what HEIST_TRACE and HEIST_REPORT ask for.
#include "heist/report.hpp"
