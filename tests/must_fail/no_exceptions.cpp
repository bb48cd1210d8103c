// expect: heist: needs exceptions
// flags: -fno-exceptions
// HEIST_FIXED: without the flags.
#include "heist/topology.hpp"

int main() {}
